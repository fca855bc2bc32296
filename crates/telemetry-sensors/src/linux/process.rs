//! The block `process` from the files of /proc/self.

use std::fs;
use std::time::{Duration, Instant};

use memchr::memrchr;

use super::cpu::ticks_per_second;
use super::descriptors;
use super::file::{Buffer, KeptFile};
use super::link;
use super::memory;
use super::own::{self, Usage};
use super::roots::Roots;
use super::scan::{lines, number_after, words};
use crate::telemetry::{IoCounters, Process, ProcessCpuTimes, ProcessMemory};

/// Reads the block `process`.
#[derive(Debug)]
pub(crate) struct Reader {
    roots: Roots,
    stat: KeptFile,
    statm: KeptFile,
    io: KeptFile,
    own: own::Reader,
    /// The process has waited for disks, where the kernel counts that at all.
    has_waited: bool,
    page_bytes: u64,
    ticks_per_second: f64,
    memory_total: Option<u64>,
    load: Load,
    has_constants: bool,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        let kept = |name: &str| KeptFile::open(roots.proc.join("self").join(name));
        Self {
            stat: kept("stat"),
            statm: kept("statm"),
            io: kept("io"),
            own: own::Reader::open(roots),
            has_waited: true,
            page_bytes: memory::page_bytes(),
            ticks_per_second: ticks_per_second(),
            memory_total: memory::total(roots),
            load: Load::start(),
            has_constants: false,
            roots: roots.clone(),
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut Buffer, slow: bool, process: &mut Process) {
        if !self.has_constants {
            self.read_constants(process);
        }
        let usage = Usage::of_process();
        let own = if slow || self.has_waited { None } else { self.own.read(usage, self.ticks_per_second) };
        let stat = own.or_else(|| self.read_stat(buffer));
        process.cpu_times = stat.map(|stat| stat.cpu_times(self.ticks_per_second));
        process.num_threads = stat.map(|stat| stat.threads);
        process.cpu_number = own::processor();
        process.num_ctx_switches = usage.map(|usage| usage.switches);
        process.memory = self.statm.read(buffer).and_then(|text| parse_statm(text, self.page_bytes));
        process.memory_percent = process.memory.and_then(|memory| self.memory_percent(memory.rss));
        process.cpu_percent = self.load.percent(usage);
        process.io_counters = self.io.read(buffer).and_then(parse_io);
        if slow {
            self.read_descriptors(process);
        }
    }

    fn read_constants(&mut self, process: &mut Process) {
        let own = self.roots.proc.join("self");
        let lossy = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
        process.pid = std::process::id();
        process.executable = link::target(&own.join("exe")).map(lossy);
        process.cmd_line = fs::read(own.join("cmdline")).ok().map(|text| parse_cmd_line(&text));
        self.has_constants = true;
    }

    fn read_stat(&mut self, buffer: &mut Buffer) -> Option<Stat> {
        let stat = self.stat.read(buffer).and_then(Stat::parse);
        self.has_waited = stat.is_none_or(|stat| stat.block_io_ticks > 0);
        stat
    }

    fn read_descriptors(&self, process: &mut Process) {
        let counts = descriptors::count(&self.roots);
        process.num_open_file_descriptors = counts.map(|counts| counts.all);
        process.num_open_files = counts.map(|counts| counts.files);
        process.num_connections = counts.and_then(|counts| counts.connections);
    }

    fn memory_percent(&self, rss: u64) -> Option<f64> {
        self.memory_total.filter(|total| *total > 0).map(|total| rss as f64 / total as f64 * 100.0)
    }
}

/// How much of one processor this process uses, from times that are finer than the ticks of
/// /proc/self/stat, so that short times between two readings give true values.
#[derive(Clone, Copy, Debug)]
struct Load {
    at: Instant,
    cpu_time: Option<Duration>,
    percent: Option<f64>,
}

impl Load {
    fn start() -> Self {
        Self::now(Usage::of_process())
    }

    fn now(usage: Option<Usage>) -> Self {
        Self { at: Instant::now(), cpu_time: usage.map(|usage| usage.cpu_time()), percent: None }
    }

    fn percent(&mut self, usage: Option<Usage>) -> Option<f64> {
        let now = Self::now(usage);
        let passed = (now.at - self.at).as_secs_f64();
        let used = now.cpu_time?.saturating_sub(self.cpu_time?).as_secs_f64();
        if passed > 0.0 {
            *self = Self { percent: Some((used / passed * 1e5).round() / 1e3), ..now };
        }
        self.percent
    }
}

/// The fields of /proc/self/stat that are of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) ticks: [u64; 4],
    pub(crate) threads: u64,
    pub(crate) block_io_ticks: u64,
}

impl Stat {
    /// The name of the program may hold blanks and parentheses, so the last one ends it.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let mut fields = words(text.get(memrchr(b')', text)? + 1..)?);
        fields.skip_words(11);
        let mut ticks = [0; 4];
        for tick in &mut ticks {
            // Waited-for children are signed in the kernel; a broken one is no reason to lose the rest.
            *tick = fields.next().and_then(super::scan::number)?;
        }
        fields.skip_words(2);
        let threads = fields.number()?;
        fields.skip_words(21);
        Some(Self { ticks, threads, block_io_ticks: fields.number().unwrap_or(0) })
    }

    fn cpu_times(&self, ticks_per_second: f64) -> ProcessCpuTimes {
        let [user, system, children_user, children_system] =
            self.ticks.map(|ticks| ticks as f64 / ticks_per_second);
        let iowait = self.block_io_ticks as f64 / ticks_per_second;
        ProcessCpuTimes { user, system, children_user, children_system, iowait }
    }
}

fn parse_statm(text: &[u8], page_bytes: u64) -> Option<ProcessMemory> {
    let mut fields = words(text);
    let mut bytes = || fields.number().map(|pages| pages.wrapping_mul(page_bytes));
    let (vms, rss) = (bytes()?, bytes()?);
    let (shared, text, lib, data, dirty) = (bytes(), bytes(), bytes(), bytes(), bytes());
    Some(ProcessMemory { rss, vms, shared, text, lib, data, dirty })
}

fn parse_io(text: &[u8]) -> Option<IoCounters> {
    let next = |key: &[u8]| lines(text).find_map(|line| number_after(line, key));
    let (read_chars, write_chars) = (next(b"rchar: "), next(b"wchar: "));
    let (read_count, write_count) = (next(b"syscr: "), next(b"syscw: "));
    let (read_bytes, write_bytes) = (next(b"read_bytes: ")?, next(b"write_bytes: ")?);
    Some(IoCounters { read_count, write_count, read_bytes, write_bytes, read_chars, write_chars })
}

/// Arguments end with a zero byte each; programs that rename themselves put blanks between them.
fn parse_cmd_line(text: &[u8]) -> Vec<String> {
    let (arguments, separator) = match text.strip_suffix(b"\0") {
        Some(arguments) if arguments.contains(&0) || !arguments.contains(&b' ') => (arguments, 0),
        Some(arguments) => (arguments, b' '),
        None => (text.strip_suffix(b" ").unwrap_or(text), b' '),
    };
    if text.is_empty() {
        return Vec::new();
    }
    let argument = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    arguments.split(|byte| *byte == separator).map(argument).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "5611 (a) b (c) R 5602 5602 3353 0 -1 4194304 102 0 0 0 11 12 13 14 20 0 7 0 127485 \
        3133440 388 18446744073709551615 1 2 3 0 0 0 0 0 0 0 0 0 17 3 0 0 21 0 0 1 2 3 4 5 6 7 0\n";

    #[test]
    fn stat_behind_a_strange_name() {
        let stat = Stat::parse(STAT.as_bytes()).unwrap();
        let expected = Stat { ticks: [11, 12, 13, 14], threads: 7, block_io_ticks: 21 };
        assert_eq!(stat, expected);
        let times = serde_json::to_string(&stat.cpu_times(100.0)).unwrap();
        let expected =
            r#"{"user":0.11,"system":0.12,"children_user":0.13,"children_system":0.14,"iowait":0.21}"#;
        assert_eq!(times, expected);
    }

    #[test]
    fn stat_that_ends_early() {
        let short = &STAT[..STAT.find(" 127485").unwrap()];
        let stat = Stat::parse(short.as_bytes()).unwrap();
        assert_eq!((stat.threads, stat.block_io_ticks), (7, 0));
        assert_eq!(Stat::parse(b"1 (x) R 1"), None);
        assert_eq!(Stat::parse(b"no parenthesis"), None);
    }

    #[test]
    fn memory_is_pages() {
        let memory = parse_statm(b"765 433 404 5 0 123 0\n", 4096).unwrap();
        let json = serde_json::to_string(&memory).unwrap();
        let expected =
            r#"{"rss":1773568,"vms":3133440,"shared":1654784,"text":20480,"lib":0,"data":503808,"dirty":0}"#;
        assert_eq!(json, expected);
        assert_eq!(parse_statm(b"765", 4096), None);
    }

    #[test]
    fn traffic() {
        let io = parse_io(b"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n");
        let expected = IoCounters {
            read_count: Some(3),
            write_count: Some(4),
            read_bytes: 5,
            write_bytes: 6,
            read_chars: Some(1),
            write_chars: Some(2),
        };
        assert_eq!(io, Some(expected));
        assert_eq!(parse_io(b""), None);
    }

    #[test]
    fn arguments_of_all_kinds() {
        assert_eq!(parse_cmd_line(b"a\0b c\0\0"), ["a", "b c", ""]);
        assert_eq!(parse_cmd_line(b"renamed to this\0"), ["renamed", "to", "this"]);
        assert_eq!(parse_cmd_line(b"renamed without end"), ["renamed", "without", "end"]);
        assert_eq!(parse_cmd_line(b""), Vec::<String>::new());
    }

    #[test]
    fn the_load_is_that_of_the_time_since_the_last_reading() {
        let mut load = Load::start();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(20) {
            std::hint::black_box(0);
        }
        assert!(load.percent(Usage::of_process()) > Some(1.0), "{load:?}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "([a-z_]{0,6}[:()]? *[0-9\n-]{0,30}){0,60}", noise: Vec<u8>) {
            for text in [text.as_bytes(), &noise] {
                Stat::parse(text);
                parse_statm(text, 4096);
                parse_io(text);
                parse_cmd_line(text);
            }
        }
    }
}
