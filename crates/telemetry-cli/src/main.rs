//! The program `telemetry`.
fn main() {}
