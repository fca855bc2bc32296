//! Goal 2: a task of level `lightweight` against a local span of fastrace.

use std::error::Error;

use crate::fastrace_spans;
use crate::functions::lightweight;
use crate::measured::{BURST, call};
use crate::options::Options;
use crate::recording::Recording;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, time_each};

const ROUNDS: usize = 101;

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let recording = Recording::start()?;
    fastrace_spans::start();
    let ours = || {
        let each = time_each(BURST, || call(BURST, lightweight));
        recording.flush();
        each
    };
    let rounds = Rounds::alternate(options.rounds(ROUNDS), ours, fastrace_spans::burst_of_locals);
    let target = Target {
        goal: 2,
        name: "lightweight, burst / fastrace LocalSpan without properties",
        unit: "ns",
        limit: 0.8,
        bound: Bound::AtMost,
    };
    report.ratio(target, &rounds);
    recording.stop();
    Ok(())
}
