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

impl Merge<'_> {
    pub(super) fn apply_start(
        &mut self,
        (start, start_items): (TaskStart, Items<'_>),
        end: Option<(TaskEnd, Items<'_>)>,
    ) -> rusqlite::Result<()> {
        let task = IdText::new(start.task.as_u128());
        let activity = self.keys.activity(self.connection, self.source, start.activity)?;
        let pointers = self.pointers(&start, activity.as_deref())?;
        self.fields.clear();
        self.fields.collect(&mut self.statements, task, Phase::Start, activity.as_deref(), start_items)?;
        let mut ending = Ending::default();
        if let Some((end, items)) = end {
            self.fields.collect(&mut self.statements, task, Phase::End, activity.as_deref(), items)?;
            ending = self.ending(&end);
        }
        if self.insert_start(task, &start, &pointers, &ending)? == 0 {
            self.merge_start(task, &start, &pointers, &ending)?;
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

    /// Inserts the row if it is new. Binding costs as much as making the values, so what few tasks have
    /// is bound only for those.
    fn insert_start(
        &mut self,
        task: IdText,
        start: &TaskStart,
        pointers: &Pointers,
        ending: &Ending,
    ) -> rusqlite::Result<usize> {
        let snapshot = self.snapshot_use(start.snapshot);
        let fields = &mut *self.fields;
        let has_rare = fields.has_more || fields.updated.is_some() || ending.error_kind.is_some();
        let has_rest = has_rare || start.snapshot.is_some() || ending.snapshot.is_some();
        if self.statements.is_rest_bound {
            self.statements.task_start.clear_bindings();
        }
        self.statements.is_rest_bound = has_rest;
        let mut row = Binder::new(&mut self.statements.task_start);
        bind_usual(&mut row, task, start, pointers, self.clock.unix_ns(start.ticks))?;
        bind_values(&mut row, fields, ending)?;
        if has_rest {
            bind_snapshots(&mut row, snapshot, ending)?;
        }
        if has_rare {
            bind_rare(&mut row, fields, ending)?;
        }
        row.execute()
    }

    fn merge_start(
        &mut self,
        task: IdText,
        start: &TaskStart,
        pointers: &Pointers,
        ending: &Ending,
    ) -> rusqlite::Result<()> {
        let snapshot = self.snapshot_use(start.snapshot);
        let mut row = Binder::new(&mut self.statements.task_merge);
        bind_usual(&mut row, task, start, pointers, self.clock.unix_ns(start.ticks))?;
        bind_values(&mut row, self.fields, ending)?;
        bind_snapshots(&mut row, snapshot, ending)?;
        bind_rare(&mut row, self.fields, ending)?;
        row.execute()?;
        Ok(())
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

fn bind_usual(
    row: &mut Binder<'_, '_>,
    task: IdText,
    start: &TaskStart,
    pointers: &Pointers,
    started_ns: i64,
) -> rusqlite::Result<()> {
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

fn bind_values(row: &mut Binder<'_, '_>, fields: &mut Fields, ending: &Ending) -> rusqlite::Result<()> {
    row.bind(fields.used.finish())?
        .bind(ending.status)?
        .bind(ending.ended_ns)?
        .bind(fields.generated.finish())?;
    Ok(())
}

fn bind_snapshots(
    row: &mut Binder<'_, '_>,
    (snapshot, age_ms): (Option<i64>, Option<u32>),
    ending: &Ending,
) -> rusqlite::Result<()> {
    row.bind(snapshot)?.bind(age_ms)?.bind(ending.snapshot)?.bind(ending.age_ms)?;
    Ok(())
}

fn bind_rare(row: &mut Binder<'_, '_>, fields: &mut Fields, ending: &Ending) -> rusqlite::Result<()> {
    row.bind(ending.error_kind)?
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
