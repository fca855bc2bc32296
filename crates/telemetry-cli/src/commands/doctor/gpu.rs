//! The libraries through which GPUs are read.

use std::path::Path;

use telemetry_core::settings::Settings;
use telemetry_sensors::TelemetryCapture;

use super::check::Check;

const NVIDIA_DEVICE: &str = "/dev/nvidiactl";
const AMD_DEVICE: &str = "/dev/kfd";

/// What is there, and whether it can be read.
pub(super) fn check() -> Check {
    let is_asked_for = Settings::load().is_ok_and(|loaded| loaded.settings.telemetry_capture.gpu.is_some());
    let is_there = [NVIDIA_DEVICE, AMD_DEVICE].iter().any(|path| Path::new(path).exists());
    match (why_unreadable(), is_there, is_asked_for) {
        (None, _, true) => Check::ok("gpu", "can be read"),
        (None, _, false) => Check::ok("gpu", "can be read; telemetry_capture.gpu asks for nothing"),
        (Some(_), false, false) => Check::ok("gpu", "none here, none asked for"),
        (Some(why), false, true) => {
            Check::warn("gpu", why, "set telemetry_capture.gpu: ~ on machines without a GPU")
        }
        (Some(why), true, _) => Check::warn(
            "gpu",
            why,
            "install the driver's management library (libnvidia-ml.so.1 for NVIDIA), or ask for access to the device",
        ),
    }
}

/// Why no device answers; none where one does.
fn why_unreadable() -> Option<String> {
    let mut settings = Settings::default().telemetry_capture;
    settings.gpu = Some(vec!["used".to_owned()]);
    let mut capture = TelemetryCapture::new(&settings);
    capture.capture();
    capture.warnings().into_iter().next()
}
