//! The writer that follows a drain and appends the packets that ended.
//!
//! A packet is written one pass after its end was committed. What a task was told from another thread before
//! it ended may lie in a lane that was read a moment too early; the next pass has it for sure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Write;

use telemetry_store::{Ended, PacketRow, Store};

use super::csv::line;
use super::error::SessionError;
use super::files::{Files, complete};

/// Writes the session files of one recorder while its records are drained.
#[derive(Debug)]
pub struct Writer {
    recorder: u128,
    /// What ended in the last pass.
    held: Ended,
    open: HashMap<String, Open>,
    /// Sessions that had packets after their workflow had ended.
    late: BTreeSet<String>,
}

/// A session whose file of packets grows.
#[derive(Debug)]
struct Open {
    /// None once it could not be written.
    file: Option<(Files, File)>,
    /// Packets in the file.
    rows: i64,
    has_ended: bool,
}

/// A session whose workflow has ended: to be [completed](complete).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Due {
    /// The workflow.
    pub workflow_id: String,
    /// The packets in its file; none where something could not be written.
    pub rows: Option<i64>,
}

/// Lines by workflow, in the order of their ends.
type Lines = HashMap<String, BTreeMap<(i64, String), String>>;

impl Writer {
    /// A writer for the sessions of a recorder, whose records go into the store from now on.
    pub fn new(store: &mut Store, recorder: u128) -> Self {
        store.watch_ends();
        Self { recorder, held: Ended::default(), open: HashMap::new(), late: BTreeSet::new() }
    }

    /// To be called after each pass of the drain, also one that moved nothing: appends what ended in the
    /// pass before, and answers the sessions that are over.
    pub fn after_pass(&mut self, store: &mut Store) -> Result<Vec<Due>, SessionError> {
        let ended = std::mem::replace(&mut self.held, store.take_ended());
        let mut lines = Lines::new();
        store.packets_that_ended(&ended, |packet| add(&mut lines, packet))?;
        let mut outcome = Ok(());
        for (workflow_id, lines) in lines {
            let appended = self.append(store, &workflow_id, lines);
            outcome = outcome.and(appended);
        }
        outcome?;
        self.take_due(store)
    }

    /// At the end of the recorder: completes what is left.
    pub fn finish(&mut self, store: &mut Store) -> Result<(), SessionError> {
        let (mut due, mut outcome) = match self.after_pass(store) {
            Ok(due) => (due, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        due.extend(self.open.drain().map(|(workflow_id, open)| open.due(workflow_id)));
        for Due { workflow_id, rows } in due {
            outcome = outcome.and(complete(store, &workflow_id, rows));
        }
        for workflow_id in std::mem::take(&mut self.late) {
            outcome = outcome.and(complete(store, &workflow_id, None));
        }
        for session in store.sessions_of(self.recorder)? {
            outcome = outcome.and(complete(store, &session.workflow_id, None));
        }
        outcome
    }

    fn append(
        &mut self,
        store: &mut Store,
        workflow_id: &str,
        lines: BTreeMap<(i64, String), String>,
    ) -> Result<(), SessionError> {
        let Some(open) = self.opened(store, workflow_id)? else { return Ok(()) };
        let Some((files, file)) = &mut open.file else { return Ok(()) };
        let (rows, text) = (lines.len(), lines.into_values().collect::<String>());
        if let Err(source) = file.write_all(text.as_bytes()) {
            let path = files.csv();
            open.file = None;
            return Err(SessionError::File { path, source });
        }
        open.rows += rows as i64;
        Ok(())
    }

    /// The session of a workflow; none if it has no files, or is over.
    fn opened(&mut self, store: &mut Store, workflow_id: &str) -> Result<Option<&mut Open>, SessionError> {
        if self.late.contains(workflow_id) {
            return Ok(None);
        }
        if !self.open.contains_key(workflow_id) {
            let Some(session) = store.session_of(workflow_id, self.recorder)? else {
                return Ok(None);
            };
            if session.name.is_some() {
                store.set_session_written(workflow_id, false)?;
                self.late.insert(workflow_id.to_owned());
                return Ok(None);
            }
            // Noted first, so that a folder which cannot be written to is tried once.
            self.open.insert(workflow_id.to_owned(), Open { file: None, rows: 0, has_ended: false });
            let file = Files::begin(store, &session)?;
            self.open.entry(workflow_id.to_owned()).and_modify(|open| open.file = Some(file));
        }
        Ok(self.open.get_mut(workflow_id))
    }

    /// The sessions whose workflow had ended by the pass before this one.
    fn take_due(&mut self, store: &Store) -> Result<Vec<Due>, SessionError> {
        let due = self.open.extract_if(|_, open| open.has_ended);
        let due = due.map(|(workflow_id, open)| open.due(workflow_id)).collect();
        for (workflow_id, open) in &mut self.open {
            open.has_ended = store.session(workflow_id)?.is_none_or(|session| session.has_ended);
        }
        Ok(due)
    }
}

impl Open {
    fn due(self, workflow_id: String) -> Due {
        Due { workflow_id, rows: self.file.map(|_| self.rows) }
    }
}

fn add(lines: &mut Lines, packet: PacketRow) {
    let text = line(&packet);
    if let Some(workflow_id) = packet.workflow_id {
        let ended_ns = packet.started_ns + packet.duration_ns;
        lines.entry(workflow_id).or_default().insert((ended_ns, packet.task_id), text);
    }
}
