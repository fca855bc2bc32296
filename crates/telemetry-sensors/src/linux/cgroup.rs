//! The block `cgroup`, from version 2 of control groups or from version 1.
//!
//! A limit may stand in any group above this process's own, so limits are the least of all; they rarely
//! change and are read as slow keys. What is used is read from kept-open files of the own group.

mod place;

use std::fs;
use std::path::{Path, PathBuf};

use super::file::{Buffer, KeptFile};
use super::roots::Roots;
use super::scan::{lines, number, number_after, words};
use crate::percent;
use crate::telemetry::{Cgroup, CgroupCpu, CgroupMemory};

use place::{Place, Texts, Version};

/// Version 1 says "no limit" with a number near the largest one.
const UNLIMITED_BYTES: u64 = 1 << 62;

/// Reads the block `cgroup`.
#[derive(Debug)]
pub(crate) struct Reader {
    memory: Option<(Place, KeptFile)>,
    cpu: Option<(Place, KeptFile)>,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        let texts = Texts::read(roots);
        let kept = |controller, file_two, file_one| {
            texts.as_ref().and_then(|texts| texts.find(controller, file_two, file_one)).map(Place::kept)
        };
        Self {
            memory: kept("memory", "memory.current", "memory.usage_in_bytes"),
            cpu: kept("cpu", "cpu.stat", "cpu.stat"),
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut Buffer, slow: bool, cgroup: &mut Option<Cgroup>) {
        if let Some((place, file)) = &self.memory {
            let memory = cgroup.get_or_insert_default().memory.get_or_insert_default();
            read_memory(place, file.read(buffer), slow, memory);
        }
        if let Some((place, file)) = &self.cpu {
            let cpu = cgroup.get_or_insert_default().cpu.get_or_insert_default();
            // Without a quota nothing is throttled, so the counters stand still.
            if slow || cpu.limit.is_some() {
                read_cpu(place, file.read(buffer), slow, cpu);
            }
        }
    }
}

fn read_memory(place: &Place, text: Option<&[u8]>, slow: bool, memory: &mut CgroupMemory) {
    if slow {
        memory.limit = memory_limit(place);
    }
    memory.used = text.and_then(number);
    memory.percent = memory.used.zip(memory.limit).map(|(used, limit)| percent::of(used, limit));
}

fn memory_limit(place: &Place) -> Option<u64> {
    let name = match place.version {
        Version::Two => "memory.max",
        Version::One => "memory.limit_in_bytes",
    };
    let limits = place.groups().filter_map(|group| read_number(&group.join(name)));
    limits.filter(|limit| *limit < UNLIMITED_BYTES).min()
}

fn read_cpu(place: &Place, text: Option<&[u8]>, slow: bool, cpu: &mut CgroupCpu) {
    if slow {
        cpu.limit = place.groups().filter_map(|group| cpu_limit(place.version, &group)).reduce(f64::min);
    }
    parse_cpu_stat(text.unwrap_or_default(), cpu);
}

fn cpu_limit(version: Version, group: &Path) -> Option<f64> {
    let (quota, period) = match version {
        Version::Two => {
            let text = fs::read(group.join("cpu.max")).ok()?;
            let mut fields = words(&text);
            // The quota is the word `max` where there is none.
            (fields.number()?, fields.number()?)
        }
        Version::One => {
            // The quota is -1 where there is none.
            (read_number(&group.join("cpu.cfs_quota_us"))?, read_number(&group.join("cpu.cfs_period_us"))?)
        }
    };
    (period > 0).then(|| quota as f64 / period as f64)
}

/// The time is in microseconds in version 2 and in nanoseconds in version 1; its name tells which.
fn parse_cpu_stat(text: &[u8], cpu: &mut CgroupCpu) {
    (cpu.periods, cpu.throttled_periods, cpu.throttled_time) = (None, None, None);
    for line in lines(text) {
        let seconds = |key, unit: f64| number_after(line, key).map(|time| time as f64 / unit);
        cpu.periods = cpu.periods.or_else(|| number_after(line, b"nr_periods "));
        cpu.throttled_periods = cpu.throttled_periods.or_else(|| number_after(line, b"nr_throttled "));
        let time = seconds(b"throttled_usec ", 1e6).or_else(|| seconds(b"throttled_time ", 1e9));
        cpu.throttled_time = cpu.throttled_time.or(time);
    }
}

fn read_number(path: &PathBuf) -> Option<u64> {
    fs::read(path).ok().and_then(|text| number(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(roots: &Roots) -> String {
        let mut cgroup = None;
        Reader::open(roots).read(&mut Buffer::default(), true, &mut cgroup);
        serde_json::to_string(&cgroup).unwrap()
    }

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace("ROOT", root)).unwrap();
        }
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        (folder, roots)
    }

    #[test]
    fn version_2_takes_the_tightest_limit_of_all_groups_above() {
        let (_folder, roots) = tree(&[
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("proc/self/mountinfo", "31 23 0:28 / ROOT/cg rw,relatime shared:9 - cgroup2 cgroup2 rw\n"),
            ("cg/outer/memory.max", "1000\n"),
            ("cg/outer/cpu.max", "150000 100000\n"),
            ("cg/outer/inner/memory.max", "max\n"),
            ("cg/outer/inner/memory.current", "250\n"),
            ("cg/outer/inner/cpu.max", "max 100000\n"),
            (
                "cg/outer/inner/cpu.stat",
                "usage_usec 5\nnr_periods 7\nnr_throttled 3\nthrottled_usec 1500000\n",
            ),
        ]);
        let expected = r#"{"memory":{"limit":1000,"used":250,"percent":25.0},"cpu":{"limit":1.5,"periods":7,"throttled_periods":3,"throttled_time":1.5}}"#;
        assert_eq!(read(&roots), expected);
    }

    #[test]
    fn version_1_in_a_container_that_sees_its_own_group_as_the_root() {
        let (_folder, roots) = tree(&[
            ("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n"),
            (
                "proc/self/mountinfo",
                "32 31 0:29 /docker/abc ROOT/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                 35 31 0:32 /docker/abc ROOT/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/memory.usage_in_bytes", "42\n"),
            ("cpu/cpu.cfs_quota_us", "-1\n"),
            ("cpu/cpu.cfs_period_us", "100000\n"),
            ("cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"),
        ]);
        let expected =
            r#"{"memory":{"used":42},"cpu":{"periods":0,"throttled_periods":0,"throttled_time":0.0}}"#;
        assert_eq!(read(&roots), expected);
    }

    #[test]
    fn throttling_is_read_each_time_where_there_is_a_quota() {
        for (quota, expected) in [("150000 100000\n", Some(2)), ("max 100000\n", Some(1))] {
            let (folder, roots) = tree(&[
                ("proc/self/cgroup", "0::/own\n"),
                ("proc/self/mountinfo", "31 23 0:28 / ROOT/cg rw - cgroup2 cgroup2 rw\n"),
                ("cg/own/cpu.max", quota),
                ("cg/own/cpu.stat", "nr_throttled 1\n"),
            ]);
            let mut reader = Reader::open(&roots);
            let mut throttled_at = |slow: bool| {
                let mut cgroup = None;
                reader.read(&mut Buffer::default(), true, &mut cgroup);
                fs::write(folder.path().join("cg/own/cpu.stat"), "nr_throttled 2\n").unwrap();
                reader.read(&mut Buffer::default(), slow, &mut cgroup);
                cgroup.and_then(|cgroup| cgroup.cpu?.throttled_periods)
            };
            assert_eq!(throttled_at(false), expected, "{quota}");
            assert_eq!(throttled_at(true), Some(2), "{quota}");
        }
    }

    #[test]
    fn without_groups_there_is_no_block() {
        let (_folder, roots) = tree(&[("proc/self/cgroup", "")]);
        assert_eq!(read(&roots), "null");
    }
}
