//! Around a fork: a child of a process that records gets a recorder of its own, with its first task.
//!
//! The child has one thread, and of everything else the state in which other threads had it: a lock that
//! one of them held stays locked for ever. So the thread that forks takes the locks that the child will
//! need before it forks, the drain's among them, which tells that nobody is inside the database library. It
//! waits for them only so long; where it gets one not in time, the child records nothing.
//!
//! The parent's journal, its database handle and its threads are nothing to the child: it forgets them, and
//! never closes the handle, since that would release the parent's locks on the file.

use std::cell::RefCell;
use std::io;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use telemetry_core::runtime::{HeldForFork, Recording};
use telemetry_journal::process::{ForkHooks, at_fork};

use crate::recorder::{self, Running};
use crate::warning;

/// How long a fork waits for the drain to come out of the database library.
const WAIT_MAX: Duration = Duration::from_secs(1);
const WAIT_STEP: Duration = Duration::from_micros(200);

/// Held while a thread of ours is inside the database library.
static WRITING: Mutex<()> = Mutex::new(());
/// Held while another thread of ours is, which reads for long: the drain does not wait for it.
static SUMMING: Mutex<()> = Mutex::new(());
/// Threads that are about to fork and want that lock: they go first, or under load they would never get it.
static FORKING: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// What the thread that forks holds from before the fork until after it, on both sides.
struct Held {
    running: MutexGuard<'static, Option<Arc<Running>>>,
    _recording: HeldForFork,
    _warned: warning::Hold,
    _writing: MutexGuard<'static, ()>,
    _summing: MutexGuard<'static, ()>,
}

impl Held {
    fn take() -> Option<Self> {
        let end = Instant::now() + WAIT_MAX;
        Some(Self {
            _writing: until(end, || WRITING.try_lock().ok())?,
            _summing: until(end, || SUMMING.try_lock().ok())?,
            running: until(end, recorder::hold_for_fork)?,
            _recording: until(end, Recording::hold_for_fork)?,
            _warned: until(end, warning::hold)?,
        })
    }
}

/// Tries until it works or the time is over.
fn until<T>(end: Instant, attempt: impl Fn() -> Option<T>) -> Option<T> {
    loop {
        match attempt() {
            None if Instant::now() < end => thread::sleep(WAIT_STEP),
            done => return done,
        }
    }
}

/// To be held by a thread of ours while it is inside the database library.
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    until(Instant::now() + WAIT_MAX, || (FORKING.load(Ordering::Relaxed) == 0).then_some(()));
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for a thread that is there for long.
#[cfg(feature = "sqlite")]
pub(crate) fn summing() -> MutexGuard<'static, ()> {
    SUMMING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hooks into the forks of this process.
pub(crate) fn hook() -> io::Result<()> {
    at_fork(ForkHooks { before, in_parent, in_child })
}

extern "C" fn before() {
    guarded(|| {
        FORKING.fetch_add(1, Ordering::Relaxed);
        let _ = HELD.try_with(|held| held.replace(Held::take()));
        FORKING.fetch_sub(1, Ordering::Relaxed);
    });
}

extern "C" fn in_parent() {
    guarded(|| drop(take_held()));
}

extern "C" fn in_child() {
    guarded(|| {
        FORKING.store(0, Ordering::Relaxed);
        let held = take_held();
        if let Some(running) = held.as_ref().and_then(|held| held.running.as_ref()) {
            running.recording().journal().forget_after_fork();
        }
        Recording::forget_after_fork(held.is_some().then_some(recorder::restart_in_child));
    });
}

fn take_held() -> Option<Held> {
    HELD.try_with(RefCell::take).ok().flatten()
}

/// A panic must not leave a hook: it would end the host.
fn guarded(hook: impl FnOnce() + std::panic::UnwindSafe) {
    let _ = catch_unwind(hook);
}
