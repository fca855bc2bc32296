//! Goal 11: two threads at once against one, and the last of ten million tasks against the first.

mod many;
mod pair;

pub(crate) use many::answer;

use std::error::Error;

use crate::busy::compute;
use crate::functions::with_data;
use crate::measured::BURST;
use crate::options::Options;
use crate::recording::Recording;
use crate::report::{Bound, Report, Target};
use pair::Pair;

const ROUNDS: usize = 101;
/// Steps of arithmetic that take about as long as a task.
const STEPS: u64 = 50;

const fn target(name: &'static str, unit: &'static str, limit: f64) -> Target {
    Target { goal: 11, name, unit, limit, bound: Bound::AtMost }
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    two_threads(options, report)?;
    many::run(options, report)
}

fn two_threads(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let arithmetic = |_: i64, _: f64, _: &str| compute(STEPS) as i64;
    let machine = Pair::new(BURST, arithmetic, || {}).rounds(options.rounds(ROUNDS));
    let recording = Recording::start()?;
    let rounds = Pair::new(BURST, with_data, || recording.flush()).rounds(options.rounds(ROUNDS));
    recording.stop();
    let target = target("data, burst, a task of two threads at once / of one", "ns", 1.3);
    let note = format!("{:.2} for a loop that only computes", machine.ratio());
    report.ratio_with_note(target, &rounds, &note);
    Ok(())
}
