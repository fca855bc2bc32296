//! Bells: how producers wake the drain, and how the drain tells that there is space again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Wakes one sleeper; ringing again before it looks costs one load.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    is_rung: AtomicBool,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Bell {
    pub(crate) fn ring(&self) {
        if !self.is_rung.load(Ordering::Relaxed) {
            self.is_rung.store(true, Ordering::Release);
            let _guard = lock(&self.lock);
            self.rung.notify_all();
        }
    }

    /// Sleeps until it is rung or the time is over.
    pub(crate) fn wait(&self, timeout: Duration) {
        let guard = lock(&self.lock);
        let asleep = |(): &mut ()| !self.is_rung.load(Ordering::Acquire);
        let woken = self.rung.wait_timeout_while(guard, timeout, asleep);
        drop(woken.unwrap_or_else(PoisonError::into_inner));
        self.is_rung.store(false, Ordering::Relaxed);
    }
}

/// Counts what the drain has done, for those who wait for it.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    count: Mutex<u64>,
    moved: Condvar,
}

impl Progress {
    pub(crate) fn count(&self) -> u64 {
        *lock(&self.count)
    }

    pub(crate) fn advance(&self) {
        *lock(&self.count) += 1;
        self.moved.notify_all();
    }

    /// Sleeps until there was progress since `seen` or the time is over.
    pub(crate) fn wait(&self, seen: u64, timeout: Duration) {
        let guard = lock(&self.count);
        let woken = self.moved.wait_timeout_while(guard, timeout, |count| *count == seen);
        drop(woken.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Locks whatever happened to the previous holder: nothing under these locks can be left half-done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, unless somebody holds it.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
