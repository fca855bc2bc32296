//! Goal 10: what a recorder costs at its start, and while it idles.

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use telemetry::{Recorder, Settings};

use crate::flowcept;
use crate::options::Options;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, thread_cpu};

const ROUNDS: usize = 41;
/// Flowcept's description of a machine takes more than a second.
const ROUNDS_SLOW: usize = 5;
const TIMEOUT: Duration = Duration::from_mins(1);

const fn target(name: &'static str, unit: &'static str, limit: f64) -> Target {
    Target { goal: 10, name, unit, limit, bound: Bound::AtMost }
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let rounds = Rounds::alternate(options.rounds(ROUNDS), || start_ms("plain"), || start_ms("processor"));
    let note =
        format!("{:.2} ms of processor time; each in a new process, with a new database", rounds.other());
    let plain = target("start of a recorder without machine_info", "ms", 5.0);
    report.figure(plain, rounds.ours(), note);
    let described =
        target("start of a recorder with machine_info / Flowcept's machine_info alone", "ms", 0.05);
    match flowcept::Machine::start(options) {
        Ok(mut flowcept) => {
            let rounds = Rounds::alternate(
                options.rounds(ROUNDS_SLOW),
                || start_ms("described"),
                || flowcept.describe_ms(),
            );
            report.ratio(described, &rounds);
        }
        Err(why) => report.without_other(described, Some(start_ms("described")), &why),
    }
    let (idle, bare) = (in_child("idle")?, in_child("bare")?);
    let note = format!("{idle:.1} MB with an idle recorder, {bare:.1} MB without");
    report.figure(target("resident memory of an idle recorder", "MB", 15.0), idle - bare, note);
    Ok(())
}

/// Milliseconds that a new process takes to start a recorder.
fn start_ms(how: &str) -> f64 {
    in_child(how).expect("a program can be started")
}

/// What this program prints when it is called again with such a question.
fn in_child(how: &str) -> Result<f64, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?).args(["--start", how]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// In the child: prints the milliseconds of its `plain` or `described` start, or those of the `processor` at
/// the former, or the megabytes that it has resident, `idle` with a recorder or `bare` without.
pub(crate) fn answer(how: &str) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut settings = Settings::default();
    settings.store.path = folder.path().join("provenance.db");
    settings.instrumentation.enabled = how != "bare";
    settings.telemetry_capture.machine_info = !["plain", "processor"].contains(&how);
    let begun = Instant::now();
    let mut started = None;
    let cpu_s = thread_cpu(|| started = Some(Recorder::start(settings)));
    let took_s = begun.elapsed().as_secs_f64();
    let recorder = started.ok_or("it was started")??;
    // A flush has the drain do once what it does at all.
    recorder.flush(TIMEOUT);
    let answer = match how {
        "plain" | "described" => took_s * 1e3,
        "processor" => cpu_s * 1e3,
        _ => resident_mb()?,
    };
    println!("{answer}");
    Ok(())
}

/// The megabytes that this process has resident.
pub(crate) fn resident_mb() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("the kernel does not tell")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024.0 / 1e6)
}
