//! The fixed words of the records that are not about one task.

use super::{FixedWords, HEAD_WORDS, Head, Kind, write_before};
use crate::id::{TaskId, WorkflowId};
use crate::status::{ErrorKind, Status};

/// A workflow started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkflowStart {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The workflow that it is nested in.
    pub parent_workflow: Option<WorkflowId>,
    /// The task that started it.
    pub parent_task: Option<TaskId>,
    /// When, in raw ticks.
    pub ticks: u64,
}

impl WorkflowStart {
    pub(super) const WORDS: usize = 7;

    pub(super) fn decode(words: &[u64]) -> Option<Self> {
        let fixed: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(Self {
            workflow: WorkflowId::from_words(fixed[0], fixed[1])?,
            parent_workflow: WorkflowId::from_words(fixed[2], fixed[3]),
            parent_task: TaskId::from_words(fixed[4], fixed[5]),
            ticks: fixed[6],
        })
    }
}

impl FixedWords for WorkflowStart {
    const KIND: Kind = Kind::WorkflowStart;

    fn write(&self, head: &mut Head) -> usize {
        let [high, low] = self.workflow.words();
        let [parent_high, parent_low] = self.parent_workflow.map_or([0; 2], WorkflowId::words);
        let [task_high, task_low] = self.parent_task.map_or([0; 2], TaskId::words);
        write_before(head, HEAD_WORDS, [high, low, parent_high, parent_low, task_high, task_low, self.ticks])
    }
}

/// A workflow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkflowEnd {
    /// The workflow.
    pub workflow: WorkflowId,
    /// When, in raw ticks.
    pub ticks: u64,
    /// How it ended.
    pub status: Status,
    /// In which way it failed.
    pub error_kind: Option<ErrorKind>,
}

impl WorkflowEnd {
    pub(super) const WORDS: usize = 4;

    pub(super) fn decode(words: &[u64]) -> Option<Self> {
        let fixed: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(Self {
            workflow: WorkflowId::from_words(fixed[0], fixed[1])?,
            ticks: fixed[2],
            status: Status::from_code(fixed[3] as u8)?,
            error_kind: ErrorKind::from_code((fixed[3] >> 8) as u8),
        })
    }
}

impl FixedWords for WorkflowEnd {
    const KIND: Kind = Kind::WorkflowEnd;

    fn write(&self, head: &mut Head) -> usize {
        let [high, low] = self.workflow.words();
        let packed =
            u64::from(self.status.code()) | u64::from(self.error_kind.map_or(0, ErrorKind::code)) << 8;
        write_before(head, HEAD_WORDS, [high, low, self.ticks, packed])
    }
}

/// A telemetry reading was taken; its one item of field [`super::Field::Telemetry`] is the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of the snapshot within its recorder.
    pub snapshot: u32,
    /// The workflow that was open when it was taken.
    pub workflow: Option<WorkflowId>,
    /// When, in raw ticks.
    pub ticks: u64,
}

impl Snapshot {
    pub(super) const WORDS: usize = 4;

    pub(super) fn decode(words: &[u64]) -> Option<Self> {
        let fixed: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(Self {
            snapshot: fixed[0] as u32,
            workflow: WorkflowId::from_words(fixed[1], fixed[2]),
            ticks: fixed[3],
        })
    }
}

impl FixedWords for Snapshot {
    const KIND: Kind = Kind::Snapshot;

    fn write(&self, head: &mut Head) -> usize {
        let [high, low] = self.workflow.map_or([0; 2], WorkflowId::words);
        write_before(head, HEAD_WORDS, [u64::from(self.snapshot), high, low, self.ticks])
    }
}

/// Records before this one, in the same lane, were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When the first was dropped, in raw ticks.
    pub first_ticks: u64,
    /// When the last was dropped, in raw ticks.
    pub last_ticks: u64,
    /// How many.
    pub count: u64,
}

impl Gap {
    const WORDS: usize = 3;

    pub(super) fn decode(words: &[u64]) -> Option<Self> {
        let fixed: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(Self { first_ticks: fixed[0], last_ticks: fixed[1], count: fixed[2] })
    }
}

impl FixedWords for Gap {
    const KIND: Kind = Kind::Gap;

    fn write(&self, head: &mut Head) -> usize {
        write_before(head, HEAD_WORDS, [self.first_ticks, self.last_ticks, self.count])
    }
}
