//! The measured functions: one body under each of the attributes, and bare.

use std::thread;
use std::time::{Duration, Instant};

#[telemetry::task(level = "data")]
#[inline(never)]
pub(crate) fn with_data(count: i64, factor: f64, name: &str) -> i64 {
    body(count, factor, name)
}

#[telemetry::task(level = "lightweight")]
#[inline(never)]
pub(crate) fn lightweight(count: i64, factor: f64, name: &str) -> i64 {
    body(count, factor, name)
}

#[telemetry::task(level = "full")]
pub(crate) fn full_of_1_us(count: i64, factor: f64, name: &str) -> i64 {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(1) {}
    body(count, factor, name)
}

#[telemetry::task(level = "full")]
pub(crate) fn full_of_10_ms(count: i64, factor: f64, name: &str) -> i64 {
    thread::sleep(Duration::from_millis(10));
    body(count, factor, name)
}

#[tracing::instrument]
#[inline(never)]
pub(crate) fn instrumented(count: i64, factor: f64, name: &str) -> i64 {
    body(count, factor, name)
}

#[inline(never)]
pub(crate) fn bare(count: i64, factor: f64, name: &str) -> i64 {
    body(count, factor, name)
}

#[inline]
fn body(count: i64, factor: f64, name: &str) -> i64 {
    count + factor as i64 + name.len() as i64
}
