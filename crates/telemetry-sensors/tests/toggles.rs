//! Each toggle alone gives exactly its block, and nothing costs nothing.
#![cfg(target_os = "linux")]

use serde_json::Value;
use telemetry_core::settings::{self, Settings};
use telemetry_sensors::TelemetryCapture;

type Toggle = fn(&mut settings::TelemetryCapture) -> &mut bool;

fn all_off() -> settings::TelemetryCapture {
    let mut settings = Settings::default().telemetry_capture;
    for toggle in TOGGLES {
        *toggle(&mut settings) = false;
    }
    settings
}

const TOGGLES: [Toggle; 7] = [
    |settings| &mut settings.cpu,
    |settings| &mut settings.per_cpu,
    |settings| &mut settings.process_info,
    |settings| &mut settings.mem,
    |settings| &mut settings.disk,
    |settings| &mut settings.network,
    |settings| &mut settings.machine_info,
];

fn captured(settings: &settings::TelemetryCapture) -> Option<Value> {
    TelemetryCapture::new(settings).capture().map(telemetry_sensors::Telemetry::to_json)
}

fn keys(json: &Value) -> Vec<&str> {
    json.as_object().expect("a block is an object").keys().map(String::as_str).collect()
}

#[test]
fn each_toggle_alone_gives_exactly_its_block() {
    let blocks = TOGGLES.map(|toggle| {
        let mut settings = all_off();
        *toggle(&mut settings) = true;
        captured(&settings).map(|json| keys(&json).join(" "))
    });
    let expected =
        [Some("cpu"), Some("cpu"), Some("process"), Some("memory"), Some("disk"), Some("network"), None];
    assert_eq!(blocks, expected.map(|block| block.map(str::to_owned)));
}

#[test]
fn cpu_and_per_cpu_are_apart() {
    let mut settings = all_off();
    settings.per_cpu = true;
    assert_eq!(keys(&captured(&settings).unwrap()["cpu"]), ["times_per_cpu", "percent_per_cpu"]);
    settings.per_cpu = false;
    settings.cpu = true;
    let cpu = captured(&settings).unwrap();
    assert_eq!(keys(&cpu["cpu"])[..2], ["times_avg", "percent_all"]);
    assert_eq!(cpu["cpu"].get("times_per_cpu"), None);
}

#[test]
fn all_blocks_come_in_the_known_order() {
    let json = captured(&Settings::default().telemetry_capture).unwrap();
    let blocks: Vec<_> = keys(&json).into_iter().filter(|block| *block != "cgroup").collect();
    assert_eq!(blocks, ["process", "cpu", "memory", "network", "disk"]);
}

#[test]
fn percentages_are_not_zero_by_construction() {
    let mut settings = Settings::default().telemetry_capture;
    settings.max_age_ms = 0;
    let mut capture = TelemetryCapture::new(&settings);
    for _ in 0..3 {
        let json = capture.capture().unwrap().to_json();
        assert!(json["process"]["cpu_percent"].as_f64() > Some(0.0), "{json}");
        assert!(json["cpu"]["percent_all"].as_f64() > Some(0.0), "{json}");
    }
}

#[test]
fn a_young_snapshot_is_shared() {
    let mut settings = Settings::default().telemetry_capture;
    settings.max_age_ms = 3_600_000;
    let mut capture = TelemetryCapture::new(&settings);
    assert_eq!((capture.sequence(), capture.age()), (0, None));
    let first = capture.capture().cloned();
    assert_eq!(capture.capture().cloned(), first);
    assert_eq!(capture.sequence(), 1);
    assert!(capture.age().is_some());
}
