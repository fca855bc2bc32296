//! Prints a snapshot and the description of this machine: `cargo run -p telemetry-sensors --example look`.
#![expect(clippy::print_stdout, reason = "its output is what an example is for")]

use telemetry_core::settings::Settings;
use telemetry_sensors::{TelemetryCapture, machine_info};

fn main() {
    let settings = Settings::default();
    let mut capture = TelemetryCapture::new(&settings.telemetry_capture);
    if let Some(snapshot) = capture.capture() {
        println!("{:#}", snapshot.to_json());
    }
    let machine = machine_info(&settings.telemetry_capture, &settings.redaction.environment_allow);
    println!("{:#}", machine.to_json());
}
