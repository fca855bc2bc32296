//! The other sides within this process: bare reads and sysinfo.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;

use serde_json::Value;
use sysinfo::{Disks, Networks, Pid, ProcessRefreshKind, ProcessesToUpdate, System};
use telemetry_sensors::{Telemetry, TelemetryCapture};

const BUFFER_BYTES: usize = 16 * 1024;

/// The files that a capture reads, read once each and not looked at.
pub(crate) struct Bare {
    files: Vec<File>,
    buffer: Vec<u8>,
}

impl Bare {
    /// Of this capture, the only one that exists.
    pub(crate) fn new(capture: &mut TelemetryCapture) -> io::Result<Self> {
        let snapshot = capture.capture().map(Telemetry::to_json).unwrap_or_default();
        let open = open_files()?;
        let names = open.iter().filter(|name| is_read(name, &open, &snapshot));
        let files = names.map(File::open).collect::<io::Result<_>>()?;
        Ok(Self { files, buffer: vec![0; BUFFER_BYTES] })
    }

    pub(crate) fn read(&mut self) {
        for file in &self.files {
            black_box(read(file, &mut self.buffer));
        }
    }
}

/// Whether every fast reading reads the file: some are kept open for machines that need them.
fn is_read(name: &str, open: &BTreeSet<String>, snapshot: &Value) -> bool {
    match name.rsplit('/').next() {
        Some("task") => false,
        Some("stat") if name.starts_with("/proc/") => name == "/proc/stat",
        // Where single disks have files of their own open, these are read instead.
        Some("diskstats") => !open.iter().any(|name| name.contains("/block/") && name.ends_with("/stat")),
        Some("vmstat") => snapshot["memory"]["swap"]["total"] != 0,
        Some("cpu.stat") => snapshot["cgroup"]["cpu"]["limit"].is_number(),
        _ => true,
    }
}

/// The names of the kernel's files that this process holds open.
fn open_files() -> io::Result<BTreeSet<String>> {
    let entries = fs::read_dir("/proc/self/fd")?;
    let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let names = targets.map(|target| target.to_string_lossy().replace(" (deleted)", ""));
    Ok(names.filter(|name| name.starts_with("/proc/") || name.starts_with("/sys/")).collect())
}

fn read(file: &File, buffer: &mut [u8]) -> usize {
    file.read_at(buffer, 0).unwrap_or(0)
}

/// The same readings, as far as sysinfo has them.
pub(crate) struct Sysinfo {
    system: System,
    networks: Networks,
    disks: Disks,
    pid: Pid,
}

impl Sysinfo {
    pub(crate) fn new() -> Self {
        Self {
            system: System::new_all().expect("a known system"),
            networks: Networks::new_with_refreshed_list().expect("a known system"),
            disks: Disks::new_with_refreshed_list().expect("a known system"),
            pid: Pid::from_u32(std::process::id()),
        }
    }

    pub(crate) fn read(&mut self) {
        self.system.refresh_cpu_usage();
        self.system.refresh_memory();
        // Tasks, for the number of threads is a key too.
        let kind = ProcessRefreshKind::nothing().with_cpu().with_memory().with_disk_usage().with_tasks();
        self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[self.pid]), false, kind);
        self.networks.refresh(false);
        self.disks.refresh(false);
        black_box(self.system.cgroup_limits());
    }
}
