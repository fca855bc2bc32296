//! What sampling left out: tallies, and tasks that were counted there and written all the same.

use telemetry_core::id::WorkflowId;
use telemetry_journal::Tally;

use super::{Merge, statements, to_i64};
use crate::id_text::IdText;

impl Merge<'_> {
    /// Notes a tally; of two readings of one, the larger count stays.
    pub(super) fn apply_tally(&mut self, tally: &Tally) -> rusqlite::Result<()> {
        let [high, low, activity] = tally.key;
        let workflow = match WorkflowId::from_words(high, low) {
            Some(workflow) => self.keys.workflow(self.connection, workflow)?,
            None => 0,
        };
        let activity = u32::try_from(activity).unwrap_or(u32::MAX);
        let activity = self.keys.activity(self.connection, self.source, activity)?;
        let activity = activity.map_or(0, |activity| activity.key);
        self.keys.step(self.connection, workflow, activity)?;
        let mut statement = self.connection.prepare_cached(statements::LEFT_OUT)?;
        statement.execute((self.recorder, to_i64(tally.number), workflow, activity, to_i64(tally.count)))?;
        Ok(())
    }

    /// Notes that a task of this site was counted as left out.
    pub(super) fn note_brought_back(
        &mut self,
        task: IdText,
        workflow: i64,
        activity: i64,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(statements::BROUGHT_BACK)?;
        statement.execute((workflow, activity, task))?;
        Ok(())
    }
}
