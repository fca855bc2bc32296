//! Where threads run: the caller on one core, and the threads behind it on another.
//!
//! Which core the drain wakes up on decides whether the caller finds the lane in its own cache, a factor
//! of three, and the scheduler changes its mind about it within a run. So it is fixed, to the way it is
//! in a program with a core to spare: the memory moves from core to core, on both sides.

use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Runs `start`, whose threads stay on the last core that we may use; then the caller is on the first.
pub(crate) fn apart<T>(start: impl FnOnce() -> T) -> T {
    let Some((first, last)) = ends() else { return start() };
    pin(last);
    let started = start();
    pin(first);
    started
}

/// Runs `start`, whose process or threads may run on any core that we might use; then the caller is where it was.
pub(crate) fn everywhere<T>(start: impl FnOnce() -> T) -> T {
    ends();
    let (Ok(now), Some(all)) = (sched_getaffinity(myself()), ALLOWED.get()) else { return start() };
    let _ = sched_setaffinity(myself(), all);
    let started = start();
    let _ = sched_setaffinity(myself(), &now);
    started
}

/// The cores that we might use before we confined ourselves.
static ALLOWED: OnceLock<CpuSet> = OnceLock::new();

/// The first and the last core that we might use before we confined ourselves.
fn ends() -> Option<(usize, usize)> {
    let now = sched_getaffinity(myself()).ok()?;
    let allowed = ALLOWED.get_or_init(|| now);
    let mut cores = (0..CpuSet::count()).filter(|core| allowed.is_set(*core).unwrap_or(false));
    let first = cores.next()?;
    Some((first, cores.next_back()?))
}

fn pin(core: usize) {
    let mut cores = CpuSet::new();
    // A machine that does not let us is measured as it is.
    let _ = cores.set(core).and_then(|()| sched_setaffinity(myself(), &cores));
}

fn myself() -> Pid {
    Pid::from_raw(0)
}
