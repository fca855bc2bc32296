//! Rows of a view one by one, so that a database of any size can be passed on.

use std::ops::ControlFlow;

use super::{Cell, Reader};
use crate::error::StoreError;

/// A view of which the rows of a workflow can be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum View {
    /// `workflows`.
    Workflows,
    /// `tasks`, without the readings.
    Tasks,
    /// `activities`.
    Activities,
    /// `snapshots`.
    Snapshots,
    /// `derivations`, of the tasks that used something.
    Derivations,
    /// `task_telemetry`.
    TaskTelemetry,
    /// `events`.
    Events,
    /// `event_series`.
    EventSeries,
}

impl View {
    fn statement(self) -> &'static str {
        match self {
            Self::Workflows => "select * from workflows where workflow_id = ?1",
            Self::Tasks => {
                "select v.task_id, v.workflow_id, v.campaign_id, v.parent_task_id, v.root_task_id, v.depth,
                    v.activity_id, v.subtype, v.group_id, v.status, v.error_kind, v.stdout, v.stderr, v.started_at,
                    v.ended_at, v.duration_ns, v.used, v.generated, v.dependencies, v.tags, v.custom_metadata,
                    v.agent_id, v.source_agent_id, v.hostname, v.pid, v.thread, v.level
                from task t join tasks v on v.task_id = t.task_id
                where t.workflow = (select key from workflow where workflow_id = ?1) order by t.key"
            }
            Self::Activities => "select * from activities where workflow_id = ?1 order by activity_id",
            Self::Snapshots => {
                "select v.* from snapshots v where v.workflow_id = ?1 order by v.taken_at, v.snapshot_id"
            }
            Self::Derivations => {
                "select d.* from task t join derivations d on d.task_id = t.task_id
                where t.workflow = (select key from workflow where workflow_id = ?1)
                order by t.key, d.name, d.source_task_id"
            }
            Self::TaskTelemetry => "select * from task_telemetry where workflow_id = ?1 order by task_id",
            Self::Events => "select * from events where workflow_id = ?1 order by timestamp, event_id",
            Self::EventSeries => {
                "select * from event_series where workflow_id = ?1 order by category, name, kind, unit, labels"
            }
        }
    }
}

impl Reader {
    /// Hands the names of the columns to `begin`, then the rows of a workflow in a view to `each`, until that has
    /// enough.
    pub fn stream(
        &self,
        view: View,
        workflow_id: &str,
        begin: impl FnOnce(&[String]) -> ControlFlow<()>,
        mut each: impl FnMut(Vec<Cell>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let run = || {
            let mut statement = self.connection.prepare_cached(view.statement())?;
            let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
            if begin(&columns).is_break() {
                return Ok(());
            }
            let mut rows = statement.query((workflow_id,))?;
            while let Some(row) = rows.next()? {
                let cells = (0..columns.len()).map(|index| row.get(index)).collect::<Result<_, _>>()?;
                if each(cells).is_break() {
                    break;
                }
            }
            Ok(())
        };
        run().map_err(|source| self.failed(source))
    }
}
