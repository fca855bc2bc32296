//! The tasks of a workflow as a tree, in the order in which a screen shows them.

use std::collections::HashMap;

use super::Reader;
use super::rows::{Row, row};
use crate::error::StoreError;
use serde::Serialize;

row! {
    /// A line of the tree.
    TreeRow {
        /// How far to indent: the number of tasks of this workflow above it.
        indent: i64,
        /// The task.
        task_id: String,
        /// Who called it.
        parent_task_id: Option<String>,
        /// What was called.
        activity_id: Option<String>,
        /// How it stands.
        status: String,
        /// In which way it failed.
        error_kind: Option<String>,
        /// When it started, in unix seconds.
        started_at: Option<f64>,
        /// How long it took.
        duration_ns: Option<i64>,
    }
}

impl Reader {
    /// The tasks of a workflow, each followed by what it called, in the order of their starts.
    pub fn tree(&self, workflow_id: &str) -> Result<Vec<TreeRow>, StoreError> {
        let rows = self.rows(
            "select 0, task_id, parent_task_id, activity_id, status, error_kind, started_at, duration_ns
            from tasks where workflow_id = ?1 order by started_at, task_id",
            (workflow_id,),
        )?;
        Ok(depth_first(rows))
    }
}

/// Tasks whose parent is not among the rows are roots; of a circle, the first one is.
fn depth_first(rows: Vec<TreeRow>) -> Vec<TreeRow> {
    let numbers: HashMap<&str, usize> =
        rows.iter().enumerate().map(|(number, row)| (&*row.task_id, number)).collect();
    let mut children = vec![Vec::new(); rows.len()];
    let mut roots = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        match row.parent_task_id.as_deref().and_then(|parent| numbers.get(parent)) {
            Some(&parent) => children[parent].push(number),
            None => roots.push(number),
        }
    }
    let mut order = Vec::with_capacity(rows.len());
    let mut is_placed = vec![false; rows.len()];
    for root in roots.into_iter().chain(0..rows.len()) {
        let mut open = vec![(root, 0)];
        while let Some((number, indent)) = open.pop() {
            if !std::mem::replace(&mut is_placed[number], true) {
                order.push((number, indent));
                open.extend(children[number].iter().rev().map(|&child| (child, indent + 1)));
            }
        }
    }
    let mut rows: Vec<Option<TreeRow>> = rows.into_iter().map(Some).collect();
    let take = |(number, indent): (usize, i64)| rows[number].take().map(|row| TreeRow { indent, ..row });
    order.into_iter().filter_map(take).collect()
}
