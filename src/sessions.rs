//! Session files: what the drain does for them itself, and what it leaves to a thread of its own.
//!
//! A line for each packet is cheap and is written by the drain. The figures at the end of a workflow take a
//! second for some 100,000 packets, and so does making files again; nobody may wait for the drain meanwhile.
//! At the end of the recorder there is nobody left to wait, and the drain does it itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use telemetry_export::session::{Due, SessionError, Writer, complete, complete_those_of_the_dead};
use telemetry_journal::failpoint;
use telemetry_journal::process::block_signals;
use telemetry_store::{Store, StoreOptions};

use crate::fork;
use crate::warning::{explained, warn};

/// The session files that a drain is in charge of.
#[derive(Debug)]
pub(crate) struct Sessions {
    database: PathBuf,
    /// None where the settings want no files.
    writer: Option<Writer>,
    due: Vec<Due>,
    completing: Option<JoinHandle<()>>,
}

impl Sessions {
    /// Begins to complete what dead processes left, and to follow the drain of this recorder if it has
    /// session files.
    pub(crate) fn start(store: &mut Store, recorder: Option<u128>) -> Self {
        let writer = recorder.map(|recorder| Writer::new(store, recorder));
        let database = store.path().to_owned();
        let mut sessions = Self { database, writer, due: Vec::new(), completing: None };
        match store.sessions_of_the_dead() {
            Ok(dead) if dead.is_empty() => {}
            Ok(_) => sessions.complete_aside(|store| complete_those_of_the_dead(store).map(drop)),
            Err(error) => warn(&format!("cannot look for unfinished sessions: {}", explained(&error))),
        }
        sessions
    }

    /// Writes what ended, after each pass of the drain.
    pub(crate) fn after_pass(&mut self, store: &mut Store) {
        let Some(writer) = &mut self.writer else { return };
        match writer.after_pass(store) {
            Ok(due) => self.due.extend(due),
            Err(error) => complain(&error),
        }
        let is_free = self.completing.as_ref().is_none_or(JoinHandle::is_finished);
        if !self.due.is_empty() && is_free {
            let due = std::mem::take(&mut self.due);
            self.complete_aside(move |store| complete_all(store, &due));
        }
    }

    /// Completes everything, at the end of the recorder.
    pub(crate) fn finish(&mut self, store: &mut Store) {
        if let Some(completing) = self.completing.take() {
            let _ = completing.join();
        }
        let due = complete_all(store, &std::mem::take(&mut self.due));
        let rest = self.writer.as_mut().map_or(Ok(()), |writer| writer.finish(store));
        if let Err(error) = due.and(rest) {
            complain(&error);
        }
    }

    /// Does something in a thread of its own. What is not done stays noted in the database, for the end of
    /// the recorder or for the next start.
    fn complete_aside(&mut self, work: impl FnOnce(&mut Store) -> Result<(), SessionError> + Send + 'static) {
        let database = self.database.clone();
        let run = move || {
            block_signals();
            let _summing = fork::summing();
            let done = catch_unwind(AssertUnwindSafe(|| {
                failpoint::reach();
                let mut store = Store::open(&database, StoreOptions::default())?;
                work(&mut store)
            }));
            if let Ok(Err(error)) = done {
                complain(&error);
            }
        };
        match thread::Builder::new().name("telemetry-session".to_owned()).spawn(run) {
            Ok(completing) => self.completing = Some(completing),
            Err(error) => warn(&format!("cannot start the thread that completes session files: {error}")),
        }
    }
}

fn complete_all(store: &mut Store, due: &[Due]) -> Result<(), SessionError> {
    let outcomes: Vec<_> =
        due.iter().map(|session| complete(store, &session.workflow_id, session.rows)).collect();
    outcomes.into_iter().collect()
}

fn complain(error: &SessionError) {
    warn(&format!("session files: {}", explained(error)));
}
