//! psutil as the oracle: psutil looks, we look, psutil looks again, at the same process and host.
//!
//! The variable `TELEMETRY_TEST_PSUTIL_PYTHON` names a Python that has psutil. Counters must lie between
//! the two looks of psutil, constants must be equal, gauges must be within the two and 5 % around them.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
use telemetry_core::settings::Settings;
use telemetry_sensors::{NetworkAddress, TelemetryCapture, machine_info};

const PYTHON: &str = "TELEMETRY_TEST_PSUTIL_PYTHON";

/// Reading all keys takes psutil milliseconds, and gauges may leave their bounds and return meanwhile: a key
/// is wrong that disagrees every time.
const ROUNDS_MAX: usize = 10;

const COUNTERS: &[&str] = &[
    "/cpu/times_avg/user",
    "/cpu/times_avg/nice",
    "/cpu/times_avg/system",
    "/cpu/times_avg/idle",
    "/cpu/times_avg/iowait",
    "/cpu/times_avg/irq",
    "/cpu/times_avg/softirq",
    "/cpu/times_avg/steal",
    "/cpu/times_avg/guest",
    "/cpu/times_avg/guest_nice",
    "/cpu/times_per_cpu/0/user",
    "/cpu/times_per_cpu/0/nice",
    "/cpu/times_per_cpu/0/system",
    "/cpu/times_per_cpu/0/idle",
    "/cpu/times_per_cpu/0/iowait",
    "/cpu/times_per_cpu/0/irq",
    "/cpu/times_per_cpu/0/softirq",
    "/cpu/times_per_cpu/0/steal",
    "/cpu/times_per_cpu/0/guest",
    "/cpu/times_per_cpu/0/guest_nice",
    "/process/cpu_times/user",
    "/process/cpu_times/system",
    "/process/cpu_times/children_user",
    "/process/cpu_times/children_system",
    "/process/cpu_times/iowait",
    "/process/io_counters/read_count",
    "/process/io_counters/write_count",
    "/process/io_counters/read_bytes",
    "/process/io_counters/write_bytes",
    "/process/io_counters/read_chars",
    "/process/io_counters/write_chars",
    "/process/num_ctx_switches/voluntary",
    "/process/num_ctx_switches/involuntary",
    "/memory/swap/sin",
    "/memory/swap/sout",
    "/disk/io_sum/read_count",
    "/disk/io_sum/write_count",
    "/disk/io_sum/read_bytes",
    "/disk/io_sum/write_bytes",
    "/disk/io_sum/read_time",
    "/disk/io_sum/write_time",
    "/disk/io_sum/read_merged_count",
    "/disk/io_sum/write_merged_count",
    "/disk/io_sum/busy_time",
    "/network/netio_sum/bytes_sent",
    "/network/netio_sum/bytes_recv",
    "/network/netio_sum/packets_sent",
    "/network/netio_sum/packets_recv",
    "/network/netio_sum/errin",
    "/network/netio_sum/errout",
    "/network/netio_sum/dropin",
    "/network/netio_sum/dropout",
    "/network/netio_per_interface/lo/bytes_sent",
    "/network/netio_per_interface/lo/packets_recv",
];

const CONSTANTS: &[&str] = &[
    "/process/pid",
    "/process/executable",
    "/process/cmd_line",
    "/process/num_open_file_descriptors",
    "/process/num_connections",
    "/process/num_open_files",
    "/process/num_threads",
    "/process/memory/text",
    "/process/memory/lib",
    "/process/memory/dirty",
    "/memory/virtual/total",
    "/memory/swap/total",
    "/disk/disk_usage/total",
];

const GAUGES: &[&str] = &[
    "/cpu/frequency",
    "/process/memory/rss",
    "/process/memory/vms",
    "/process/memory/shared",
    "/process/memory/data",
    "/process/memory_percent",
    "/memory/virtual/available",
    "/memory/virtual/percent",
    "/memory/virtual/used",
    "/memory/virtual/free",
    "/memory/virtual/active",
    "/memory/virtual/inactive",
    "/memory/virtual/buffers",
    "/memory/virtual/cached",
    "/memory/virtual/shared",
    "/memory/virtual/slab",
    "/memory/swap/used",
    "/memory/swap/free",
    "/memory/swap/percent",
    "/disk/disk_usage/used",
    "/disk/disk_usage/free",
    "/disk/disk_usage/percent",
];

/// Names of the processors, disks and interfaces, which must be the same ones.
const SETS: &[&str] =
    &["/cpu/times_per_cpu", "/disk/io_per_disk", "/network/netio_per_interface", "/memory/virtual"];

#[test]
fn psutil_agrees() {
    assert!(COUNTERS.len() + CONSTANTS.len() + GAUGES.len() >= 60);
    let Some(python) = python() else {
        println!("psutil was not asked: {PYTHON} is not set");
        return;
    };
    let _held = HeldDescriptors::new();
    let mut psutil = Psutil::start(&python);
    let mut capture = capture();
    assert_eq!(addresses(), psutil.look()["addresses"]);
    let mut round = || {
        let before = psutil.look();
        let ours = capture.capture().unwrap().to_json();
        compare(&before, &ours, &psutil.look())
    };
    let mut mismatches = round();
    for _ in 1..ROUNDS_MAX {
        if mismatches.is_empty() {
            return;
        }
        let latest = round();
        mismatches.retain(|path, _| latest.contains_key(path));
    }
    assert!(mismatches.is_empty(), "psutil differs: {mismatches:#?}");
}

/// The addresses of each interface, each as text.
fn addresses() -> Value {
    let machine = machine_info(&Settings::default().telemetry_capture, &[]);
    let as_text = |address: &NetworkAddress| {
        let NetworkAddress { family, address, netmask, broadcast, ptp, .. } = address;
        serde_json::to_string(&(family, address, netmask, broadcast, ptp)).expect("an address is text")
    };
    let sorted = |addresses: &Vec<NetworkAddress>| {
        let mut texts: Vec<_> = addresses.iter().map(as_text).collect();
        texts.sort();
        texts
    };
    machine.network.iter().map(|(name, addresses)| (name.clone(), sorted(addresses))).collect()
}

/// The keys that disagree, with the three values.
fn compare(before: &Value, ours: &Value, after: &Value) -> BTreeMap<String, [Value; 3]> {
    let mut mismatches = BTreeMap::new();
    let mut check = |paths: &[&str], agrees: fn(&Value, &Value, &Value) -> bool| {
        for path in paths {
            let [before, ours, after] =
                [before, ours, after].map(|json| json.pointer(path).cloned().unwrap_or_default());
            if !agrees(&before, &ours, &after) {
                mismatches.insert((*path).to_owned(), [before, ours, after]);
            }
        }
    };
    check(COUNTERS, |before, ours, after| between(before, ours, after, 0.0));
    check(GAUGES, |before, ours, after| between(before, ours, after, 0.05));
    check(CONSTANTS, |before, ours, after| before == ours && ours == after && !ours.is_null());
    check(SETS, |before, ours, after| names(before) == names(ours) && names(ours) == names(after));
    mismatches
}

fn between(before: &Value, ours: &Value, after: &Value, slack: f64) -> bool {
    let (Some(before), Some(ours), Some(after)) = (before.as_f64(), ours.as_f64(), after.as_f64()) else {
        return false;
    };
    before.min(after) * (1.0 - slack) <= ours && ours <= before.max(after) * (1.0 + slack)
}

fn names(json: &Value) -> Vec<String> {
    match json {
        Value::Object(entries) => {
            let mut names: Vec<_> = entries.keys().cloned().collect();
            names.sort();
            names
        }
        Value::Array(entries) => vec![entries.len().to_string()],
        other => panic!("neither names nor a list: {other}"),
    }
}

fn capture() -> TelemetryCapture {
    let mut settings = Settings::default().telemetry_capture;
    settings.max_age_ms = 0;
    settings.slow_age_ms = 0;
    TelemetryCapture::new(&settings)
}

#[expect(clippy::disallowed_methods, reason = "a variable of the tests, not of the project")]
fn python() -> Option<String> {
    std::env::var(PYTHON).ok()
}

/// Something of each kind to count.
struct HeldDescriptors {
    _file: File,
    _tcp: TcpListener,
    _udp: UdpSocket,
}

impl HeldDescriptors {
    fn new() -> Self {
        Self {
            _file: tempfile::tempfile().expect("a temporary file"),
            _tcp: TcpListener::bind("127.0.0.1:0").expect("a free port"),
            _udp: UdpSocket::bind("127.0.0.1:0").expect("a free port"),
        }
    }
}

struct Psutil {
    child: Child,
    question: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Psutil {
    fn start(python: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/psutil/readings.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{PYTHON} names {python}, which does not start: {error}"));
        let question = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, question, answers }
    }

    fn look(&mut self) -> Value {
        writeln!(self.question, "{}", std::process::id()).expect("psutil listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("psutil answers");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("psutil said nothing: is it installed?"))
    }
}

impl Drop for Psutil {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
