//! Task rows: START and END become one INSERT where they meet, else each writes its own columns.

use rusqlite::{Statement, ToSql};
use telemetry_core::record::{Items, SnapshotUse, TaskEnd, TaskStart};
use telemetry_core::status::ErrorKind;

use super::Merge;
use super::fields::Phase;
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

impl Merge<'_> {
    pub(super) fn apply_start(
        &mut self,
        (start, start_items): (TaskStart, Items<'_>),
        end: Option<(TaskEnd, Items<'_>)>,
    ) -> rusqlite::Result<()> {
        let task = IdText::new(start.task.as_u128());
        let activity = self.keys.activity(self.connection, self.source, start.activity)?;
        let thread = self.keys.thread(self.connection, self.source, start.thread)?;
        let workflow = match start.workflow {
            Some(workflow) => self.keys.workflow(self.connection, workflow)?,
            None => 0,
        };
        let activity_key = activity.as_ref().map_or(0, |activity| activity.key);
        self.keys.step(self.connection, workflow, activity_key)?;

        self.fields.clear();
        let fields = &mut *self.fields;
        fields.collect(&mut self.statements, task, Phase::Start, activity.as_deref(), start_items)?;
        let mut ending = Ending::default();
        if let Some((end, items)) = end {
            self.fields.collect(&mut self.statements, task, Phase::End, activity.as_deref(), items)?;
            ending = self.ending(&end);
        }
        let (start_snapshot, start_age_ms) = self.snapshot_use(start.snapshot);
        let fields = &mut *self.fields;
        if self.statements.is_more_bound && !fields.has_more {
            self.statements.task_start.clear_bindings();
            self.statements.is_more_bound = false;
        }
        let mut row = Binder::new(&mut self.statements.task_start);
        row.bind(task)?
            .bind(start.parent.map(|parent| IdText::new(parent.as_u128())))?
            .bind(far_root(&start))?
            .bind(workflow)?
            .bind(activity_key)?
            .bind(self.recorder)?
            .bind(thread)?
            .bind(start.depth)?
            .bind(start.level.code())?
            .bind(ending.status)?
            .bind(ending.error_kind)?
            .bind(self.clock.unix_ns(start.ticks))?
            .bind(ending.ended_ns)?
            .bind(fields.used.finish())?
            .bind(fields.generated.finish())?
            .bind(start_snapshot)?
            .bind(start_age_ms)?
            .bind(ending.snapshot)?
            .bind(ending.age_ms)?
            .bind(fields.is_updated)?;
        if fields.has_more {
            row.bind(&fields.subtype)?
                .bind(&fields.group)?
                .bind(&fields.agent)?
                .bind(&fields.source_agent)?
                .bind(&fields.stdout)?
                .bind(&fields.stderr)?
                .bind(fields.tags.finish())?
                .bind(fields.dependencies.finish())?
                .bind(fields.metadata.finish())?;
        }
        row.execute()?;
        self.statements.is_more_bound |= fields.has_more;
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
            .bind(fields.is_updated)?
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

/// The root, where it is neither the task nor its parent: the view knows those.
fn far_root(start: &TaskStart) -> Option<IdText> {
    let root = start.root.filter(|&root| root != start.task && Some(root) != start.parent)?;
    Some(IdText::new(root.as_u128()))
}
