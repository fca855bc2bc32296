//! The sensors of the settings, as the recorder wants them.

use serde_json::Value;
use telemetry_core::encoder::Encoder;
use telemetry_core::sensor::Sensor;
use telemetry_core::settings::{self, Settings, environment};
use telemetry_sensors::{GpuOptions, TelemetryCapture, machine_info_with_gpus};

use crate::warning::warn;

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
    let mut capture = TelemetryCapture::with_gpus(&fresh, &gpu_options());
    capture.capture()?;
    capture.warnings().iter().for_each(|warning| warn(warning));
    Some(Box::new(MachineSensor { capture }))
}

/// Facts about the machine, those that stay and those that change; null when they are switched off.
pub(crate) fn machine(settings: &Settings) -> (Value, Value) {
    if !settings.telemetry_capture.machine_info {
        return (Value::Null, Value::Null);
    }
    let allow = &settings.redaction.environment_allow;
    machine_info_with_gpus(&settings.telemetry_capture, allow, &gpu_options()).split()
}

fn gpu_options() -> GpuOptions {
    let mut options = GpuOptions::default();
    options.cuda_visible_devices = environment::text(environment::CUDA_VISIBLE_DEVICES);
    options.rocr_visible_devices = environment::text(environment::ROCR_VISIBLE_DEVICES);
    options
}
