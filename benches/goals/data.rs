//! Goal 1: a task of level `data` against a root span of fastrace and a bare task of Flowcept.

use std::error::Error;

use nix::time::{ClockId, clock_gettime};

use crate::fastrace_spans;
use crate::flowcept::{Cost, Flowcept};
use crate::functions::with_data;
use crate::measured::{BURST, call};
use crate::options::Options;
use crate::recording::Recording;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, time_each};

const ROUNDS: usize = 101;
const ROUNDS_FLOWCEPT: usize = 41;
/// Tasks of a sustained round: some fillings of the lane, so that the drain runs beside.
const SUSTAINED: usize = 20_000;

const FASTRACE: Target = target("data, burst / fastrace Span::root with 3 formatted properties", 0.25);
const FLOWCEPT: Target = target("data, burst / Flowcept's bare task", 0.015);
const FLOWCEPT_SUSTAINED: Target =
    target("data, sustained, CPU of all threads with the rows in SQLite / Flowcept's bare task", 0.6);

const fn target(name: &'static str, limit: f64) -> Target {
    Target { goal: 1, name, unit: "ns", limit, bound: Bound::AtMost }
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let recording = Recording::start()?;
    fastrace_spans::start();
    let ours = || burst(&recording);
    report.ratio(FASTRACE, &Rounds::alternate(options.rounds(ROUNDS), ours, fastrace_spans::burst_of_roots));
    match Flowcept::start(options) {
        Ok(mut flowcept) => {
            let other = || flowcept.burst(Cost::Time);
            report.ratio(FLOWCEPT, &Rounds::alternate(options.rounds(ROUNDS_FLOWCEPT), ours, other));
            let (ours, other) = (|| sustained(&recording), || flowcept.burst(Cost::Cpu));
            report
                .ratio(FLOWCEPT_SUSTAINED, &Rounds::alternate(options.rounds(ROUNDS_FLOWCEPT), ours, other));
        }
        Err(why) => {
            report.without_other(FLOWCEPT, Some(burst(&recording)), &why);
            report.without_other(FLOWCEPT_SUSTAINED, Some(sustained(&recording)), &why);
        }
    }
    recording.stop();
    Ok(())
}

/// Nanoseconds a task, until the call returns.
pub(crate) fn burst(recording: &Recording) -> f64 {
    let each = time_each(BURST, || call(BURST, with_data));
    recording.flush();
    each
}

/// Nanoseconds of CPU a task, over all threads, until the rows are committed.
fn sustained(recording: &Recording) -> f64 {
    let start = process_cpu_ns();
    call(SUSTAINED, with_data);
    recording.flush();
    (process_cpu_ns() - start) / SUSTAINED as f64
}

/// Nanoseconds of processor time of all threads so far.
pub(crate) fn process_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every process has this clock");
    time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64
}
