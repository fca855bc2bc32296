//! The sensors of the settings, as the recorder wants them.

use serde_json::Value;
use telemetry_core::encoder::Encoder;
use telemetry_core::sensor::Sensor;
use telemetry_core::settings::Settings;
use telemetry_sensors::TelemetryCapture;

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
    let mut capture = TelemetryCapture::new(&settings.telemetry_capture);
    capture.capture()?;
    Some(Box::new(MachineSensor { capture }))
}

/// Facts about the machine; null when they are switched off.
pub(crate) fn machine(settings: &Settings) -> Value {
    let _ = settings;
    Value::Null
}
