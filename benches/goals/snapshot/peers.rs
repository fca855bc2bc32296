//! The other sides: bare reads, sysinfo, psutil.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sysinfo::{Disks, Networks, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::options::Options;

const SCRIPT: &str = include_str!("psutil_snapshots.py");

/// The files that a capture reads, read once each and not looked at.
pub(crate) struct Bare {
    files: Vec<File>,
}

impl Bare {
    /// Of the captures that exist by now.
    pub(crate) fn new() -> io::Result<Self> {
        let swap = fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1);
        let names = open_files()?.into_iter().filter(|name| swap || !name.ends_with("/vmstat"));
        let opened = names.filter_map(|name| Some((File::open(&name).ok()?, name)));
        let readable: Vec<_> = opened.filter(|(file, _)| read(file) > 0).collect();
        Ok(Self { files: readable.into_iter().map(|(file, _)| file).collect() })
    }

    pub(crate) fn read(&self) {
        for file in &self.files {
            black_box(read(file));
        }
    }
}

/// The names of the kernel's files that this process holds open.
fn open_files() -> io::Result<BTreeSet<String>> {
    let entries = fs::read_dir("/proc/self/fd")?;
    let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let names = targets.map(|target| target.to_string_lossy().replace(" (deleted)", ""));
    Ok(names.filter(|name| name.starts_with("/proc/") || name.starts_with("/sys/")).collect())
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
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        let python = options.python.as_ref().ok_or("psutil could not be had here: no Python given")?;
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("psutil could not be had here: {error}"))?;
        let (question, answers) = child.stdin.take().zip(child.stdout.take()).ok_or("it has no pipes")?;
        let mut psutil = Self { child, question, answers: BufReader::new(answers) };
        match psutil.ask(1) {
            Some(_) => Ok(psutil),
            None => Err("psutil could not be had here: it did not start".to_owned()),
        }
    }

    fn ask(&mut self, count: usize) -> Option<f64> {
        writeln!(self.question, "{count}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }

    /// Nanoseconds a snapshot.
    pub(crate) fn time(&mut self, count: usize) -> f64 {
        self.ask(count).expect("psutil answers with a number")
    }
}

impl Drop for Psutil {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
