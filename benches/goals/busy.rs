//! Goal 8: what a program of tasks that compute for a millisecond costs more when they are recorded at level `full`.
//!
//! Both sides are whole processes, from their first instruction to a clean stop with the rows in SQLite, and do the same
//! work: so many steps of arithmetic as take a millisecond, not a millisecond on the clock, in which a slower machine
//! would do less. What counts is the processor time of all threads, user and system.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::data::process_cpu_ns;
use crate::measured::call;
use crate::options::Options;
use crate::recording::Recording;
use crate::report::{Bound, Report, Target};
use crate::rounds::Rounds;

const ROUNDS: usize = 9;
/// Three seconds of them: what a start and a stop cost is spread over these.
const TASKS: usize = 3_000;
const TASK_NS: f64 = 1e6;

const TARGET: Target = Target {
    goal: 8,
    name: "1 ms tasks, level full: CPU of the whole process, all threads / the bare program",
    unit: "ms",
    limit: 1.02,
    bound: Bound::AtMost,
};

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let (steps, tasks) = (steps_of_a_millisecond(), options.tasks(TASKS));
    let program = std::env::current_exe()?;
    let cpu =
        |side| in_child(&program, &format!("{side},{steps},{tasks}")).expect("a program can be started");
    let rounds = Rounds::alternate(options.rounds(ROUNDS), || cpu("full"), || cpu("bare"));
    report.ratio(TARGET, &rounds);
    Ok(())
}

/// The steps of a task, so that the functions have the arguments of all that are measured.
static STEPS: AtomicU64 = AtomicU64::new(0);

#[telemetry::task(level = "full")]
#[inline(never)]
fn recorded(count: i64, factor: f64, name: &str) -> i64 {
    body(count, factor, name)
}

#[inline(never)]
fn bare(count: i64, factor: f64, name: &str) -> i64 {
    body(count, factor, name)
}

#[inline]
fn body(count: i64, factor: f64, name: &str) -> i64 {
    black_box(compute(STEPS.load(Ordering::Relaxed)));
    count + factor as i64 + name.len() as i64
}

/// Arithmetic of which each step needs the one before.
pub(crate) fn compute(steps: u64) -> u64 {
    (0..steps).fold(black_box(1), |state: u64, step| {
        state.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ step
    })
}

/// By the fastest of some tries: a slow one was interrupted.
fn steps_of_a_millisecond() -> u64 {
    const TRIED: u64 = 1_000_000;
    let time = || {
        let start = Instant::now();
        black_box(compute(TRIED));
        start.elapsed().as_nanos() as f64
    };
    let fastest = (0..20).map(|_| time()).fold(f64::INFINITY, f64::min);
    (TRIED as f64 * TASK_NS / fastest) as u64
}

fn in_child(program: &Path, how: &str) -> Result<f64, Box<dyn Error>> {
    let output = Command::new(program).args(["--busy", how]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// In the child: prints the milliseconds of processor time that the process took. `how` is the side, the steps of a task
/// and the number of tasks.
pub(crate) fn answer(how: &str) -> Result<(), Box<dyn Error>> {
    let [side, steps, tasks] = how.split(',').collect::<Vec<_>>()[..] else {
        return Err(format!("{how:?} is not a side, steps and tasks").into());
    };
    STEPS.store(steps.parse()?, Ordering::Relaxed);
    if side == "full" {
        let recording = Recording::start_anywhere()?;
        call(tasks.parse()?, recorded);
        recording.flush();
        recording.stop();
    } else {
        call(tasks.parse()?, bare);
    }
    println!("{}", process_cpu_ns() / 1e6);
    Ok(())
}
