//! The block `cpu` from /proc/stat.

use nix::unistd::{SysconfVar, sysconf};

use super::file::{Buffer, KeptFile};
use super::frequency;
use super::roots::Roots;
use super::scan::{Words, lines, words};
use crate::backend::Wanted;
use crate::percent;
use crate::telemetry::{Cpu, CpuTimes};

const FIELDS: usize = 10;
const IDLE: usize = 3;
const IOWAIT: usize = 4;
/// Time in a guest is part of `user` and `nice` already, so it is left out of sums.
const GUEST: usize = 8;

/// Reads the block `cpu`.
#[derive(Debug)]
pub(crate) struct Reader {
    roots: Roots,
    wanted: Wanted,
    stat: KeptFile,
    ticks_per_second: f64,
    all: Load,
    each: Vec<Load>,
}

impl Reader {
    pub(crate) fn open(roots: &Roots, wanted: Wanted) -> Self {
        Self {
            stat: KeptFile::open(roots.proc.join("stat")),
            roots: roots.clone(),
            wanted,
            ticks_per_second: ticks_per_second(),
            all: Load::default(),
            each: Vec::new(),
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut Buffer, slow: bool, cpu: &mut Cpu) {
        match self.stat.read(buffer) {
            Some(text) => self.parse(text, cpu),
            None => *cpu = Cpu { frequency: cpu.frequency, ..Cpu::default() },
        }
        if slow && self.wanted.cpu {
            cpu.frequency = frequency::mean_mhz(&self.roots);
        }
    }

    fn parse(&mut self, text: &[u8], cpu: &mut Cpu) {
        let mut cpu_lines = lines(text).map_while(|line| line.strip_prefix(b"cpu"));
        let all = cpu_lines.next().and_then(|line| Ticks::parse(words(line)));
        if self.wanted.cpu {
            cpu.times_avg = all.map(|ticks| ticks.times(self.ticks_per_second));
            cpu.percent_all = all.and_then(|ticks| self.all.percent_at(ticks, self.each.len()));
        }
        if self.wanted.per_cpu {
            self.parse_each(cpu_lines, cpu);
        }
    }

    fn parse_each<'a>(&mut self, cpu_lines: impl Iterator<Item = &'a [u8]>, cpu: &mut Cpu) {
        let times = cpu.times_per_cpu.get_or_insert_default();
        let percents = cpu.percent_per_cpu.get_or_insert_default();
        let count = self.each.len();
        times.clear();
        percents.clear();
        for line in cpu_lines {
            let mut line_words = words(line);
            line_words.skip_words(1);
            let Some(ticks) = Ticks::parse(line_words) else { continue };
            times.push(ticks.times(self.ticks_per_second));
            if self.each.len() < times.len() {
                self.each.push(Load::default());
            }
            let load = &mut self.each[times.len() - 1];
            percents.push(load.percent_at(ticks, 1).unwrap_or_default());
        }
        let found = times.len();
        if found < count {
            // A processor went away: the places of the others may have moved.
            self.each.clear();
        }
        if found == 0 {
            // There is always one, so the file is hidden.
            (cpu.times_per_cpu, cpu.percent_per_cpu) = (None, None);
        }
    }
}

pub(crate) fn ticks_per_second() -> f64 {
    let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().filter(|ticks| *ticks > 0);
    ticks.unwrap_or(100) as f64
}

/// The counters of one line of /proc/stat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    counters: [u64; FIELDS],
    len: usize,
}

impl Ticks {
    /// None without the seven counters that every kernel has.
    fn parse(mut words: Words<'_>) -> Option<Self> {
        let mut ticks = Self::default();
        while ticks.len < FIELDS {
            let Some(counter) = words.number() else { break };
            ticks.counters[ticks.len] = counter;
            ticks.len += 1;
        }
        (ticks.len >= 7).then_some(ticks)
    }

    fn times(&self, ticks_per_second: f64) -> CpuTimes {
        let seconds = |index: usize| self.counters[index] as f64 / ticks_per_second;
        let newer = |index: usize| (index < self.len).then(|| seconds(index));
        CpuTimes {
            user: seconds(0),
            nice: seconds(1),
            system: seconds(2),
            idle: seconds(3),
            iowait: seconds(4),
            irq: seconds(5),
            softirq: seconds(6),
            steal: newer(7),
            guest: newer(8),
            guest_nice: newer(9),
        }
    }

    /// What was counted since `earlier`, idle and in all; counters that went back count nothing.
    fn since(&self, earlier: &Self) -> (u64, u64) {
        let passed = |index: usize| self.counters[index].saturating_sub(earlier.counters[index]);
        let total = (0..GUEST).fold(0, |sum: u64, index| sum.wrapping_add(passed(index)));
        (passed(IDLE).wrapping_add(passed(IOWAIT)), total)
    }
}

/// How busy processors are: the difference between two readings that are at least a tick apart.
///
/// The first reading tells of the time since boot, which is all that it can know.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    earlier: Ticks,
    percent: Option<f64>,
}

impl Load {
    /// The load up to `now`. Within one tick of the kernel's clock nothing is counted yet; then the load
    /// is still the one before.
    fn percent_at(&mut self, now: Ticks, processors: usize) -> Option<f64> {
        let (idle, total) = now.since(&self.earlier);
        if total >= processors.max(1) as u64 {
            let busy = total.saturating_sub(idle);
            self.percent = Some(percent::rounded(busy as f64 / total as f64 * 100.0));
            self.earlier = now;
        }
        self.percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Wanted =
        Wanted { cpu: true, per_cpu: true, process: false, memory: false, disk: false, network: false };

    fn reader() -> Reader {
        let mut reader = Reader::open(&Roots::default(), BOTH);
        reader.ticks_per_second = 100.0;
        reader
    }

    fn parse(reader: &mut Reader, text: &str) -> serde_json::Value {
        let mut cpu = Cpu::default();
        reader.parse(text.as_bytes(), &mut cpu);
        serde_json::to_value(cpu).unwrap()
    }

    #[test]
    fn times_are_seconds_and_percentages_are_differences() {
        let mut reader = reader();
        let text = "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 100 0 100 800 0 0 0 0 0 0\nintr 1\n";
        let first = parse(&mut reader, text);
        assert_eq!(first["percent_all"], 20.0);
        assert_eq!(first["times_avg"]["idle"], 8.0);
        let text = "cpu  150 0 100 850 0 0 0 0 50 0\ncpu0 150 0 100 850 0 0 0 0 50 0\nintr 1\n";
        let second = parse(&mut reader, text);
        assert_eq!((&second["percent_all"], &second["percent_per_cpu"][0]), (&50.0.into(), &50.0.into()));
        assert_eq!(parse(&mut reader, text)["percent_all"], 50.0);
    }

    #[test]
    fn old_kernels_and_hidden_files_lack_keys() {
        let mut reader = reader();
        let old = parse(&mut reader, "cpu  1 2 3 4 5 6 7\n");
        let keys: Vec<_> = old["times_avg"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["user", "nice", "system", "idle", "iowait", "irq", "softirq"]);
        assert_eq!(parse(&mut reader, ""), serde_json::json!({}));
    }

    #[test]
    fn a_processor_may_come_and_go() {
        let mut reader = reader();
        let line = |name: &str| format!("{name} 1 2 3 4 5 6 7 8 9 10\n");
        let two = line("cpu") + &line("cpu0") + &line("cpu1");
        let one = line("cpu") + &line("cpu1");
        for (text, count) in [(&two, 2), (&one, 1), (&two, 2)] {
            let cpu = parse(&mut reader, text);
            assert_eq!(cpu["times_per_cpu"].as_array().unwrap().len(), count);
            assert_eq!(cpu["percent_per_cpu"].as_array().unwrap().len(), count);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "(cpu[0-9 a-z\n\t-]{0,40}){0,5}", noise: Vec<u8>) {
            let mut reader = reader();
            reader.parse(text.as_bytes(), &mut Cpu::default());
            reader.parse(&noise, &mut Cpu::default());
        }
    }
}
