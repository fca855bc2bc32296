//! NVIDIA cards, against a stand-in for the driver's library.
#![cfg(all(target_os = "linux", feature = "gpu"))]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use telemetry_core::settings::{GPU_METRICS, Settings};
use telemetry_sensors::{GpuOptions, TelemetryCapture};

/// Builds the stand-in with these definitions.
fn stand_in(folder: &tempfile::TempDir, definitions: &[&str]) -> PathBuf {
    let library = folder.path().join("libnvidia-ml.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvidia/nvml.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).args(definitions);
    let status = compiler.status().expect("the C compiler that Rust links with");
    assert!(status.success(), "the stand-in does not compile");
    library
}

struct Captured {
    gpu: Option<Value>,
    warnings: Vec<String>,
}

fn captured(definitions: &[&str], metrics: &[&str], cuda_visible_devices: Option<&str>) -> Captured {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = GpuOptions::default();
    options.sys = folder.path().into();
    options.nvml = Some(stand_in(&folder, definitions));
    options.cuda_visible_devices = cuda_visible_devices.map(str::to_owned);
    let mut settings = Settings::default().telemetry_capture;
    settings.gpu = Some(metrics.iter().map(|name| (*name).to_owned()).collect());
    let mut capture = TelemetryCapture::with_gpus(&settings, &options);
    let snapshot = capture.capture().expect("some toggles are on").to_json();
    let warnings = capture.warnings();
    assert!(capture.warnings().is_empty(), "a warning is told once");
    assert!(snapshot["memory"].is_object(), "the other blocks are there whatever the driver does");
    Captured { gpu: snapshot.get("gpu").cloned(), warnings }
}

fn gpu_text(captured: &Captured) -> String {
    captured.gpu.as_ref().expect("the block gpu").to_string()
}

#[test]
fn all_metrics_of_one_card() {
    let captured = captured(&[], GPU_METRICS, Some("1"));
    let expected = concat!(
        r#"{"gpu_1":{"used":107,"total":1000,"utilization":88,"power":65000,"temperature":41,"#,
        r#""clocks":{"graphics":1000,"memory":1002,"video":1003},"processes":{"count":2,"own_used":64},"#,
        r#""name":"Stand-in 3000","id":"GPU-bbbb-2"}}"#,
    );
    assert_eq!((gpu_text(&captured).as_str(), captured.warnings.len()), (expected, 0));
}

#[test]
fn visible_cards_by_number_and_by_id() {
    let temperature = r#"{"temperature":41}"#;
    let check = |list: Option<&str>, first: &str, second: &str| {
        let expected = format!(r#"{{"{first}":{temperature},"{second}":{temperature}}}"#);
        assert_eq!(gpu_text(&captured(&[], &["temperature"], list)), expected, "{list:?}");
    };
    check(None, "gpu_0", "gpu_1");
    check(Some("1,0"), "gpu_1", "gpu_0");
    check(Some("GPU-bbbb-2,GPU-aaaa-1"), "gpu_1", "gpu_0");
    check(Some("GPU-bb,0"), "gpu_1", "gpu_0");
    let hidden = captured(&[], &["temperature"], Some("-1"));
    assert_eq!(hidden.gpu, None);
    assert!(hidden.warnings[0].contains("CUDA_VISIBLE_DEVICES hides all"), "{:?}", hidden.warnings);
}

#[test]
fn a_driver_that_does_not_start_or_lacks_parts_is_one_warning() {
    for definitions in
        [["-DINIT=9"], ["-DINIT=18"], ["-DINIT=999"], ["-DINIT=12345"], ["-DFEW"], ["-DCOUNT=0"]]
    {
        let captured = captured(&definitions, GPU_METRICS, None);
        assert_eq!((captured.gpu, captured.warnings.len()), (None, 1), "{definitions:?}");
    }
}

#[test]
fn a_card_that_answers_with_any_error_tells_nothing() {
    // 7 says how much room an answer needs, so it is no error.
    for code in (1..=27).chain([999, 12345]).filter(|code| *code != 7) {
        let captured = captured(&[&format!("-DQUERY={code}")], GPU_METRICS, Some("0"));
        assert_eq!(gpu_text(&captured), r#"{"gpu_0":{"id":"GPU-aaaa-1"}}"#, "error {code}");
    }
}

#[test]
fn a_file_that_is_no_library_is_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = GpuOptions::default();
    options.sys = folder.path().into();
    options.nvml = Some(folder.path().join("libnvidia-ml.so"));
    std::fs::write(options.nvml.as_ref().unwrap(), "half-installed").unwrap();
    let mut settings = Settings::default().telemetry_capture;
    settings.gpu = Some(vec!["used".to_owned()]);
    assert_eq!(TelemetryCapture::with_gpus(&settings, &options).warnings().len(), 1);
}
