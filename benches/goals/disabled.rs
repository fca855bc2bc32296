//! Goal 3: a task where nothing records, against a span of `tracing` without a subscriber.
//!
//! A processor runs a loop of so few instructions at one of two paces, for tens of microseconds each: of each side, a round
//! has the fastest of some short times.

use std::error::Error;

use telemetry::{Recorder, Settings};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::functions::{bare, instrumented, with_data};
use crate::measured::{Measured, call};
use crate::options::Options;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, time_each};

const ROUNDS: usize = 101;
const CALLS: usize = 10_000;
const TIMES: usize = 10;

const NO_RECORDER: Target = target("no recorder / tracing without subscriber");
const NOT_ENABLED: Target = target("enabled: false / tracing without subscriber");

const fn target(name: &'static str) -> Target {
    Target { goal: 3, name, unit: "ns", limit: 1.0, bound: Bound::AtMost }
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    if options.has_subscriber {
        tracing::subscriber::set_global_default(Ignoring)?;
    }
    report.ratio(NO_RECORDER, &rounds(options, with_data, instrumented));
    let mut settings = Settings::default();
    settings.instrumentation.enabled = false;
    let recorder = Recorder::start(settings)?;
    report.ratio(NOT_ENABLED, &rounds(options, with_data, instrumented));
    drop(recorder);
    println!("   the same call without any attribute: {:.2} ns", rounds(options, bare, instrumented).ours());
    Ok(())
}

fn rounds(options: &Options, ours: Measured, other: Measured) -> Rounds {
    let fastest = |function: Measured| {
        move || {
            let times = (0..TIMES).map(|_| time_each(CALLS, || call(CALLS, function)));
            times.fold(f64::INFINITY, f64::min)
        }
    };
    Rounds::alternate(options.rounds(ROUNDS), fastest(ours), fastest(other))
}

/// A subscriber that could be set: without one in the program, the optimizer would delete the check of
/// `tracing` and leave a bare call.
struct Ignoring;

impl Subscriber for Ignoring {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
