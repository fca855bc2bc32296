//! Linux: files under /proc and /sys, kept open and read in place.
//!
//! A kept-open file costs one system call a reading and no path lookup. The files of a process belong to
//! the process that opened them, so a forked child opens them anew.

mod cgroup;
mod cpu;
mod descriptors;
mod disk;
mod file;
mod frequency;
mod link;
pub(crate) mod machine;
mod media;
mod memory;
mod network;
mod own;
mod process;
mod roots;
mod scan;

use crate::backend::{Backend, Wanted};
use crate::telemetry::Telemetry;

use file::Buffer;
pub(crate) use roots::Roots;

/// The readers that the toggles ask for.
#[derive(Debug)]
pub(crate) struct Linux {
    roots: Roots,
    wanted: Wanted,
    pid: u32,
    buffer: Buffer,
    process: Option<process::Reader>,
    cpu: Option<cpu::Reader>,
    memory: Option<memory::Reader>,
    network: Option<network::Reader>,
    disk: Option<disk::Reader>,
    cgroup: Option<cgroup::Reader>,
}

impl Linux {
    pub(crate) fn open_at(roots: Roots, wanted: Wanted) -> Self {
        Self {
            wanted,
            pid: std::process::id(),
            buffer: Buffer::default(),
            process: wanted.process.then(|| process::Reader::open(&roots)),
            cpu: wanted.any_cpu().then(|| cpu::Reader::open(&roots, wanted)),
            memory: wanted.memory.then(|| memory::Reader::open(&roots)),
            network: wanted.network.then(|| network::Reader::open(&roots)),
            disk: wanted.disk.then(|| disk::Reader::open(&roots)),
            cgroup: wants_cgroup(wanted).then(|| cgroup::Reader::open(&roots)),
            roots,
        }
    }

    fn follow_fork(&mut self) -> bool {
        let forked = self.pid != std::process::id();
        if forked {
            *self = Self::open_at(self.roots.clone(), self.wanted);
        }
        forked
    }
}

/// A control group limits memory and processors: its block belongs to both toggles, so that each of them
/// alone gives its own block and nothing else.
fn wants_cgroup(wanted: Wanted) -> bool {
    wanted.cpu && wanted.memory
}

impl Backend for Linux {
    fn open(wanted: Wanted) -> Self {
        Self::open_at(Roots::default(), wanted)
    }

    fn read(&mut self, slow: bool, telemetry: &mut Telemetry) {
        let slow = self.follow_fork() || slow;
        let buffer = &mut self.buffer;
        if let Some(reader) = &mut self.process {
            reader.read(buffer, slow, telemetry.process.get_or_insert_default());
        }
        if let Some(reader) = &mut self.cpu {
            reader.read(buffer, slow, telemetry.cpu.get_or_insert_default());
        }
        if let Some(reader) = &mut self.memory {
            reader.read(buffer, telemetry.memory.get_or_insert_default());
        }
        if let Some(reader) = &mut self.network {
            reader.read(buffer, telemetry.network.get_or_insert_default());
        }
        if let Some(reader) = &mut self.disk {
            reader.read(buffer, slow, telemetry.disk.get_or_insert_default());
        }
        if let Some(reader) = &mut self.cgroup {
            reader.read(buffer, slow, &mut telemetry.cgroup);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ALL: Wanted =
        Wanted { cpu: true, per_cpu: true, process: true, memory: true, disk: true, network: true };

    fn read(linux: &mut Linux) -> serde_json::Value {
        let mut telemetry = Telemetry::default();
        linux.read(true, &mut telemetry);
        telemetry.to_json()
    }

    #[test]
    fn what_is_hidden_costs_its_keys_and_never_the_block() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        let mut json = read(&mut Linux::open_at(roots, ALL));
        let process = json["process"].as_object_mut().unwrap();
        assert_eq!(
            process.keys().collect::<Vec<_>>(),
            ["pid", "cpu_number", "cpu_percent", "num_ctx_switches"]
        );
        assert_eq!(json["disk"].as_object().unwrap().keys().collect::<Vec<_>>(), ["disk_usage"]);
        for block in ["cpu", "memory", "network"] {
            assert_eq!(json[block], serde_json::json!({}), "{block}");
        }
    }

    #[test]
    fn a_file_that_disappears_takes_its_keys_along() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        let meminfo = folder.path().join("meminfo");
        fs::write(&meminfo, "MemTotal: 8 kB\nMemFree: 2 kB\nMemAvailable: 4 kB\n").unwrap();
        let mut linux = Linux::open_at(roots, ALL);
        let mut telemetry = Telemetry::default();
        linux.read(true, &mut telemetry);
        assert_eq!(
            telemetry.memory.and_then(|memory| memory.virtual_memory).map(|memory| memory.total),
            Some(8192)
        );
        fs::write(&meminfo, "").unwrap();
        linux.read(false, &mut telemetry);
        assert_eq!(telemetry.memory.and_then(|memory| memory.virtual_memory), None);
    }

    #[test]
    fn a_forked_child_opens_its_own_files() {
        let mut linux = Linux::open_at(Roots::default(), ALL);
        linux.pid = 0;
        assert!(linux.follow_fork());
        assert!(!linux.follow_fork());
        assert_eq!(read(&mut linux)["process"]["pid"], std::process::id());
    }
}
