//! Takes many snapshots and prints how many descriptors are open before and after:
//! `cargo run --release -p telemetry-sensors --example descriptors -- 1000000`.
#![expect(clippy::print_stdout, reason = "its output is what an example is for")]

use telemetry_core::settings::Settings;
use telemetry_sensors::TelemetryCapture;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let mut settings = Settings::default().telemetry_capture;
    settings.max_age_ms = 0;
    let mut capture = TelemetryCapture::new(&settings);
    let before = descriptors();
    // What is slow to read opens files as well, so it must have its turns among them.
    for _ in 0..count {
        capture.capture();
    }
    println!("{} {before} {}", capture.sequence(), descriptors());
}
