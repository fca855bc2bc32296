//! Tasks, and one task with everything around it.

use serde::Serialize;

use super::rows::{DerivationRow, RelatedTask, TaskRow};
use super::{Reader, TaskFilter};
use crate::error::StoreError;

/// More descendants than this are counted by nobody on a screen.
const DESCENDANTS_MAX: u32 = 10_000;

/// A task with what is above, below, before and after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskDetail {
    /// The task.
    pub task: TaskRow,
    /// Who called it, the nearest first.
    pub ancestors: Vec<RelatedTask>,
    /// What it called, and what those called, level by level; at most 10,000.
    pub descendants: Vec<RelatedTask>,
    /// Whose outputs it used.
    pub derived_from: Vec<DerivationRow>,
    /// Who used its outputs.
    pub derived_into: Vec<DerivationRow>,
}

impl Reader {
    /// The tasks that pass the filter.
    pub fn tasks(&self, filter: &TaskFilter) -> Result<Vec<TaskRow>, StoreError> {
        let (sql, parameters) = filter.statement();
        self.rows(&sql, rusqlite::params_from_iter(parameters))
    }

    /// One task and what is around it.
    pub fn task(&self, task_id: &str) -> Result<TaskDetail, StoreError> {
        let found = self.rows("select * from tasks where task_id = ?1", (task_id,))?;
        let Some(task) = found.into_iter().next() else {
            return Err(StoreError::NotFound { wanted: task_id.to_owned() });
        };
        Ok(TaskDetail {
            task,
            ancestors: self.ancestors(task_id)?,
            descendants: self.descendants(task_id)?,
            derived_from: self.rows(
                "select * from derivations where task_id = ?1 order by source_task_id, evidence, name, source_name",
                (task_id,),
            )?,
            derived_into: self.rows(
                "select * from derivations where source_task_id = ?1 order by task_id, evidence, name, source_name",
                (task_id,),
            )?,
        })
    }

    /// Who called the task, the nearest first.
    pub fn ancestors(&self, task_id: &str) -> Result<Vec<RelatedTask>, StoreError> {
        self.rows(
            "select a.ancestor_task_id, a.depth, t.activity_id, t.status, t.started_at, t.duration_ns
            from ancestors a left join tasks t on t.task_id = a.ancestor_task_id
            where a.task_id = ?1 order by a.depth",
            (task_id,),
        )
    }

    /// What the task called, directly or not, level by level; at most 10,000.
    pub fn descendants(&self, task_id: &str) -> Result<Vec<RelatedTask>, StoreError> {
        self.rows(
            "select d.descendant_task_id, d.depth, t.activity_id, t.status, t.started_at, t.duration_ns
            from (select * from descendants where task_id = ?1 limit ?2) d
            left join tasks t on t.task_id = d.descendant_task_id
            order by d.depth, t.started_at, t.task_id",
            (task_id, DESCENDANTS_MAX),
        )
    }
}
