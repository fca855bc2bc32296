//! Task rows: START and END become one INSERT where they meet, else each writes its own columns.

use std::sync::Arc;

use rusqlite::{Statement, ToSql};
use telemetry_core::id::WorkflowId;
use telemetry_core::record::{Items, SnapshotUse, TaskEnd, TaskStart};
use telemetry_core::status::ErrorKind;
use telemetry_journal::clock::Clock;

use super::Merge;
use super::fields::{Fields, Phase, Place};
use super::keys::Activity;
use super::statements::Statements;
use crate::id_text::IdText;

/// Binds parameters one after the other.
struct Binder<'a, 'c> {
    statement: &'a mut Statement<'c>,
    index: usize,
}

impl<'a, 'c> Binder<'a, 'c> {
    fn new(statement: &'a mut Statement<'c>) -> Self {
        Self { statement, index: 0 }
    }

    fn bind(&mut self, value: impl ToSql) -> rusqlite::Result<&mut Self> {
        self.index += 1;
        self.statement.raw_bind_parameter(self.index, value)?;
        Ok(self)
    }

    fn execute(&mut self) -> rusqlite::Result<usize> {
        self.statement.raw_execute()
    }
}

/// How many rows are made before they are written.
const WAITING_MAX: usize = 16;

/// The columns that an END brings besides its items and snapshot.
#[derive(Debug, Default)]
struct Ending {
    status: Option<u8>,
    error_kind: Option<u8>,
    ended_ns: Option<i64>,
}

impl Ending {
    fn new(end: &TaskEnd, clock: &Clock) -> Self {
        Self {
            status: Some(end.status.code()),
            error_kind: end.error_kind.map(ErrorKind::code),
            ended_ns: Some(clock.unix_ns(end.ticks)),
        }
    }
}

/// Where tasks belong, as keys of rows; tasks that follow each other mostly share it.
#[derive(Debug, Default)]
pub(super) struct Site {
    names: Option<(Option<WorkflowId>, u32, u32)>,
    workflow: i64,
    activity: Option<Arc<Activity>>,
    thread: i64,
}

impl Site {
    fn activity_key(&self) -> i64 {
        self.activity.as_ref().map_or(0, |activity| activity.key)
    }
}

/// A snapshot's key, and how old it was when it was used.
type SnapshotColumns = (Option<i64>, Option<u32>);

/// What tasks that follow each other have mostly in common. Binding a parameter costs as much as making
/// its value, so these are bound again only when they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steady {
    workflow: i64,
    recorder: i64,
    thread: i64,
    depth: u16,
    level: u8,
    status: Option<u8>,
    start_snapshot: SnapshotColumns,
    end_snapshot: SnapshotColumns,
}

/// A START, and what its END adds.
#[derive(Debug)]
struct Started {
    task: IdText,
    parent: Option<IdText>,
    root: Option<IdText>,
    activity: i64,
    begin_ns: i64,
    ending: Ending,
    steady: Steady,
}

/// Rows that are ready to be written, each with its columns that come from items.
///
/// SQLite's code for an INSERT just fits the processor's caches. Rows that are made one after the other, and
/// then written one after the other, leave it there; the order of rows does not matter.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    rows: Vec<Started>,
    fields: Vec<Fields>,
}

impl Waiting {
    /// What is forgotten with a transaction that came to nothing.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// The fields of the next row, empty.
    fn next_fields(&mut self) -> &mut Fields {
        let index = self.rows.len();
        if self.fields.len() <= index {
            self.fields.push(Fields::default());
        }
        let fields = &mut self.fields[index];
        fields.clear();
        fields
    }
}

/// Which columns of a START are written, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// A new row, with the columns that most tasks have.
    Usual,
    /// A new row, with all columns.
    All,
    /// All columns, into a row that is there.
    Merge,
}

impl Merge<'_> {
    pub(super) fn apply_start(
        &mut self,
        (start, start_items): (TaskStart, Items<'_>),
        end: Option<(TaskEnd, Items<'_>)>,
    ) -> rusqlite::Result<()> {
        let task = IdText::new(start.task.as_u128());
        self.find_site(&start)?;
        if end.is_some() {
            self.note_end(task);
        }
        let mut steady = self.steady(&start);
        let begin_ns = self.clock.unix_ns(start.ticks);
        let activity = self.site.activity.as_deref();
        let place = Place { owner: task, phase: Phase::Start, at_ns: Some(begin_ns), activity };
        let fields = self.waiting.next_fields();
        fields.collect(&mut self.statements, place, start_items)?;
        let mut ending = Ending::default();
        if let Some((end, items)) = end {
            ending = Ending::new(&end, &self.clock);
            let place = Place { phase: Phase::End, at_ns: ending.ended_ns, ..place };
            fields.collect(&mut self.statements, place, items)?;
            steady.status = ending.status;
            steady.end_snapshot = self.snapshot_columns(end.snapshot);
        }
        let activity = self.site.activity_key();
        if start.was_left_out {
            self.note_brought_back(task, self.site.workflow, activity)?;
        }
        let parent = start.parent.map(|parent| IdText::new(parent.as_u128()));
        let root = far_root(&start);
        self.waiting.rows.push(Started { task, parent, root, activity, begin_ns, ending, steady });
        if self.waiting.rows.len() < WAITING_MAX { Ok(()) } else { self.write_waiting() }
    }

    /// Writes the rows that are ready.
    pub(super) fn write_waiting(&mut self) -> rusqlite::Result<()> {
        let Waiting { rows, fields } = &mut *self.waiting;
        for (started, fields) in rows.drain(..).zip(fields) {
            write_started(&mut self.statements, fields, &started)?;
        }
        Ok(())
    }

    /// Looks the site up, unless it is that of the task before.
    fn find_site(&mut self, start: &TaskStart) -> rusqlite::Result<()> {
        let names = Some((start.workflow, start.activity, start.thread));
        if self.site.names == names {
            return Ok(());
        }
        let workflow = match start.workflow {
            Some(workflow) => self.keys.workflow(self.connection, workflow)?,
            None => 0,
        };
        let activity = self.keys.activity(self.connection, self.source, start.activity)?;
        let thread = self.keys.thread(self.connection, self.source, start.thread)?;
        self.site = Site { names, workflow, activity, thread };
        self.keys.step(self.connection, workflow, self.site.activity_key())
    }

    fn steady(&self, start: &TaskStart) -> Steady {
        Steady {
            workflow: self.site.workflow,
            recorder: self.recorder,
            thread: self.site.thread,
            depth: start.depth,
            level: start.level.code(),
            status: None,
            start_snapshot: self.snapshot_columns(start.snapshot),
            end_snapshot: (None, None),
        }
    }

    pub(super) fn apply_end(&mut self, (end, items): (TaskEnd, Items<'_>)) -> rusqlite::Result<()> {
        let task = IdText::new(end.task.as_u128());
        self.note_end(task);
        let activity = self.keys.activity(self.connection, self.source, end.activity)?;
        let ending = Ending::new(&end, &self.clock);
        let activity_of = activity.as_deref();
        let place = Place { owner: task, phase: Phase::End, at_ns: ending.ended_ns, activity: activity_of };
        self.fields.clear();
        self.fields.collect(&mut self.statements, place, items)?;
        let snapshot = self.snapshot_columns(end.snapshot);
        if self.update_end(task, &ending, snapshot)? == 0 {
            let activity_key = activity.map_or(0, |activity| activity.key);
            self.keys.step(self.connection, 0, activity_key)?;
            self.statements.task_bare.execute((task, self.recorder, activity_key))?;
            self.update_end(task, &ending, snapshot)?;
        }
        Ok(())
    }

    fn update_end(
        &mut self,
        task: IdText,
        ending: &Ending,
        snapshot: SnapshotColumns,
    ) -> rusqlite::Result<usize> {
        let fields = &mut *self.fields;
        let mut row = Binder::new(&mut self.statements.task_end);
        row.bind(task)?
            .bind(ending.status)?
            .bind(ending.error_kind)?
            .bind(ending.ended_ns)?
            .bind(fields.generated.finish())?
            .bind(snapshot.0)?
            .bind(snapshot.1)?
            .bind(fields.updated)?
            .bind(&fields.subtype)?
            .bind(&fields.group)?
            .bind(&fields.agent)?
            .bind(&fields.source_agent)?
            .bind(&fields.stdout)?
            .bind(&fields.stderr)?;
        row.execute()
    }

    fn snapshot_columns(&self, snapshot: Option<SnapshotUse>) -> SnapshotColumns {
        match snapshot {
            Some(snapshot) => (Some(self.snapshot_key(snapshot.snapshot)), Some(snapshot.age_ms)),
            None => (None, None),
        }
    }
}

/// Writes a row, or merges it into the one that is there.
fn write_started(
    statements: &mut Statements<'_>,
    fields: &mut Fields,
    started: &Started,
) -> rusqlite::Result<()> {
    let is_rare = fields.has_more || fields.updated.is_some() || started.ending.error_kind.is_some();
    let parts = if is_rare { Parts::All } else { Parts::Usual };
    match write_start(statements, parts, fields, started) {
        Err(error) if is_repeated(&error) => write_start(statements, Parts::Merge, fields, started),
        written => written,
    }
}

/// Runs one of the three statements that take a START.
fn write_start(
    statements: &mut Statements<'_>,
    parts: Parts,
    fields: &mut Fields,
    started: &Started,
) -> rusqlite::Result<()> {
    let statement = match parts {
        Parts::Usual => &mut statements.task_usual,
        Parts::All => &mut statements.task_rare,
        Parts::Merge => &mut statements.task_merge,
    };
    let mut row = Binder::new(statement);
    bind_usual(&mut row, fields, started)?;
    if parts != Parts::Usual {
        bind_steady(&mut row, &started.steady)?;
        bind_rare(&mut row, fields, started)?;
    } else if statements.steady != Some(started.steady) {
        bind_steady(&mut row, &started.steady)?;
        statements.steady = Some(started.steady);
    }
    row.execute().map(|_| ())
}

/// Whether a row was refused because there is one with its id.
fn is_repeated(error: &rusqlite::Error) -> bool {
    error.sqlite_extended_error_code() == Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}

fn bind_usual(row: &mut Binder<'_, '_>, fields: &mut Fields, started: &Started) -> rusqlite::Result<()> {
    row.bind(started.task)?
        .bind(started.parent)?
        .bind(started.root)?
        .bind(started.activity)?
        .bind(started.begin_ns)?
        .bind(started.ending.ended_ns)?
        .bind(fields.used.finish())?
        .bind(fields.generated.finish())?;
    Ok(())
}

fn bind_steady(row: &mut Binder<'_, '_>, steady: &Steady) -> rusqlite::Result<()> {
    row.bind(steady.workflow)?
        .bind(steady.recorder)?
        .bind(steady.thread)?
        .bind(steady.depth)?
        .bind(steady.level)?
        .bind(steady.status)?
        .bind(steady.start_snapshot.0)?
        .bind(steady.start_snapshot.1)?
        .bind(steady.end_snapshot.0)?
        .bind(steady.end_snapshot.1)?;
    Ok(())
}

fn bind_rare(row: &mut Binder<'_, '_>, fields: &mut Fields, started: &Started) -> rusqlite::Result<()> {
    row.bind(started.ending.error_kind)?
        .bind(fields.updated)?
        .bind(&fields.subtype)?
        .bind(&fields.group)?
        .bind(&fields.agent)?
        .bind(&fields.source_agent)?
        .bind(&fields.stdout)?
        .bind(&fields.stderr)?
        .bind(fields.tags.finish())?
        .bind(fields.dependencies.finish())?
        .bind(fields.metadata.finish())?;
    Ok(())
}

/// The root, where it is neither the task nor its parent: the view knows those.
fn far_root(start: &TaskStart) -> Option<IdText> {
    let root = start.root.filter(|&root| root != start.task && Some(root) != start.parent)?;
    Some(IdText::new(root.as_u128()))
}
