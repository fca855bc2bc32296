//! The sensors of the settings, as the recorder wants them.

use serde_json::Value;
use telemetry_core::encoder::Encoder;
use telemetry_core::sensor::Sensor;
use telemetry_core::settings::{self, Settings};
use telemetry_sensors::{TelemetryCapture, machine_info};

struct MachineSensor {
    capture: TelemetryCapture,
}

impl Sensor for MachineSensor {
    fn read(&mut self, encoder: &mut Encoder) -> bool {
        let reading = self.capture.capture();
        if let Some(reading) = reading {
            encoder.telemetry(reading);
        }
        reading.is_some()
    }
}

/// The sensor that takes snapshots; none when every kind of telemetry is switched off.
pub(crate) fn sensor(settings: &Settings) -> Option<Box<dyn Sensor>> {
    // The recorder shares snapshots itself: when it asks, it wants a new one.
    let fresh = settings::TelemetryCapture { max_age_ms: 0, ..settings.telemetry_capture.clone() };
    let mut capture = TelemetryCapture::new(&fresh);
    capture.capture()?;
    Some(Box::new(MachineSensor { capture }))
}

/// Facts about the machine; null when they are switched off.
pub(crate) fn machine(settings: &Settings) -> Value {
    if !settings.telemetry_capture.machine_info {
        return Value::Null;
    }
    machine_info(&settings.telemetry_capture, &settings.redaction.environment_allow).to_json()
}
