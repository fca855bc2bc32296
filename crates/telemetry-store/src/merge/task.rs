//! Task rows: START and END become one INSERT where they meet, else each writes its own columns.

use rusqlite::{Statement, ToSql};
use telemetry_core::record::{Items, SnapshotUse, TaskEnd, TaskStart};
use telemetry_core::status::ErrorKind;

use super::Merge;
use super::fields::{Fields, Phase};
use super::keys::Activity;
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

/// The columns that an END brings besides its items.
#[derive(Default)]
struct Ending {
    status: Option<u8>,
    error_kind: Option<u8>,
    ended_ns: Option<i64>,
    snapshot: Option<i64>,
    age_ms: Option<u32>,
}

/// The keys of what a task points to.
struct Pointers {
    workflow: i64,
    activity: i64,
    recorder: i64,
    thread: i64,
}

/// A START, and what its END adds.
struct Started<'a> {
    task: IdText,
    start: &'a TaskStart,
    pointers: Pointers,
    snapshot: (Option<i64>, Option<u32>),
    ending: Ending,
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
        let activity = self.keys.activity(self.connection, self.source, start.activity)?;
        let pointers = self.pointers(&start, activity.as_deref())?;
        let snapshot = self.snapshot_use(start.snapshot);
        self.fields.clear();
        self.fields.collect(&mut self.statements, task, Phase::Start, activity.as_deref(), start_items)?;
        let mut ending = Ending::default();
        if let Some((end, items)) = end {
            self.fields.collect(&mut self.statements, task, Phase::End, activity.as_deref(), items)?;
            ending = self.ending(&end);
        }
        let fields = &*self.fields;
        let is_rare = fields.has_more || fields.updated.is_some() || ending.error_kind.is_some();
        let started = Started { task, start: &start, pointers, snapshot, ending };
        let parts = if is_rare { Parts::All } else { Parts::Usual };
        if self.write_start(parts, &started)? == 0 {
            self.write_start(Parts::Merge, &started)?;
        }
        Ok(())
    }

    fn pointers(&mut self, start: &TaskStart, activity: Option<&Activity>) -> rusqlite::Result<Pointers> {
        let workflow = match start.workflow {
            Some(workflow) => self.keys.workflow(self.connection, workflow)?,
            None => 0,
        };
        let thread = self.keys.thread(self.connection, self.source, start.thread)?;
        let activity = activity.map_or(0, |activity| activity.key);
        self.keys.step(self.connection, workflow, activity)?;
        Ok(Pointers { workflow, activity, recorder: self.recorder, thread })
    }

    /// Runs one of the three statements that take a START, with or without the columns that few tasks have.
    fn write_start(&mut self, parts: Parts, started: &Started<'_>) -> rusqlite::Result<usize> {
        let statement = match parts {
            Parts::Usual => &mut self.statements.task_usual,
            Parts::All => &mut self.statements.task_rare,
            Parts::Merge => &mut self.statements.task_merge,
        };
        let mut row = Binder::new(statement);
        bind_usual(&mut row, started, self.clock.unix_ns(started.start.ticks))?;
        bind_values(&mut row, self.fields, started)?;
        if parts != Parts::Usual {
            bind_rare(&mut row, self.fields, started)?;
        }
        row.execute()
    }

    pub(super) fn apply_end(&mut self, (end, items): (TaskEnd, Items<'_>)) -> rusqlite::Result<()> {
        let task = IdText::new(end.task.as_u128());
        let activity = self.keys.activity(self.connection, self.source, end.activity)?;
        self.fields.clear();
        self.fields.collect(&mut self.statements, task, Phase::End, activity.as_deref(), items)?;
        let ending = self.ending(&end);
        if self.update_end(task, &ending)? == 0 {
            let activity_key = activity.map_or(0, |activity| activity.key);
            self.keys.step(self.connection, 0, activity_key)?;
            self.statements.task_bare.execute((task, self.recorder, activity_key))?;
            self.update_end(task, &ending)?;
        }
        Ok(())
    }

    fn update_end(&mut self, task: IdText, ending: &Ending) -> rusqlite::Result<usize> {
        let fields = &mut *self.fields;
        let mut row = Binder::new(&mut self.statements.task_end);
        row.bind(task)?
            .bind(ending.status)?
            .bind(ending.error_kind)?
            .bind(ending.ended_ns)?
            .bind(fields.generated.finish())?
            .bind(ending.snapshot)?
            .bind(ending.age_ms)?
            .bind(fields.updated)?
            .bind(&fields.subtype)?
            .bind(&fields.group)?
            .bind(&fields.agent)?
            .bind(&fields.source_agent)?
            .bind(&fields.stdout)?
            .bind(&fields.stderr)?;
        row.execute()
    }

    fn ending(&self, end: &TaskEnd) -> Ending {
        let (snapshot, age_ms) = self.snapshot_use(end.snapshot);
        Ending {
            status: Some(end.status.code()),
            error_kind: end.error_kind.map(ErrorKind::code),
            ended_ns: Some(self.clock.unix_ns(end.ticks)),
            snapshot,
            age_ms,
        }
    }

    fn snapshot_use(&self, snapshot: Option<SnapshotUse>) -> (Option<i64>, Option<u32>) {
        match snapshot {
            Some(snapshot) => (Some(self.snapshot_key(snapshot.snapshot)), Some(snapshot.age_ms)),
            None => (None, None),
        }
    }
}

fn bind_usual(row: &mut Binder<'_, '_>, started: &Started<'_>, started_ns: i64) -> rusqlite::Result<()> {
    let Started { task, start, pointers, .. } = started;
    row.bind(task)?
        .bind(start.parent.map(|parent| IdText::new(parent.as_u128())))?
        .bind(far_root(start))?
        .bind(pointers.workflow)?
        .bind(pointers.activity)?
        .bind(pointers.recorder)?
        .bind(pointers.thread)?
        .bind(start.depth)?
        .bind(start.level.code())?
        .bind(started_ns)?;
    Ok(())
}

fn bind_values(row: &mut Binder<'_, '_>, fields: &mut Fields, started: &Started<'_>) -> rusqlite::Result<()> {
    let Started { snapshot: (snapshot, age_ms), ending, .. } = started;
    row.bind(fields.used.finish())?
        .bind(ending.status)?
        .bind(ending.ended_ns)?
        .bind(fields.generated.finish())?
        .bind(snapshot)?
        .bind(age_ms)?
        .bind(ending.snapshot)?
        .bind(ending.age_ms)?;
    Ok(())
}

fn bind_rare(row: &mut Binder<'_, '_>, fields: &mut Fields, started: &Started<'_>) -> rusqlite::Result<()> {
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
