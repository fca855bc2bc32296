//! In a build without sensors, no snapshots are taken.

use serde_json::Value;
use telemetry_core::sensor::Sensor;
use telemetry_core::settings::Settings;

pub(crate) fn sensor(_: &Settings) -> Option<Box<dyn Sensor>> {
    None
}

pub(crate) fn machine(_: &Settings) -> (Value, Value) {
    (Value::Null, Value::Null)
}
