//! Which calls a thread of the program makes, by a run under `strace`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use crate::Outcome;

/// How long a run may take before it counts as hung: a disk that hangs holds its end up for 2 seconds.
const RUN_MAX: Duration = Duration::from_mins(1);

/// Whose calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// The thread that starts the recorder and calls tasks.
    Main,
    /// The thread that writes.
    Drain,
}

/// Of each call that the thread makes, the numbers, from 1, of those that are the recorder's doing.
pub(super) fn trace(
    host: &Path,
    folder: &Path,
    who: Who,
) -> Outcome<BTreeMap<String, RangeInclusive<usize>>> {
    let out = folder.join("trace");
    run(host, folder, who, &[])?;
    let text = fs::read_to_string(out)?;
    let calls: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('(')?.0)).collect();
    // What comes before belongs to the loader and to the language's own start.
    let first = if who == Who::Main { calls.iter().position(|call| *call == "getcwd") } else { Some(0) };
    let (before, ours) = calls.split_at(first.ok_or("the recorder does not start")?);
    let mut numbers = BTreeMap::new();
    for call in ours {
        let count = |calls: &[&str]| calls.iter().filter(|other| *other == call).count();
        let first = count(before) + 1;
        numbers.entry((*call).to_owned()).or_insert_with(|| first..=first - 1 + count(ours));
    }
    Ok(numbers)
}

/// What a run left.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

/// The program in this folder.
pub(super) fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("TELEMETRY_STORE__DURABILITY", "power");
    command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data");
    command.env("TELEMETRY_JOURNAL__LANE_BYTES", "65536");
    command.env("TELEMETRY_JOURNAL__DRAIN_INTERVAL_MS", "5").env("RUST_BACKTRACE", "0");
    command
}

/// Runs the program with its calls written to `folder/trace`, and `inject` done to them.
pub(super) fn run(host: &Path, folder: &Path, who: Who, inject: &[String]) -> Outcome<Output> {
    let out = folder.join("trace");
    match who {
        Who::Main => {
            let mut strace = command("strace", folder);
            strace.arg("-o").arg(out).args(inject).arg(host).arg("work");
            finish(strace.spawn()?, Vec::new(), None)
        }
        Who::Drain => {
            let mut program = command(&host.to_string_lossy(), folder).args(["work", "--wait"]).spawn()?;
            let mut line = [0; 6];
            program.stdout.as_mut().ok_or("a pipe")?.read_exact(&mut line)?;
            let mut strace = attach(&out, &drain_of(program.id())?, inject)?;
            // It may be dead by now, by a kill in a call that its drain makes while it waits.
            let _ = program.stdin.as_mut().ok_or("a pipe")?.write_all(b"\n");
            let output = finish(program, line.to_vec(), Some(&mut strace))?;
            end_tracer(&mut strace)?;
            Ok(output)
        }
    }
}

/// The thread that writes; it gives itself its name, a moment after it was started.
fn drain_of(process: u32) -> Outcome<String> {
    for _ in 0..1_000 {
        for entry in fs::read_dir(format!("/proc/{process}/task"))? {
            let path = entry?.path();
            if fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim_end() == "telemetry-drain") {
                return Ok(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err("there is no thread that writes".into())
}

fn attach(out: &Path, thread: &str, inject: &[String]) -> Outcome<Child> {
    let mut strace = Command::new("strace");
    strace.arg("-o").arg(out).args(inject).args(["-p", thread]);
    let mut strace = strace.stderr(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(strace.stderr.as_mut().ok_or("a pipe")?).read_line(&mut line)?;
    if line.contains("attached") { Ok(strace) } else { Err(format!("strace says {line}").into()) }
}

/// A tracer ends with what it traces; one that holds a call up is asked to let go, and writes down which call it was.
fn end_tracer(strace: &mut Child) -> Outcome {
    if !ends_soon(strace)? {
        signal::kill(Pid::from_raw(i32::try_from(strace.id())?), Signal::SIGTERM)?;
    }
    if !ends_soon(strace)? {
        strace.kill()?;
        strace.wait()?;
    }
    Ok(())
}

fn ends_soon(strace: &mut Child) -> Outcome<bool> {
    let end = Instant::now() + Duration::from_millis(500);
    while strace.try_wait()?.is_none() && Instant::now() < end {
        thread::sleep(Duration::from_millis(2));
    }
    Ok(strace.try_wait()?.is_some())
}

/// Whether the first thread of a process has ended, and with it the program.
fn has_ended(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

/// Waits for the end of a program that must not hang. One that has ended while its tracer holds a thread of it up is let
/// go.
pub(super) fn finish(
    mut program: Child,
    mut stdout: Vec<u8>,
    mut tracer: Option<&mut Child>,
) -> Outcome<Output> {
    let mut pipe = program.stdout.take().ok_or("a pipe")?;
    let reader = thread::spawn(move || {
        pipe.read_to_end(&mut stdout)?;
        std::io::Result::Ok(stdout)
    });
    let mut pipe = program.stderr.take().ok_or("a pipe")?;
    let complaints = thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).map(|_| text)
    });
    let end = Instant::now() + RUN_MAX;
    let status = loop {
        if let Some(status) = program.try_wait()? {
            break status;
        }
        if Instant::now() > end {
            program.kill()?;
            return Err("the program hangs".into());
        }
        if let Some(tracer) = tracer.take_if(|_| has_ended(program.id())) {
            end_tracer(tracer)?;
        }
        thread::sleep(Duration::from_millis(2));
    };
    let stdout = reader.join().map_err(|_| "the reader panicked")??;
    let stderr = complaints.join().map_err(|_| "the reader panicked")??;
    Ok(Output { status, stdout, stderr })
}
