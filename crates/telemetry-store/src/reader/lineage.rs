//! What led to a task and what came of it, as far back and ahead as the evidence goes.
//!
//! The view `derivations` has the single steps; here they are followed one by one, so that the cost is that
//! of the tasks that are found, whatever the size of the database is.

use std::collections::HashSet;

use serde::Serialize;

use super::Reader;
use super::rows::{DerivationRow, RelatedTask};
use crate::error::StoreError;

/// How far lineage is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineageLimits {
    /// At most so many steps away from the task.
    pub steps_max: u32,
    /// At most so many derivations in all.
    pub derivations_max: usize,
}

impl Default for LineageLimits {
    fn default() -> Self {
        Self { steps_max: 10_000, derivations_max: 10_000 }
    }
}

/// The tasks that a task derives from, or that derive from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lineage {
    /// The tasks, the nearest first; `depth` is the least number of steps.
    pub tasks: Vec<RelatedTask>,
    /// Each derivation among them and the task, with its evidence.
    pub derivations: Vec<DerivationRow>,
    /// Whether everything was followed to its end, or a limit was reached before.
    pub is_complete: bool,
}

/// Which end of a derivation the known task is.
#[derive(Clone, Copy)]
struct Way {
    sql: &'static str,
    other: fn(&DerivationRow) -> &str,
}

const BACK: Way =
    Way { sql: "select * from derivations where task_id = ?1 limit ?2", other: |row| &row.source_task_id };
const AHEAD: Way =
    Way { sql: "select * from derivations where source_task_id = ?1 limit ?2", other: |row| &row.task_id };

const RELATED: &str = "
select task_id, ?2, activity_id, status, started_at, duration_ns from tasks where task_id = ?1";

const WITHIN: &str = "
select d.* from task t join derivations d on d.task_id = t.task_id
where t.workflow = (select key from workflow where workflow_id = ?1)
order by t.key, d.name, d.source_task_id, d.evidence limit ?2";

impl Reader {
    /// What led to the task: whose outputs it used, whose outputs those used, and so on.
    ///
    /// ```no_run
    /// use telemetry_store::{LineageLimits, Reader};
    ///
    /// let reader = Reader::open(".telemetry/provenance.db".as_ref())?;
    /// let lineage = reader.led_to("01980000-0000-7000-8000-000000000001", LineageLimits::default())?;
    /// for step in &lineage.derivations {
    ///     println!("{} used {:?} of {} ({})", step.task_id, step.name, step.source_task_id, step.evidence);
    /// }
    /// # Ok::<(), telemetry_store::StoreError>(())
    /// ```
    pub fn led_to(&self, task_id: &str, limits: LineageLimits) -> Result<Lineage, StoreError> {
        self.follow(task_id, BACK, limits)
    }

    /// What came of the task: who used its outputs, who used theirs, and so on.
    pub fn came_of(&self, task_id: &str, limits: LineageLimits) -> Result<Lineage, StoreError> {
        self.follow(task_id, AHEAD, limits)
    }

    /// The derivations of the tasks of a workflow, at most so many; and whether these are all.
    pub fn derivations_within(
        &self,
        workflow_id: &str,
        derivations_max: usize,
    ) -> Result<(Vec<DerivationRow>, bool), StoreError> {
        let mut rows: Vec<DerivationRow> = self.rows(WITHIN, (workflow_id, derivations_max as i64 + 1))?;
        let is_complete = rows.len() <= derivations_max;
        rows.truncate(derivations_max);
        Ok((rows, is_complete))
    }

    /// One task, in short; none where it has no record.
    pub fn related_task(&self, task_id: &str) -> Result<Option<RelatedTask>, StoreError> {
        self.related(task_id, 0)
    }

    fn follow(&self, task_id: &str, way: Way, limits: LineageLimits) -> Result<Lineage, StoreError> {
        if self.related(task_id, 0)?.is_none() {
            return Err(StoreError::NotFound { wanted: task_id.to_owned() });
        }
        let mut lineage = Lineage { is_complete: true, ..Lineage::default() };
        let mut seen = HashSet::from([task_id.to_owned()]);
        let mut edge = vec![task_id.to_owned()];
        for step in 1.. {
            let mut next = Vec::new();
            for known in &edge {
                for row in self.steps(known, way, limits, &mut lineage)? {
                    if seen.insert((way.other)(&row).to_owned()) {
                        next.push((way.other)(&row).to_owned());
                    }
                    lineage.derivations.push(row);
                }
            }
            if next.is_empty() {
                break;
            }
            if step > limits.steps_max {
                lineage.is_complete = false;
                break;
            }
            for found in &next {
                lineage.tasks.push(self.related(found, step)?.unwrap_or_else(|| unknown(found, step)));
            }
            edge = next;
        }
        Ok(lineage)
    }

    /// The derivations of one task, as many as the limit leaves room for.
    fn steps(
        &self,
        task_id: &str,
        way: Way,
        limits: LineageLimits,
        lineage: &mut Lineage,
    ) -> Result<Vec<DerivationRow>, StoreError> {
        let room = limits.derivations_max.saturating_sub(lineage.derivations.len());
        // One more than there is room for tells whether something is left out.
        let mut rows: Vec<DerivationRow> = self.rows(way.sql, (task_id, room as i64 + 1))?;
        lineage.is_complete &= rows.len() <= room;
        rows.truncate(room);
        rows.sort_by(|one, other| order(one).cmp(&order(other)));
        Ok(rows)
    }

    fn related(&self, task_id: &str, steps: u32) -> Result<Option<RelatedTask>, StoreError> {
        let found: Vec<RelatedTask> = self.rows(RELATED, (task_id, steps))?;
        Ok(found.into_iter().next())
    }
}

type Order<'a> = (&'a str, &'a str, &'a str, Option<&'a str>, Option<&'a str>);

fn order(row: &DerivationRow) -> Order<'_> {
    (&row.source_task_id, &row.task_id, &row.evidence, row.name.as_deref(), row.source_name.as_deref())
}

/// A task that was declared and has no record.
fn unknown(task_id: &str, steps: u32) -> RelatedTask {
    RelatedTask {
        task_id: task_id.to_owned(),
        depth: i64::from(steps),
        activity_id: None,
        status: None,
        started_at: None,
        duration_ns: None,
    }
}
