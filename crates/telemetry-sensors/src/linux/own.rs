//! What a process can ask about itself without the kernel writing a file: /proc/self/stat and status have it among much
//! else, at several times the price.

use std::time::Duration;

use nix::sched::sched_getcpu;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use super::file::KeptFile;
use super::process::Stat;
use super::roots::Roots;
use crate::telemetry::ContextSwitches;

/// A folder has two names of its own, and this one a name more for each thread.
const OWN_LINKS: u64 = 2;
const MICROSECONDS: f64 = 1e6;

/// What the kernel has counted of all threads, those that have ended among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Microseconds in the program and in the kernel.
    times: [u64; 2],
    pub(crate) switches: ContextSwitches,
}

impl Usage {
    pub(crate) fn of_process() -> Option<Self> {
        Self::of(UsageWho::RUSAGE_SELF)
    }

    fn of(who: UsageWho) -> Option<Self> {
        let usage = getrusage(who).ok()?;
        let count = |count: i64| u64::try_from(count).unwrap_or(0);
        let microseconds = |time: TimeVal| count(time.num_microseconds());
        let switches = ContextSwitches {
            voluntary: count(usage.voluntary_context_switches()),
            involuntary: count(usage.involuntary_context_switches()),
        };
        Some(Self { times: [usage.user_time(), usage.system_time()].map(microseconds), switches })
    }

    pub(crate) fn cpu_time(&self) -> Duration {
        Duration::from_micros(self.times.iter().sum())
    }
}

/// The processor that this thread runs on.
pub(crate) fn processor() -> Option<u32> {
    sched_getcpu().ok().and_then(|processor| u32::try_from(processor).ok())
}

/// Reads what else /proc/self/stat is read for.
#[derive(Debug)]
pub(crate) struct Reader {
    threads: KeptFile,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        Self { threads: KeptFile::open(roots.proc.join("self/task")) }
    }

    /// As /proc/self/stat, but for the waits for disks.
    pub(crate) fn read(&self, usage: Option<Usage>, ticks_per_second: f64) -> Option<Stat> {
        let threads = self.threads.links()?.checked_sub(OWN_LINKS)?;
        let [user, system] = usage?.times;
        let [children_user, children_system] = Usage::of(UsageWho::RUSAGE_CHILDREN)?.times;
        // The kernel, too, counts only whole ticks.
        let ticks = [user, system, children_user, children_system]
            .map(|time| (time as f64 * ticks_per_second / MICROSECONDS) as u64);
        Some(Stat { ticks, threads, block_io_ticks: 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::cpu::ticks_per_second;
    use super::*;

    /// Threads come and go and times pass between the two, but not every time.
    #[test]
    fn it_is_what_the_file_says() {
        let reader = Reader::open(&Roots::default());
        let pairs: Vec<_> = (0..100)
            .map(|_| {
                let own = reader.read(Usage::of_process(), ticks_per_second()).unwrap();
                let file = Stat::parse(&fs::read("/proc/self/stat").unwrap()).unwrap();
                [(own.ticks, own.threads), (file.ticks, file.threads)]
            })
            .collect();
        assert!(pairs.iter().any(|[own, file]| own == file), "{pairs:?}");
    }

    #[test]
    fn a_thread_more_is_counted() {
        let reader = Reader::open(&Roots::default());
        let threads = || reader.read(Usage::of_process(), 100.0).map_or(0, |own| own.threads);
        assert!(threads() >= 1);
        let seen = std::thread::scope(|scope| {
            let (end, wait) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || wait.recv());
            let seen = threads();
            drop(end);
            seen
        });
        assert!(seen >= 2, "{seen}");
    }
}
