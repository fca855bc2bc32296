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

#[test]
fn blocks_have_the_known_keys_and_no_others() {
    let json = captured(&Settings::default().telemetry_capture).unwrap();
    let times =
        ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];
    let traffic =
        ["bytes_sent", "bytes_recv", "packets_sent", "packets_recv", "errin", "errout", "dropin", "dropout"];
    let check = |path: &str, expected: &[&str]| {
        let found = json.pointer(path).unwrap_or_else(|| panic!("{path} is missing"));
        assert_eq!(keys(found), expected, "{path}");
    };
    check("/cpu/times_avg", &times);
    check("/cpu/times_per_cpu/0", &times);
    check(
        "/process",
        &[
            "pid",
            "cpu_number",
            "memory",
            "memory_percent",
            "cpu_times",
            "cpu_percent",
            "executable",
            "cmd_line",
            "num_open_file_descriptors",
            "num_connections",
            "io_counters",
            "num_open_files",
            "num_threads",
            "num_ctx_switches",
        ],
    );
    check("/process/memory", &["rss", "vms", "shared", "text", "lib", "data", "dirty"]);
    check("/process/cpu_times", &["user", "system", "children_user", "children_system", "iowait"]);
    check(
        "/process/io_counters",
        &["read_count", "write_count", "read_bytes", "write_bytes", "read_chars", "write_chars"],
    );
    check("/process/num_ctx_switches", &["voluntary", "involuntary"]);
    check(
        "/memory/virtual",
        &[
            "total",
            "available",
            "percent",
            "used",
            "free",
            "active",
            "inactive",
            "buffers",
            "cached",
            "shared",
            "slab",
        ],
    );
    check("/memory/swap", &["total", "used", "free", "percent", "sin", "sout"]);
    check("/disk/disk_usage", &["total", "used", "free", "percent"]);
    check("/network", &["netio_sum", "netio_per_interface"]);
    check("/network/netio_sum", &traffic);
}

#[test]
fn a_capture_may_move_between_threads() {
    fn can_be_sent<T: Send>(_: &T) {}
    can_be_sent(&TelemetryCapture::new(&all_off()));
}
