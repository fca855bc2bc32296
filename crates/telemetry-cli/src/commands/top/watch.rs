//! Follows the journals of the programs in a folder, and brings what they record into the model.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use telemetry_core::id::TaskId;
use telemetry_core::status::Status;
use telemetry_core::tap::Tap;
use telemetry_journal::{JournalError, clock, find_journals};
use telemetry_store::{Reader, WorkflowFilter};

use super::model::{Answer, Model, Program, ProgramNumber};
use crate::place::Place;

/// The taps.
#[derive(Debug)]
pub(super) struct Watch {
    folder: PathBuf,
    database: PathBuf,
    wanted: Option<String>,
    met: HashSet<PathBuf>,
    taps: Vec<(ProgramNumber, Tap)>,
    reader: Option<Reader>,
    /// The last thing that went wrong, which changes nothing else.
    pub(super) complaint: Option<String>,
}

impl Watch {
    pub(super) fn new(place: &Place, wanted: Option<String>) -> Self {
        Self {
            folder: place.journals.clone(),
            database: place.database.clone(),
            wanted,
            met: HashSet::new(),
            taps: Vec::new(),
            reader: None,
            complaint: None,
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Finds programs that have begun to record.
    pub(super) fn search(&mut self, model: &mut Model) {
        let paths = match find_journals(&self.folder) {
            Ok(paths) => paths,
            Err(error) => return self.complain(&error),
        };
        let known = self.taps.len();
        for path in paths {
            if !self.met.insert(path.clone()) {
                continue;
            }
            match Tap::open(&path) {
                Ok(tap) if !tap.is_over() => self.add(tap, model),
                Ok(_) => {}
                // Its process has just ended well.
                Err(JournalError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => self.complain(&error),
            }
        }
        if self.taps.len() > known {
            self.name_workflows(model);
        }
    }

    /// Tells the model of the workflows that began before anybody looked.
    fn name_workflows(&mut self, model: &mut Model) {
        let status = Some(Status::Running.as_str().to_owned());
        let filter = WorkflowFilter { status, ..WorkflowFilter::default() };
        let rows = self.reader().and_then(|reader| reader.workflows(&filter).ok()).unwrap_or_default();
        for row in rows {
            let (Ok(id), Some(pid)) = (row.workflow_id.parse(), row.pid) else { continue };
            let started_unix_ns = row.started_at.map(|started| (started * 1e9) as i64);
            model.know_workflow(id, pid, row.name, started_unix_ns);
        }
    }

    fn complain(&mut self, error: &JournalError) {
        self.complaint = Some(error.to_string());
    }

    fn add(&mut self, mut tap: Tap, model: &mut Model) {
        tap.pass_over_values();
        let process = tap.process().unwrap_or_default();
        let exe = process.exe.as_deref().and_then(|exe| Path::new(exe).file_name());
        let exe = exe.map(|name| name.to_string_lossy().into_owned());
        let is_named = self.wanted.as_deref().is_some_and(|wanted| {
            process.name.as_deref() == Some(wanted)
                || tap.pid().to_string() == wanted
                || tap.id().to_string().starts_with(wanted)
        });
        let name = process.name.or(exe).unwrap_or_default();
        let number = model.add_program(Program { pid: tap.pid(), name, is_named, ..Program::default() });
        self.taps.push((number, tap));
    }

    /// Brings in what was recorded since the last look.
    pub(super) fn look(&mut self, model: &mut Model) {
        let mut failed = None;
        for (number, tap) in &mut self.taps {
            match tap.look() {
                Ok(seen) => seen.into_iter().for_each(|seen| model.see(*number, seen)),
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            self.complain(&error);
        }
    }

    /// Reads the counters of the journals, and leaves those whose programs have ended.
    pub(super) fn count(&mut self, model: &mut Model, now_unix_ns: i64) {
        // To be asked before the look: what comes between the two is seen.
        let over: Vec<bool> = self.taps.iter().map(|(_, tap)| tap.is_over()).collect();
        self.look(model);
        let mut over = over.into_iter();
        self.taps.retain(|(number, tap)| {
            if let Some(program) = model.programs.get_mut(*number) {
                let has_missed = tap.sightings().missed > program.sightings.missed;
                (program.counters, program.sightings) = (tap.counters(), tap.sightings());
                if has_missed {
                    model.miss(*number);
                }
            }
            let is_over = over.next().unwrap_or(false);
            if is_over {
                model.end_program(*number, now_unix_ns);
            }
            !is_over
        });
    }

    /// Asks the database what the taps could not see.
    pub(super) fn ask(&mut self, model: &mut Model) {
        let questions = model.questions();
        if questions.is_empty() {
            return;
        }
        for task in questions {
            let answer = self.reader().and_then(|reader| answer(reader, task));
            model.answer(task, answer.unwrap_or(Answer::Unknown));
        }
    }

    /// The database, once there is one.
    pub(super) fn reader(&mut self) -> Option<&Reader> {
        if self.reader.is_none() {
            self.reader = Reader::open(&self.database).ok();
        }
        self.reader.as_ref()
    }
}

fn answer(reader: &Reader, task: TaskId) -> Option<Answer> {
    let row = reader.related_task(&task.to_string()).ok()??;
    if row.status.as_deref() != Some(Status::Running.as_str()) {
        return Some(if row.status.is_some() { Answer::Ended } else { Answer::Unknown });
    }
    let started_unix_ns = (row.started_at? * 1e9) as i64;
    Some(Answer::Running { activity: row.activity_id.unwrap_or_default(), started_unix_ns })
}

/// The time, in unix nanoseconds.
pub(super) fn now_unix_ns() -> i64 {
    i64::try_from(clock::unix_ms()).unwrap_or(i64::MAX).saturating_mul(1_000_000)
}
