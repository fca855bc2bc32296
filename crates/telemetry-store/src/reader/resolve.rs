//! What a person means by a few characters.

use serde::Serialize;

use super::Reader;
use crate::error::StoreError;

/// How many of the things that an id could mean are named.
const CANDIDATES_MAX: u32 = 10;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Found {
    /// The id of a workflow.
    Workflow(String),
    /// The id of a task.
    Task(String),
}

impl Found {
    /// The id.
    pub fn id(&self) -> &str {
        match self {
            Self::Workflow(id) | Self::Task(id) => id,
        }
    }
}

impl Reader {
    /// The workflow or task that `wanted` stands for: `@last` is the workflow that started last, models not
    /// counted, and `@last~1` the one before it, an id or its beginning is that workflow or task, and a name is the
    /// last workflow with it.
    ///
    /// Ids begin with the time, so a workflow and its first tasks may share a long beginning: it means
    /// the workflow.
    pub fn resolve(&self, wanted: &str) -> Result<Found, StoreError> {
        let mut found = match steps_back(wanted) {
            Some(steps) => self.ids(WORKFLOW_BACKWARDS, (steps,), Found::Workflow)?,
            None => self.by_prefix(&wanted.to_ascii_lowercase())?,
        };
        if found.is_empty() {
            found = self.ids(LAST_WORKFLOW_NAMED, (wanted,), Found::Workflow)?;
        }
        match &*found {
            [] => Err(StoreError::NotFound { wanted: wanted.to_owned() }),
            [only] => Ok(only.clone()),
            _ => Err(StoreError::Ambiguous {
                wanted: wanted.to_owned(),
                found: found.iter().map(|found| found.id().to_owned()).collect(),
            }),
        }
    }

    fn by_prefix(&self, prefix: &str) -> Result<Vec<Found>, StoreError> {
        let is_prefix =
            !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !is_prefix {
            return Ok(Vec::new());
        }
        let workflows = self.ids(WORKFLOWS_BY_PREFIX, (prefix, CANDIDATES_MAX), Found::Workflow)?;
        if !workflows.is_empty() {
            return Ok(workflows);
        }
        self.ids(TASKS_BY_PREFIX, (prefix, CANDIDATES_MAX), Found::Task)
    }

    fn ids(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        kind: fn(String) -> Found,
    ) -> Result<Vec<Found>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(parameters, |row| row.get(0).map(kind))?.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|source| self.failed(source))
    }
}

/// 0 for `@last`, 1 for `@last~1`.
fn steps_back(wanted: &str) -> Option<u32> {
    match wanted.strip_prefix("@last")? {
        "" => Some(0),
        steps => steps.strip_prefix('~')?.parse().ok(),
    }
}

const WORKFLOW_BACKWARDS: &str = "select workflow_id from workflows where subtype is not 'model' order by started_at is null, started_at desc, workflow_id desc limit 1 offset ?1";
const LAST_WORKFLOW_NAMED: &str =
    "select workflow_id from workflows where name = ?1 order by started_at desc, workflow_id desc limit 1";
/// `g` comes after every character of an id.
const WORKFLOWS_BY_PREFIX: &str = "select workflow_id from workflow where workflow_id >= ?1 and workflow_id < ?1 || 'g' order by workflow_id limit ?2";
const TASKS_BY_PREFIX: &str =
    "select task_id from task where task_id >= ?1 and task_id < ?1 || 'g' order by task_id limit ?2";
