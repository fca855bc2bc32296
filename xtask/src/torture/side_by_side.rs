//! Parts of a campaign that do not need each other run side by side, since each waits most of its time.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::options::Options;
use crate::Outcome;
use crate::terminal::{is_watched, say_for_now};

/// How often a terminal is told, and a file.
const TOLD_EVERY: Duration = Duration::from_millis(250);
const WRITTEN_EVERY: Duration = Duration::from_secs(20);

/// The processors that there are.
pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs `part` for each number below `parts`, so many at once, until one fails or the time is over.
pub(super) fn side_by_side(
    at_once: usize,
    parts: usize,
    options: &Options,
    part: impl Fn(usize) -> Outcome + Sync,
) -> Outcome {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        while !options.is_over() && locked(&failure).is_none() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= parts {
                return;
            }
            if let Err(error) = part(number) {
                locked(&failure).get_or_insert(error.to_string());
            }
        }
    };
    thread::scope(|scope| (0..at_once.min(parts)).for_each(|_| drop(scope.spawn(work))));
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), |failure| Err(failure.into()))
}

/// What all parts share. A part that panicked ends the campaign anyway.
pub(super) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says now and then how much is done, and how long the rest may take.
#[derive(Debug)]
pub(super) struct Progress {
    all: usize,
    begun: Instant,
    told: Mutex<Instant>,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        Self { all, begun: Instant::now(), told: Mutex::new(Instant::now()) }
    }

    /// So many are done; `more` is said behind it.
    pub(super) fn tell(&self, done: usize, more: &str) {
        let every = if is_watched() { TOLD_EVERY } else { WRITTEN_EVERY };
        let mut told = locked(&self.told);
        if told.elapsed() < every || done == 0 {
            return;
        }
        *told = Instant::now();
        let rest = self.begun.elapsed().as_secs_f64() / done as f64 * self.all.saturating_sub(done) as f64;
        let (minutes, seconds) = (rest as u64 / 60, rest as u64 % 60);
        say_for_now(&format!("  {done} of {}, {minutes} min {seconds:02} s left: {more}", self.all));
    }
}
