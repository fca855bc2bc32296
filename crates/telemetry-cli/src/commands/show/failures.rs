//! Where failures began, each message once.

use std::collections::HashMap;

use serde::Serialize;
use telemetry_core::status::Status;
use telemetry_store::{Reader, StoreError, TaskFilter, TaskRow, TreeRow};

/// How many failed tasks are looked at.
const FAILED_MAX: u32 = 500;

/// Tasks that failed in one way, without being told to by a task that they called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Failures {
    pub(super) activity_id: Option<String>,
    pub(super) error_kind: Option<String>,
    pub(super) message: Option<String>,
    pub(super) tasks: u64,
    /// The first of them.
    pub(super) task_id: String,
    /// The activities above it, the outermost first.
    pub(super) path: Vec<String>,
}

/// The failures of a workflow, in the order of their first tasks.
pub(super) fn find(
    reader: &Reader,
    workflow_id: &str,
    rows: &[TreeRow],
) -> Result<Vec<Failures>, StoreError> {
    let origins = Origins::new(rows);
    if origins.numbers.is_empty() {
        return Ok(Vec::new());
    }
    let filter = TaskFilter {
        workflow_id: Some(workflow_id.to_owned()),
        status: Some(Status::Error.to_string()),
        limit: Some(FAILED_MAX),
        ..TaskFilter::default()
    };
    Ok(origins.group(reader.tasks(&filter)?))
}

/// Failed tasks of which no task that they called failed, and everybody's caller.
struct Origins<'a> {
    rows: &'a [TreeRow],
    callers: Vec<Option<usize>>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Origins<'a> {
    fn new(rows: &'a [TreeRow]) -> Self {
        let callers = callers(rows);
        let is_error = |number: &usize| rows[*number].status == Status::Error.as_str();
        let mut is_origin: Vec<bool> = (0..rows.len()).map(|number| is_error(&number)).collect();
        for number in (0..rows.len()).filter(is_error) {
            if let Some(caller) = callers[number] {
                is_origin[caller] = false;
            }
        }
        let origins = (0..rows.len()).filter(|number| is_origin[*number]);
        let numbers = origins.map(|number| (&*rows[number].task_id, number)).collect();
        Self { rows, callers, numbers }
    }

    fn group(&self, failed: Vec<TaskRow>) -> Vec<Failures> {
        let mut groups: Vec<Failures> = Vec::new();
        for task in failed {
            let Some(&number) = self.numbers.get(&*task.task_id) else { continue };
            let is_same = |group: &&mut Failures| {
                group.activity_id == task.activity_id
                    && group.error_kind == task.error_kind
                    && group.message == task.stderr
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.tasks += 1,
                None => groups.push(Failures {
                    activity_id: task.activity_id,
                    error_kind: task.error_kind,
                    message: task.stderr,
                    tasks: 1,
                    task_id: task.task_id,
                    path: self.path(number),
                }),
            }
        }
        groups
    }

    fn path(&self, number: usize) -> Vec<String> {
        let above = std::iter::successors(self.callers[number], |number| self.callers[*number]);
        let name = |number: usize| self.rows[number].activity_id.clone().unwrap_or_default();
        let mut path: Vec<String> = above.map(name).collect();
        path.reverse();
        path
    }
}

/// The row number of each row's caller.
fn callers(rows: &[TreeRow]) -> Vec<Option<usize>> {
    let mut path: Vec<usize> = Vec::new();
    let mut callers = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        path.truncate(usize::try_from(row.indent).unwrap_or(0));
        callers.push(path.last().copied());
        path.push(number);
    }
    callers
}
