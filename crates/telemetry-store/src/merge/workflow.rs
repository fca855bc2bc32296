//! Workflow rows.

use telemetry_core::id::WorkflowId;
use telemetry_core::record::{Items, WorkflowEnd, WorkflowStart};
use telemetry_core::status::ErrorKind;

use super::fields::{Phase, Place};
use super::{Merge, statements};
use crate::id_text::IdText;

impl Merge<'_> {
    pub(super) fn apply_workflow_start(
        &mut self,
        start: WorkflowStart,
        items: Items<'_>,
    ) -> rusqlite::Result<()> {
        let key = self.collect_workflow(start.workflow, Phase::Start, items)?;
        let fields = &mut *self.fields;
        self.connection.prepare_cached(statements::WORKFLOW_START)?.execute((
            key,
            start.parent_workflow.map(|parent| IdText::new(parent.as_u128())),
            start.parent_task.map(|parent| IdText::new(parent.as_u128())),
            self.recorder,
            self.clock.unix_ns(start.ticks),
            fields.used.finish(),
            fields.metadata.finish(),
            fields.updated,
            &fields.name,
            &fields.campaign,
            &fields.subtype,
            &fields.agent,
        ))?;
        self.connection.prepare_cached(statements::SESSION)?.execute((key, self.recorder))?;
        Ok(())
    }

    pub(super) fn apply_workflow_end(&mut self, end: WorkflowEnd, items: Items<'_>) -> rusqlite::Result<()> {
        let key = self.collect_workflow(end.workflow, Phase::End, items)?;
        let fields = &mut *self.fields;
        self.connection.prepare_cached(statements::WORKFLOW_END)?.execute((
            key,
            self.recorder,
            end.status.code(),
            end.error_kind.map(ErrorKind::code),
            self.clock.unix_ns(end.ticks),
            fields.generated.finish(),
            fields.updated,
            &fields.name,
            &fields.campaign,
            &fields.subtype,
            &fields.agent,
        ))?;
        Ok(())
    }

    fn collect_workflow(&mut self, id: WorkflowId, phase: Phase, items: Items<'_>) -> rusqlite::Result<i64> {
        let key = self.keys.workflow(self.connection, id)?;
        self.fields.clear();
        let owner = IdText::new(id.as_u128());
        self.fields.collect(
            &mut self.statements,
            Place { owner, phase, at_ns: None, activity: None },
            items,
        )?;
        Ok(key)
    }
}
