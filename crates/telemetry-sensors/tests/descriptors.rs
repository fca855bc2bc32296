//! Snapshots open nothing: descriptors stay the same, and none is held when everything is off.
#![cfg(target_os = "linux")]

use telemetry_core::settings::Settings;
use telemetry_sensors::TelemetryCapture;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("descriptors are listed").count()
}

/// One test, so that no other opens files meanwhile.
#[test]
fn descriptors_stay_the_same() {
    let at_start = descriptors();
    let mut settings = Settings::default().telemetry_capture;
    settings.max_age_ms = 0;
    let mut capture = TelemetryCapture::new(&settings);
    let opened = descriptors();
    for _ in 0..100_000 {
        assert!(capture.capture().is_some());
    }
    assert_eq!(descriptors(), opened);
    drop(capture);
    assert_eq!(descriptors(), at_start);

    settings.slow_age_ms = 0;
    let mut capture = TelemetryCapture::new(&settings);
    for _ in 0..100 {
        capture.capture();
    }
    assert_eq!(descriptors(), opened);
    drop(capture);

    settings.cpu = false;
    settings.per_cpu = false;
    settings.process_info = false;
    settings.mem = false;
    settings.disk = false;
    settings.network = false;
    let mut capture = TelemetryCapture::new(&settings);
    assert_eq!((capture.capture(), descriptors()), (None, at_start));
}
