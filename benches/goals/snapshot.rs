//! Goals 4 and 5: a snapshot of all fast keys against bare reads of the same files, against sysinfo and
//! against psutil as Flowcept calls it; and a shared one against a look at the clock.
//!
//! All sides are measured by processor time, for what else runs would lengthen the slower ones most.

mod peers;

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use telemetry::Settings;
use telemetry_sensors::TelemetryCapture;

use crate::flowcept;
use crate::options::Options;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, thread_cpu};
use peers::{Bare, Sysinfo};

const ROUNDS: usize = 41;
const READINGS: usize = 200;
const READINGS_SLOW: usize = 20;
const READINGS_SHARED: usize = 100_000;
const HOUR_MS: u64 = 3_600_000;

const fn target(goal: u8, name: &'static str, limit: f64) -> Target {
    Target { goal, name, unit: "ns", limit, bound: Bound::AtMost }
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let mut settings = Settings::default().telemetry_capture;
    settings.slow_age_ms = HOUR_MS;
    settings.max_age_ms = 0;
    let mut capture = TelemetryCapture::new(&settings);
    // Which files the capture reads is what the process holds open now.
    let (mut bare, mut sysinfo) = (Bare::new(&mut capture)?, Sysinfo::new());
    let mut ours = || repeat(READINGS, || capture.capture().is_some());
    let rounds = Rounds::alternate(options.rounds(ROUNDS), &mut ours, || repeat(READINGS, || bare.read()));
    report.ratio(target(4, "snapshot, fast keys / bare pread of the same files", 1.3), &rounds);
    let rounds =
        Rounds::alternate(options.rounds(ROUNDS), &mut ours, || repeat(READINGS_SLOW, || sysinfo.read()));
    report.ratio(target(4, "snapshot, fast keys / sysinfo", 0.1), &rounds);
    let psutil = target(4, "snapshot, fast keys / psutil as Flowcept calls it", 0.04);
    against_psutil(psutil, options, report, &mut ours);
    settings.max_age_ms = HOUR_MS;
    shared(&mut TelemetryCapture::new(&settings), options, report);
    Ok(())
}

fn against_psutil(target: Target, options: &Options, report: &mut Report, mut ours: impl FnMut() -> f64) {
    match flowcept::Snapshots::start(options) {
        Ok(mut psutil) => {
            report.ratio(
                target,
                &Rounds::alternate(options.rounds(ROUNDS), &mut ours, || psutil.each_cpu_ns()),
            );
        }
        Err(why) => report.without_other(target, Some(ours()), &why),
    }
}

fn shared(capture: &mut TelemetryCapture, options: &Options, report: &mut Report) {
    let ours = || repeat(READINGS_SHARED, || capture.capture().is_some());
    let clock = || repeat(READINGS_SHARED, Instant::now);
    let rounds = Rounds::alternate(options.rounds(ROUNDS), ours, clock);
    report.ratio(target(5, "shared snapshot / Instant::now", 3.0), &rounds);
}

/// Nanoseconds of processor time a call.
fn repeat<T>(count: usize, mut call: impl FnMut() -> T) -> f64 {
    let seconds = thread_cpu(|| {
        for _ in 0..count {
            black_box(call());
        }
    });
    seconds * 1e9 / count as f64
}
