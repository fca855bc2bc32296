//! Measures all sides in turn and prints medians.

use std::hint::black_box;
use std::time::Instant;

use telemetry_core::settings::{self, Settings};
use telemetry_sensors::{TelemetryCapture, machine_info};

use crate::peers::{Bare, Psutil, Sysinfo};

const ROUNDS: usize = 41;
const READINGS: usize = 200;
const READINGS_SLOW: usize = 20;
const READINGS_SHARED: usize = 100_000;
const HOUR_MS: u64 = 3_600_000;

/// Nanoseconds a call of each side, in one round.
struct Round {
    snapshot: f64,
    bare: f64,
    sysinfo: f64,
    psutil: Option<f64>,
    shared: f64,
    clock: f64,
}

pub(crate) fn run() {
    let mut settings = Settings::default().telemetry_capture;
    settings.slow_age_ms = HOUR_MS;
    settings.max_age_ms = HOUR_MS;
    let mut shared = TelemetryCapture::new(&settings);
    settings.max_age_ms = 0;
    let mut capture = TelemetryCapture::new(&settings);
    let bare = Bare::new();
    let mut sysinfo = Sysinfo::new();
    let mut psutil = Psutil::start();
    let mut round = || Round {
        snapshot: time(READINGS, || {
            black_box(capture.capture());
        }),
        bare: time(READINGS, || bare.read()),
        sysinfo: time(READINGS_SLOW, || sysinfo.read()),
        psutil: psutil.as_mut().map(|psutil| psutil.time(READINGS_SLOW)),
        shared: time(READINGS_SHARED, || {
            black_box(shared.capture());
        }),
        clock: time(READINGS_SHARED, || {
            black_box(Instant::now());
        }),
    };
    let rounds: Vec<_> = (0..ROUNDS).map(|_| round()).collect();
    report(&rounds);
    report_start(&settings);
}

/// Nanoseconds a call.
fn time(count: usize, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        call();
    }
    start.elapsed().as_nanos() as f64 / count as f64
}

fn report(rounds: &[Round]) {
    let cost = |name: &str, of: &dyn Fn(&Round) -> Option<f64>| {
        if let Some(median) = median(rounds.iter().filter_map(of)) {
            println!("{name:<24}{median:>10.0} ns");
        }
    };
    cost("snapshot", &|round| Some(round.snapshot));
    cost("bare pread", &|round| Some(round.bare));
    cost("sysinfo", &|round| Some(round.sysinfo));
    cost("psutil", &|round| round.psutil);
    cost("shared", &|round| Some(round.shared));
    cost("Instant::now", &|round| Some(round.clock));
    let ratio = |name: &str, goal: f64, of: &dyn Fn(&Round) -> Option<f64>| {
        if let Some(median) = median(rounds.iter().filter_map(of)) {
            println!("{name:<24}{median:>10.3}  (goal {goal})");
        }
    };
    ratio("snapshot / bare pread", 1.3, &|round| Some(round.snapshot / round.bare));
    ratio("snapshot / sysinfo", 0.1, &|round| Some(round.snapshot / round.sysinfo));
    ratio("snapshot / psutil", 0.04, &|round| Some(round.snapshot / round.psutil?));
    ratio("shared / Instant::now", 3.0, &|round| Some(round.shared / round.clock));
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// What a recorder pays once, and what the JSON of a snapshot costs.
fn report_start(settings: &settings::TelemetryCapture) {
    let allow = &Settings::default().redaction.environment_allow;
    let start = time(READINGS, || {
        black_box(TelemetryCapture::new(settings));
    });
    let machine = time(READINGS_SLOW, || {
        black_box(machine_info(settings, allow));
    });
    let snapshot = TelemetryCapture::new(settings).capture().cloned().unwrap_or_default();
    let json = time(READINGS, || {
        black_box(snapshot.to_json());
    });
    for (name, cost) in [("start", start), ("machine_info", machine), ("to_json", json)] {
        println!("{name:<24}{cost:>10.0} ns");
    }
}
