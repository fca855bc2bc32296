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

/// The functions of the library that are called, each with what is told without it: of the one visible card,
/// or nothing at all.
const FUNCTIONS: &[(&str, Option<&str>)] = &[
    ("nvmlInit_v2", None),
    ("nvmlDeviceGetCount_v2", None),
    ("nvmlDeviceGetHandleByIndex_v2", Some("")),
    ("nvmlDeviceGetUUID", Some("used total utilization power temperature clocks processes name")),
    ("nvmlDeviceGetName", Some("used total utilization power temperature clocks processes id")),
    ("nvmlDeviceGetMemoryInfo_v2", Some("utilization power temperature clocks processes name id")),
    ("nvmlDeviceGetTemperature", Some("used total utilization power clocks processes name id")),
    ("nvmlDeviceGetPowerUsage", Some("used total utilization temperature clocks processes name id")),
    ("nvmlDeviceGetUtilizationRates", Some("used total power temperature clocks processes name id")),
    ("nvmlDeviceGetClockInfo", Some("used total utilization power temperature processes name id")),
    (
        "nvmlDeviceGetComputeRunningProcesses_v3",
        Some("used total utilization power temperature clocks name id"),
    ),
];

struct Captured {
    gpu: Option<Value>,
    warnings: Vec<String>,
}

fn captured(definitions: &[&str], metrics: &[&str], cuda_visible_devices: Option<&str>) -> Captured {
    captured_in(&tempfile::tempdir().expect("a folder"), definitions, metrics, cuda_visible_devices, None)
}

/// The same, on a machine whose devices are in the folder.
fn captured_in(
    folder: &tempfile::TempDir,
    definitions: &[&str],
    metrics: &[&str],
    cuda_visible_devices: Option<&str>,
    rocr_visible_devices: Option<&str>,
) -> Captured {
    let mut options = GpuOptions::default();
    options.sys = folder.path().into();
    options.nvml = Some(stand_in(folder, definitions));
    options.cuda_visible_devices = cuda_visible_devices.map(str::to_owned);
    options.rocr_visible_devices = rocr_visible_devices.map(str::to_owned);
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
fn each_function_that_is_missing_or_fails_takes_only_its_own_metrics() {
    for (function, expected) in FUNCTIONS {
        // The one gets another name, the other an error.
        for definition in [format!("-D{function}=absent"), format!("-DBROKEN=\"{function}\"")] {
            let captured = captured(&[&definition], GPU_METRICS, Some("0"));
            let told = captured.gpu.as_ref().map(|gpu| {
                let card = gpu["gpu_0"].as_object().expect("the visible card");
                card.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(told.as_deref(), *expected, "{definition}");
            assert_eq!(captured.warnings.len(), usize::from(expected.is_none()), "{definition}");
        }
    }
}

#[test]
fn a_library_without_words_or_without_an_end_harms_nobody() {
    for definition in ["-DnvmlErrorString=absent", "-DBROKEN=\"nvmlShutdown\""] {
        let captured = captured(&[definition], &["temperature"], Some("0"));
        assert_eq!(gpu_text(&captured), r#"{"gpu_0":{"temperature":41}}"#, "{definition}");
    }
    let captured = captured(&["-DnvmlShutdown=absent"], &["temperature"], Some("0"));
    assert_eq!((captured.gpu, captured.warnings.len()), (None, 1));
    assert!(captured.warnings[0].contains("cannot be shut down"), "{:?}", captured.warnings);
}

#[test]
fn cards_of_amd_come_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = folder.path().join("class/drm/card0/device");
    std::fs::create_dir_all(&device).expect("a folder");
    for (name, text) in
        [("vendor", "0x1002\n"), ("mem_info_vram_total", "9\n"), ("mem_info_vram_used", "5\n")]
    {
        std::fs::write(device.join(name), text).expect("a file");
    }
    let both = captured_in(&folder, &[], &["used"], None, None);
    assert_eq!((gpu_text(&both).as_str(), both.warnings.len()), (r#"{"gpu_0":{"gpu_ix":0,"used":5}}"#, 0));
    let hidden = captured_in(&folder, &[], &["used"], Some("0"), Some("-1"));
    assert_eq!((gpu_text(&hidden).as_str(), hidden.warnings.len()), (r#"{"gpu_0":{"used":107}}"#, 0));
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
