//! The campaign `ends`: a process ends in every way that there is, with a recorder as without one.
//!
//! What it prints, its exit code or the signal that ended it, and its signal masks must be the same, and everything that
//! it recorded must be there after a recovery. The long form does the same with a build that aborts on panics.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use serde_json::json;

use super::options::Options;
use super::recovery::recover;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::{build_program, cargo, target_folder};
use crate::terminal::say;

const RUNS: usize = 20;
const TASKS: &str = "240";
/// A run that takes longer hangs.
const RUN_MAX: Duration = Duration::from_mins(1);
/// What a program that is to run out of memory may use.
const MEMORY_BYTES: u64 = 200 << 20;
const CGROUP: &str = "/sys/fs/cgroup/memory/telemetry-torture";

/// How it ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// By itself, in the way that it is told.
    Itself(&'static str),
    /// By a signal, while it waits.
    Signal(&'static str),
    /// By the kernel, which has no memory for it.
    OutOfMemory,
}

const ENDS: &[End] = &[
    End::Itself("exit"),
    End::Itself("return"),
    End::Itself("panic"),
    End::Itself("abort"),
    End::Itself("overflow"),
    End::Itself("threads"),
    End::Signal("TERM"),
    End::Signal("INT"),
    End::Signal("HUP"),
    End::Signal("QUIT"),
    End::Signal("KILL"),
    End::OutOfMemory,
];

/// What others see of a run.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    stdout: Vec<u8>,
    code: Option<i32>,
    signal: Option<i32>,
    /// The signals that it blocks, ignores and catches, while it waits.
    masks: Vec<String>,
}

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let runs = options.cases.unwrap_or(if options.is_short { 1 } else { RUNS });
    let mut builds = vec![("unwind", build_program("telemetry-torture-host")?)];
    if !options.is_short {
        builds.push(("abort", build_that_aborts()?));
    }
    let folder = empty_folder("ends")?;
    let has_cgroup = fs::create_dir_all(CGROUP)
        .and_then(|()| fs::write(format!("{CGROUP}/memory.limit_in_bytes"), MEMORY_BYTES.to_string()));
    if has_cgroup.is_err() {
        say("torture ends: out of memory is skipped, since this process may not make a control group");
    }
    say(&format!("torture ends: {} ends × {runs} runs × {} builds", ENDS.len(), builds.len()));
    let begun = Instant::now();
    let mut done = 0;
    for ((build, host), end) in builds.iter().flat_map(|build| ENDS.iter().map(move |end| (build, end))) {
        if matches!(end, End::OutOfMemory) && has_cgroup.is_err() {
            continue;
        }
        for _ in 0..runs {
            check(host, &folder, *end).map_err(|error| format!("{end:?}, panic={build}: {error}"))?;
            done += 1;
        }
    }
    let _ = fs::remove_dir(CGROUP);
    let figures = json!({
        "campaign": "ends",
        "runs": done,
        "ends": ENDS.iter().map(|end| format!("{end:?}")).collect::<Vec<_>>(),
        "builds": builds.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        "lost": 0,
        "seconds": begun.elapsed().as_secs(),
    });
    let path = write_figures("ends", &figures)?;
    say(&format!(
        "torture ends: {done} runs ended as without a recorder, 0 tasks lost; figures in {}",
        path.display()
    ));
    fs::remove_dir_all(folder)?;
    Ok(())
}

/// The program with `panic = "abort"`, in a target folder of its own.
fn build_that_aborts() -> Outcome<PathBuf> {
    let folder = target_folder()?.join("abort");
    let mut build = cargo();
    build.args(["build", "--release", "--package", "telemetry-torture-host", "--target-dir"]).arg(&folder);
    let status = build.env("CARGO_PROFILE_RELEASE_PANIC", "abort").status()?;
    if !status.success() {
        return Err("it does not build with panic=abort".into());
    }
    Ok(folder.join("release/telemetry-torture-host"))
}

/// Runs it with and without a recorder and compares.
fn check(host: &Path, folder: &Path, end: End) -> Outcome {
    let place = folder.join("run");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let bare = end.run(host, &place, false)?;
    let seen = end.run(host, &place, true)?;
    if seen != bare {
        return Err(format!("with a recorder {seen:?}, without one {bare:?}").into());
    }
    recover(host, &place)?;
    // Threads that go on may call a task that was called before.
    let query = "select count(distinct used ->> 'number') from tasks where status = 'FINISHED';
        select sum(offered - persisted - torn - dropped_stopped) from health; pragma integrity_check";
    let output =
        Command::new("sqlite3").arg("-readonly").arg(place.join("provenance.db")).arg(query).output()?;
    let answer = String::from_utf8(output.stdout)?;
    if answer != format!("{TASKS}\n0\nok\n") {
        return Err(format!("the database says {answer}; the evidence is in {}", place.display()).into());
    }
    Ok(())
}

impl End {
    fn run(self, host: &Path, place: &Path, is_recorded: bool) -> Outcome<Seen> {
        let how = match self {
            Self::Itself(how) => how,
            Self::Signal(_) => "wait",
            Self::OutOfMemory => "fill",
        };
        // Signals that are ignored where the campaign was started would stay so.
        let mut command = Command::new("env");
        command.arg("--default-signal");
        if matches!(self, Self::OutOfMemory) {
            command.args(["sh", "-c", &format!("echo $$ > {CGROUP}/cgroup.procs && exec \"$0\" \"$@\"")]);
        }
        command.arg(host);
        command.args(["work", "--end", how]).current_dir(place);
        command.env("TELEMETRY_STORE__PATH", place.join("provenance.db"));
        command.env("TELEMETRY_INSTRUMENTATION__ENABLED", is_recorded.to_string());
        command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data").env("RUST_BACKTRACE", "0");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut pipe = child.stdout.take().ok_or("a pipe")?;
        let mut stdout = Vec::new();
        let mut masks = Vec::new();
        if let Self::Signal(name) = self {
            read_until(&mut pipe, &mut stdout, b"done\n")?;
            masks = signal_masks(child.id())?;
            Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status()?;
        }
        let reader = thread::spawn(move || pipe.read_to_end(&mut stdout).map(|_| stdout));
        let deadline = Instant::now() + RUN_MAX;
        while child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                child.kill()?;
                return Err("the program hangs".into());
            }
            thread::sleep(Duration::from_millis(2));
        }
        let status = child.wait()?;
        let stdout = reader.join().map_err(|_| "the reader panicked")??;
        Ok(Seen { stdout, code: status.code(), signal: status.signal(), masks })
    }
}

fn read_until(pipe: &mut impl Read, text: &mut Vec<u8>, end: &[u8]) -> io::Result<()> {
    let mut byte = [0];
    while !text.ends_with(end) {
        pipe.read_exact(&mut byte)?;
        text.extend(byte);
    }
    Ok(())
}

/// The C library's own signals, 32 and 33, which it catches as soon as there is a second thread.
const INTERNAL: u64 = 0b11 << 31;

/// What the kernel says about the signals of the process's first thread.
fn signal_masks(process: u32) -> Outcome<Vec<String>> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let mut masks = Vec::new();
    for name in ["SigBlk:", "SigIgn:", "SigCgt:"] {
        let mask = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("a mask is missing")?;
        let mask = u64::from_str_radix(mask.trim(), 16)? & !INTERNAL;
        masks.push(format!("{name} {mask:016x}"));
    }
    Ok(masks)
}
