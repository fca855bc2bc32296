//! What the first thread of a process can ask about it without the kernel writing a file: /proc/self/stat has it among
//! much else, at three times the price.

use std::time::Duration;

use nix::sched::sched_getcpu;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::unistd::{getpid, gettid};

use super::file::KeptFile;
use super::process::Stat;
use super::roots::Roots;

/// A folder has two names of its own, and this one a name more for each thread.
const OWN_LINKS: u64 = 2;
const MICROSECONDS: f64 = 1e6;

/// Reads what else /proc/self/stat is read for.
#[derive(Debug)]
pub(crate) struct Reader {
    threads: KeptFile,
}

/// What a reading gives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    pub(crate) stat: Stat,
    pub(crate) cpu_time: Duration,
}

/// Whether this is the first thread: what the kernel says of a process's processor is about that one.
pub(crate) fn is_first_thread() -> bool {
    gettid() == getpid()
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        Self { threads: KeptFile::open(roots.proc.join("self/task")) }
    }

    /// As /proc/self/stat, but for the waits for disks, and with the processor of this thread.
    pub(crate) fn read(&self, ticks_per_second: f64) -> Option<Own> {
        let threads = self.threads.links()?.checked_sub(OWN_LINKS)?;
        let process = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let children = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
        let [user, system] = times(&process);
        let [children_user, children_system] = times(&children);
        // The kernel, too, counts only whole ticks.
        let ticks = [user, system, children_user, children_system]
            .map(|time| (time as f64 * ticks_per_second / MICROSECONDS) as u64);
        let processor = sched_getcpu().ok().and_then(|processor| u32::try_from(processor).ok());
        let stat = Stat { ticks, threads, processor, block_io_ticks: 0 };
        Some(Own { stat, cpu_time: Duration::from_micros(user + system) })
    }
}

/// Microseconds in the program and in the kernel.
fn times(usage: &Usage) -> [u64; 2] {
    let microseconds = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
    [microseconds(usage.user_time()), microseconds(usage.system_time())]
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
                let own = reader.read(ticks_per_second()).unwrap().stat;
                let file = Stat::parse(&fs::read("/proc/self/stat").unwrap()).unwrap();
                [(own.ticks, own.threads), (file.ticks, file.threads)]
            })
            .collect();
        assert!(pairs.iter().any(|[own, file]| own == file), "{pairs:?}");
    }

    #[test]
    fn a_thread_more_is_counted() {
        let reader = Reader::open(&Roots::default());
        let threads = || reader.read(100.0).map_or(0, |own| own.stat.threads);
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
