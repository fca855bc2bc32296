//! Around a fork: a child of a process that records gets a recorder of its own, with its first task.
//!
//! The child has one thread, and of everything else the state in which other threads had it: a lock that
//! one of them held stays locked for ever. So the thread that forks takes the locks that the child will
//! need before it forks, the drain's among them, which tells that nobody is inside the database library. It
//! waits for them only so long; where it gets one not in time, the child records nothing.
//!
//! Nor may a connection be open: the database library of the child would know the file as one that it holds locks
//! on, and take none, while those of its parent are gone with the parent; somebody else would then write the log back
//! and delete it under the child's hands. So the drain closes its connection for a fork, and opens it again for the
//! next write. The parent's journal and its threads are nothing to the child: it forgets them.

use std::cell::RefCell;
use std::io;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use telemetry_core::runtime::{HeldForFork, Recording};
use telemetry_journal::failpoint;
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
/// Threads that are about to fork: they go first, or under load they would never get that lock.
static FORKING: AtomicU32 = AtomicU32::new(0);
/// Whether a connection of ours may be open.
static CONNECTED: AtomicBool = AtomicBool::new(false);
/// Whether there is one that cannot be closed any more: no child may record from now on.
static STUCK: AtomicBool = AtomicBool::new(false);

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
        if STUCK.load(Ordering::Relaxed) {
            return None;
        }
        let end = Instant::now() + WAIT_MAX;
        let running = until(end, recorder::hold_for_fork)?;
        let ask = || running.iter().for_each(|running| running.recording().journal().ask_for_drain());
        Some(Self {
            _writing: until(end, || {
                ask();
                without_connection()
            })?,
            _summing: until(end, || try_lock(&SUMMING))?,
            _recording: until(end, Recording::hold_for_fork)?,
            _warned: until(end, warning::hold)?,
            running,
        })
    }
}

/// The lock of those who write, while no connection is open.
fn without_connection() -> Option<MutexGuard<'static, ()>> {
    let writing = try_lock(&WRITING)?;
    (!CONNECTED.load(Ordering::Relaxed)).then_some(writing)
}

/// The lock, unless somebody has it. Whoever has panicked with it in hand has left nothing half-made behind it.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
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

/// To be held by the drain while it is inside the database library. Opens no connection while a thread is about to fork.
#[cfg(feature = "sqlite")]
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    let may_go_on = || CONNECTED.load(Ordering::Relaxed) || FORKING.load(Ordering::Relaxed) == 0;
    until(Instant::now() + WAIT_MAX, || may_go_on().then_some(()));
    let writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    connected();
    writing
}

/// Notes that a connection may be open from now on.
#[cfg(feature = "sqlite")]
pub(crate) fn connected() {
    CONNECTED.store(true, Ordering::Relaxed);
}

/// Notes that none is open any more.
#[cfg(feature = "sqlite")]
pub(crate) fn disconnected() {
    CONNECTED.store(false, Ordering::Relaxed);
}

/// Lets the drain close its connection where a thread is about to fork; `close` answers whether it could.
#[cfg(feature = "sqlite")]
pub(crate) fn make_way(close: impl FnOnce() -> bool) {
    if FORKING.load(Ordering::Relaxed) == 0 {
        return;
    }
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if close() {
        disconnected();
    } else {
        STUCK.store(true, Ordering::Relaxed);
    }
}

/// The same for a thread that is there for long.
#[cfg(feature = "sqlite")]
pub(crate) fn summing() -> MutexGuard<'static, ()> {
    SUMMING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Hooks into the forks of this process.
pub(crate) fn hook() -> io::Result<()> {
    at_fork(ForkHooks { before, in_parent, in_child })
}

extern "C" fn before() {
    guarded(|| {
        FORKING.fetch_add(1, Ordering::Relaxed);
        failpoint::reach();
        let _ = HELD.try_with(|held| held.replace(Held::take()));
        FORKING.fetch_sub(1, Ordering::Relaxed);
    });
}

extern "C" fn in_parent() {
    guarded(|| {
        let _held = take_held();
        failpoint::reach();
    });
}

extern "C" fn in_child() {
    guarded(|| {
        FORKING.store(0, Ordering::Relaxed);
        let held = take_held();
        failpoint::reach();
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
