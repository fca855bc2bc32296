//! How the measured functions are called.

use std::hint::black_box;

use telemetry::Settings;

/// The measured functions as text, for the report.
const SOURCE: &str = include_str!("functions.rs");

/// A burst: all records of it fit a lane, so that no call waits for the drain.
pub(crate) const BURST: usize = 1_000;

/// A function under measurement.
pub(crate) type Measured = fn(i64, f64, &str) -> i64;

/// Calls the function so often, with arguments that the optimizer cannot see.
#[inline]
pub(crate) fn call(times: usize, function: impl Fn(i64, f64, &str) -> i64) {
    for count in 0..times {
        black_box(function(black_box(count as i64), black_box(0.5), black_box("sixteen bytes ok")));
    }
}

/// What is measured, and with which settings.
pub(crate) fn about() -> String {
    let settings = Settings::default().to_json();
    format!("{SOURCE}\nSettings, but for the database, which is in a temporary folder: {settings}\n")
}
