//! The other sides: bare reads, sysinfo, psutil.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sysinfo::{Disks, Networks, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The files that a capture reads, read once each and not looked at.
pub(crate) struct Bare {
    files: Vec<File>,
}

impl Bare {
    /// Of the captures that exist by now.
    pub(crate) fn new() -> Self {
        let swap = fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1);
        let names = open_files().into_iter().filter(|name| swap || !name.ends_with("/vmstat"));
        let opened = names.filter_map(|name| Some((File::open(&name).ok()?, name)));
        let readable: Vec<_> = opened.filter(|(file, _)| read(file) > 0).collect();
        for (_, name) in &readable {
            println!("# {name}");
        }
        Self { files: readable.into_iter().map(|(file, _)| file).collect() }
    }

    pub(crate) fn read(&self) {
        for file in &self.files {
            black_box(read(file));
        }
    }
}

/// The names of the kernel's files that this process holds open.
fn open_files() -> BTreeSet<String> {
    let entries = fs::read_dir("/proc/self/fd").expect("descriptors are listed");
    let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let names = targets.map(|target| target.to_string_lossy().replace(" (deleted)", ""));
    names.filter(|name| name.starts_with("/proc/") || name.starts_with("/sys/")).collect()
}

fn read(file: &File) -> usize {
    let mut buffer = [0; 16 * 1024];
    file.read_at(&mut buffer, 0).unwrap_or(0)
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

/// A Python that takes snapshots with psutil when asked to.
pub(crate) struct Psutil {
    child: Child,
    question: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Psutil {
    #[expect(clippy::disallowed_methods, reason = "a variable of the tests, not of the project")]
    pub(crate) fn start() -> Option<Self> {
        let python = std::env::var("TELEMETRY_TEST_PSUTIL_PYTHON").ok()?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/snapshot/psutil_snapshots.py");
        let mut command = Command::new(python);
        let mut child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let (question, answers) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { child, question, answers })
    }

    /// Nanoseconds a snapshot.
    pub(crate) fn time(&mut self, count: usize) -> f64 {
        writeln!(self.question, "{count}").expect("psutil listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("psutil answers");
        line.trim().parse().expect("psutil is installed")
    }
}

impl Drop for Psutil {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
