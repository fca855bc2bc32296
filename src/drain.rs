//! The drain thread: recovers what earlier processes left, then writes what this one records.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use telemetry_core::runtime::faults;
use telemetry_core::settings::{Durability, Settings};
use telemetry_journal::process::block_signals;
use telemetry_journal::{Journal, Source, failpoint};
use telemetry_store::{Drain, Recovery, Retention, Store, StoreOptions, recover};

use crate::error::Error;
use crate::fork;
use crate::sessions::Sessions;
use crate::warning::{explained, warn, warn_once};

/// After so many faults of ours in a row, without anything being written in between, the thread gives up.
const FAULTS_MAX: u32 = 3;
/// How long a line of a session file may wait.
const SESSION_INTERVAL: Duration = Duration::from_millis(100);

/// Opens the database that the settings name.
pub(crate) fn open_store(settings: &Settings) -> Result<Store, Error> {
    let durability = match settings.store.durability {
        Durability::Power => telemetry_store::Durability::Power,
        _ => telemetry_store::Durability::Process,
    };
    let options = StoreOptions { durability, ..StoreOptions::default() };
    let mut store = Store::open(&settings.store.path, options)?;
    if let Some(Ok(retention)) = settings.store.retention.as_ref().map(|text| text.parse()) {
        store.keep(retention);
    }
    Ok(store)
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct DrainThread {
    journal: &'static Journal,
    requests: Arc<Requests>,
}

/// What others want of the drain, and what it has done.
#[derive(Debug, Default)]
struct Requests {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// How many flushes were asked for, and up to which one the drain is done.
    asked: u64,
    done: u64,
    is_stopping: bool,
    is_stopped: bool,
}

impl DrainThread {
    pub(crate) fn start(
        store: Store,
        journal: &'static Journal,
        folder: PathBuf,
        settings: &'static Settings,
    ) -> Result<Self, Error> {
        let requests = Arc::new(Requests::default());
        let worker = Worker {
            journal,
            requests: Arc::clone(&requests),
            interval: interval(settings),
            folder,
            settings,
            untold: Mutex::default(),
        };
        fork::connected();
        thread::Builder::new()
            .name("telemetry-drain".to_owned())
            .spawn(move || worker.run_guarded(store))
            .inspect_err(|_| fork::disconnected())
            .map_err(Error::Thread)?;
        Ok(Self { journal, requests })
    }

    /// Waits until everything that was accepted before the call is committed, or the time is over.
    pub(crate) fn flush(&self, timeout: Duration) {
        let mut state = self.requests.lock();
        state.asked += 1;
        let wanted = state.asked;
        self.journal.ask_for_drain();
        self.requests.wait(state, timeout, |state| state.done >= wanted || state.is_stopped);
    }

    /// Ends the thread after a last pass, or leaves it behind when the time is over.
    pub(crate) fn stop(&self, timeout: Duration) {
        let mut state = self.requests.lock();
        state.is_stopping = true;
        self.journal.ask_for_drain();
        self.requests.wait(state, timeout, |state| state.is_stopped);
    }
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, state: MutexGuard<'_, State>, timeout: Duration, until: impl Fn(&State) -> bool) {
        let waited = self.changed.wait_timeout_while(state, timeout, |state| !until(state));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

struct Worker {
    journal: &'static Journal,
    requests: Arc<Requests>,
    interval: Duration,
    folder: PathBuf,
    settings: &'static Settings,
    /// Warnings that `health` does not have yet.
    untold: Mutex<Vec<String>>,
}

impl Worker {
    /// Writes until it is told to stop. A fault of ours must not become the host's: the thread begins anew, with
    /// a connection of its own. Where it gives up, what is not written stays in the journal, and nobody waits for it.
    fn run_guarded(self, store: Store) {
        block_signals();
        let mut first = Some(store);
        let has_ended = again_after_faults(
            || self.journal.counters().persisted,
            || {
                let store = first.take().or_else(|| {
                    fork::disconnected();
                    self.warn("the thread that writes has failed and begins anew");
                    self.open_again()
                });
                if let Some(store) = store {
                    self.run(store);
                }
            },
        );
        if !has_ended {
            fork::disconnected();
            warn(
                "the thread that writes has failed for good; records stay in the journal for the next start",
            );
        }
        self.requests.change(|state| state.is_stopped = true);
    }

    /// Tries until it works; none once it is told to stop.
    fn open_again(&self) -> Option<Store> {
        while !self.requests.lock().is_stopping {
            let writing = fork::writing();
            match open_store(self.settings) {
                Ok(store) => return Some(store),
                Err(error) => self.warn(&format!("cannot write for now: {}", explained(&error))),
            }
            fork::disconnected();
            drop(writing);
            self.journal.wait_for_work(self.interval);
        }
        None
    }

    fn run(&self, mut store: Store) {
        let writing = fork::writing();
        self.recover(&mut store);
        let mut sessions =
            Sessions::start(&mut store, self.settings.session.enabled.then(|| self.journal.id()));
        drop(writing);
        failpoint::reach();
        let mut drain = Drain::new(store, Arc::new(self.journal));
        loop {
            let state = *self.requests.lock();
            let is_written = self.write_all(&mut drain, &mut sessions);
            self.requests.change(|now| {
                if is_written {
                    now.done = state.asked;
                }
            });
            if state.is_stopping {
                break;
            }
            self.journal.prepare();
            self.check_journal();
            failpoint::reach();
            self.delete_expired(&mut drain);
            if self.requests.lock().asked == state.asked {
                self.journal.wait_for_work(self.interval);
            }
        }
        failpoint::reach();
        self.finish(&mut drain, &mut sessions);
        failpoint::reach();
        let _writing = fork::writing();
        // Closing the last connection writes the log back, so that one file is left.
        drop(drain);
        fork::disconnected();
    }

    /// Brings in what dead processes left in the folder.
    fn recover(&self, store: &mut Store) {
        match recover(store, &self.folder) {
            Ok(Recovery { warnings, .. }) => warnings.iter().for_each(|warning| self.warn(warning)),
            Err(error) => {
                self.warn(&format!("cannot recover what earlier processes left: {}", explained(&error)));
            }
        }
    }

    /// A journal that somebody deleted cannot be given its name back.
    fn check_journal(&self) {
        if !self.journal.is_findable() {
            self.warn("the journal was deleted: what is not written yet does not survive this process");
        }
    }

    /// Deletes what `store.retention` does not keep, a little at a time, and only while there is nothing to write and
    /// nobody waits: no record is ever held up by it.
    fn delete_expired(&self, drain: &mut Drain) {
        let is_idle = || {
            let state = *self.requests.lock();
            self.journal.counters().pending == 0 && !state.is_stopping && state.asked == state.done
        };
        while is_idle() {
            let now_ns = self.journal.clock().unix_ns(telemetry_journal::clock::ticks());
            let _writing = fork::writing();
            match drain.store().delete_expired(now_ns) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    drain.store().keep(Retention::default());
                    return self.warn(&format!("cannot delete what is too old: {}", explained(&error)));
                }
            }
        }
    }

    /// Marks what is open as interrupted, and removes the journal if nothing can come after this.
    fn finish(&self, drain: &mut Drain, sessions: &mut Sessions) {
        if self.journal.counters().pending > 0 && !self.write_all(drain, sessions) {
            return;
        }
        let ended_ns = self.journal.clock().unix_ns(telemetry_journal::clock::ticks());
        let _writing = fork::writing();
        if let Err(error) = drain.store().interrupt(self.journal.id(), ended_ns) {
            return warn(&format!("cannot mark what was open: {}", explained(&error)));
        }
        failpoint::reach();
        self.journal.close();
        failpoint::reach();
        sessions.finish(drain.store());
    }

    /// Writes what there is; what cannot be written stays in the journal for the next pass.
    fn write_all(&self, drain: &mut Drain, sessions: &mut Sessions) -> bool {
        let written = loop {
            fork::make_way(|| drain.store().close_for_now());
            let _writing = fork::writing();
            let done = drain.pass();
            if done.is_ok() {
                sessions.after_pass(drain.store());
            }
            match done {
                Ok(pass) if pass.records > 0 => {}
                done => break done,
            }
        };
        drain.store().take_warnings().iter().for_each(|warning| self.warn(warning));
        if faults() > 0 {
            self.warn("telemetry has failed in the middle of a call, which goes on without its record");
        }
        match &written {
            Ok(_) => self.note_warnings(drain.store()),
            Err(error) => {
                self.warn(&format!(
                    "cannot write for now, records stay in the journal: {}",
                    explained(error)
                ));
            }
        }
        written.is_ok()
    }

    /// Tells the user, and `health` when something can be written.
    fn warn(&self, text: &str) {
        let told = warn_once(text);
        self.untold.lock().unwrap_or_else(PoisonError::into_inner).extend(told);
    }

    fn note_warnings(&self, store: &mut Store) {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        let _writing = (!untold.is_empty()).then(fork::writing);
        if store.note_warnings(self.journal.id(), &untold).is_ok() {
            untold.clear();
        }
    }
}

/// How long a record may wait.
fn interval(settings: &Settings) -> Duration {
    let interval = Duration::from_millis(settings.journal.drain_interval_ms);
    if settings.session.enabled { interval.min(SESSION_INTERVAL) } else { interval }
}

/// Does the work again when it panics, unless it has come no further some times in a row; answers whether it was done.
fn again_after_faults(progress: impl Fn() -> u64, mut work: impl FnMut()) -> bool {
    let mut faults = 0;
    while faults < FAULTS_MAX {
        let before = progress();
        if catch_unwind(AssertUnwindSafe(&mut work)).is_ok() {
            return true;
        }
        faults = if progress() == before { faults + 1 } else { 1 };
    }
    false
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::resume_unwind;
    use std::time::Instant;

    use super::*;

    /// Fails so many times, each time after having written something or nothing; answers whether it got done.
    fn fails(times: u32, writes: u64) -> bool {
        let (left, written) = (Cell::new(times), Cell::new(0));
        again_after_faults(
            || written.get(),
            || {
                written.set(written.get() + writes);
                if left.replace(left.get().saturating_sub(1)) > 0 {
                    // Unlike `panic!`, this prints nothing.
                    resume_unwind(Box::new("a fault of ours"));
                }
            },
        )
    }

    #[test]
    fn a_drain_that_fails_begins_anew_as_long_as_it_gets_on() {
        assert!(fails(0, 0) && fails(2, 0) && fails(1_000, 1));
        assert!(!fails(3, 0));
    }

    #[test]
    fn waiting_for_a_change_ends_with_it_or_with_the_time() {
        let requests = Requests::default();
        let begun = Instant::now();
        requests.wait(requests.lock(), Duration::from_millis(10), |state| state.is_stopped);
        assert!(begun.elapsed() >= Duration::from_millis(10));
        requests.change(|state| state.is_stopped = true);
        requests.wait(requests.lock(), Duration::from_hours(1), |state| state.is_stopped);
    }
}
