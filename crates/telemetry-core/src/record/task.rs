//! The fixed words of the three records a task may have.

use super::{FixedWords, HEAD_WORDS, Head, Kind, write_before};
use crate::id::{TaskId, WorkflowId};
use crate::level::Level;
use crate::status::{ErrorKind, Status};

const HAS_ROOT: u8 = 1;
const HAS_SNAPSHOT: u8 = 2;
const WAS_LEFT_OUT: u8 = 4;

/// Which snapshot a task points to, and how old the reading was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotUse {
    /// The number of the snapshot within its recorder.
    pub snapshot: u32,
    /// Milliseconds between the reading and its use.
    pub age_ms: u32,
}

impl SnapshotUse {
    fn word(self) -> u64 {
        u64::from(self.snapshot) | u64::from(self.age_ms) << 32
    }

    fn from_word(word: u64) -> Self {
        Self { snapshot: word as u32, age_ms: (word >> 32) as u32 }
    }
}

/// A task started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStart {
    /// The task.
    pub task: TaskId,
    /// Who called it.
    pub parent: Option<TaskId>,
    /// The workflow it belongs to.
    pub workflow: Option<WorkflowId>,
    /// When, in raw ticks.
    pub ticks: u64,
    /// The number of its activity in the name table.
    pub activity: u32,
    /// How many tasks are above it.
    pub depth: u16,
    /// How much it captures.
    pub level: Level,
    /// The number of its thread in the name table.
    pub thread: u32,
    /// The topmost task above it; none for a task that has no parent, whose root is itself.
    pub root: Option<TaskId>,
    /// The telemetry at its start.
    pub snapshot: Option<SnapshotUse>,
    /// Whether it is among the tasks that were counted as left out, and is written all the same.
    pub was_left_out: bool,
}

impl TaskStart {
    const WORDS: usize = 9;

    pub(super) fn decode(words: &[u64]) -> Option<(Self, usize)> {
        let fixed: &[u64; Self::WORDS] = words.first_chunk()?;
        let flags = (fixed[7] >> 56) as u8;
        let mut length = Self::WORDS;
        let mut root = None;
        if flags & HAS_ROOT != 0 {
            root = TaskId::from_words(*words.get(length)?, *words.get(length + 1)?);
            length += 2;
        }
        let mut snapshot = None;
        if flags & HAS_SNAPSHOT != 0 {
            snapshot = Some(SnapshotUse::from_word(*words.get(length)?));
            length += 1;
        }
        let start = Self {
            task: TaskId::from_words(fixed[0], fixed[1])?,
            parent: TaskId::from_words(fixed[2], fixed[3]),
            workflow: WorkflowId::from_words(fixed[4], fixed[5]),
            ticks: fixed[6],
            activity: fixed[7] as u32,
            depth: (fixed[7] >> 32) as u16,
            level: Level::from_code((fixed[7] >> 48) as u8)?,
            thread: fixed[8] as u32,
            root,
            snapshot,
            was_left_out: flags & WAS_LEFT_OUT != 0,
        };
        Some((start, length))
    }
}

impl FixedWords for TaskStart {
    const KIND: Kind = Kind::TaskStart;

    #[inline]
    fn write(&self, head: &mut Head) -> usize {
        let [task_high, task_low] = self.task.words();
        let [parent_high, parent_low] = self.parent.map_or([0; 2], TaskId::words);
        let [workflow_high, workflow_low] = self.workflow.map_or([0; 2], WorkflowId::words);
        let flags = if self.root.is_some() { HAS_ROOT } else { 0 }
            | if self.snapshot.is_some() { HAS_SNAPSHOT } else { 0 }
            | if self.was_left_out { WAS_LEFT_OUT } else { 0 };
        let packed = u64::from(self.activity)
            | u64::from(self.depth) << 32
            | u64::from(self.level.code()) << 48
            | u64::from(flags) << 56;
        let mut end = HEAD_WORDS;
        if let Some(snapshot) = self.snapshot {
            end = write_before(head, end, [snapshot.word()]);
        }
        if let Some(root) = self.root {
            end = write_before(head, end, root.words());
        }
        let words = [
            task_high,
            task_low,
            parent_high,
            parent_low,
            workflow_high,
            workflow_low,
            self.ticks,
            packed,
            u64::from(self.thread),
        ];
        write_before(head, end, words)
    }
}

/// A task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskEnd {
    /// The task.
    pub task: TaskId,
    /// When, in raw ticks.
    pub ticks: u64,
    /// How it ended.
    pub status: Status,
    /// In which way it failed.
    pub error_kind: Option<ErrorKind>,
    /// The number of its activity in the name table, whose keys the items use.
    pub activity: u32,
    /// The telemetry at its end.
    pub snapshot: Option<SnapshotUse>,
}

impl TaskEnd {
    const WORDS: usize = 4;

    pub(super) fn decode(words: &[u64]) -> Option<(Self, usize)> {
        let fixed: &[u64; Self::WORDS] = words.first_chunk()?;
        let has_snapshot = (fixed[3] >> 16) as u8 & HAS_SNAPSHOT != 0;
        let snapshot =
            if has_snapshot { Some(SnapshotUse::from_word(*words.get(Self::WORDS)?)) } else { None };
        let end = Self {
            task: TaskId::from_words(fixed[0], fixed[1])?,
            ticks: fixed[2],
            status: Status::from_code(fixed[3] as u8)?,
            error_kind: ErrorKind::from_code((fixed[3] >> 8) as u8),
            activity: (fixed[3] >> 32) as u32,
            snapshot,
        };
        Some((end, Self::WORDS + usize::from(has_snapshot)))
    }
}

impl FixedWords for TaskEnd {
    const KIND: Kind = Kind::TaskEnd;

    #[inline]
    fn write(&self, head: &mut Head) -> usize {
        let [task_high, task_low] = self.task.words();
        let flags = if self.snapshot.is_some() { HAS_SNAPSHOT } else { 0 };
        let packed = u64::from(self.status.code())
            | u64::from(self.error_kind.map_or(0, ErrorKind::code)) << 8
            | u64::from(flags) << 16
            | u64::from(self.activity) << 32;
        let mut end = HEAD_WORDS;
        if let Some(snapshot) = self.snapshot {
            end = write_before(head, end, [snapshot.word()]);
        }
        write_before(head, end, [task_high, task_low, self.ticks, packed])
    }
}

/// Something was added to a running task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskUpdate {
    /// The task.
    pub task: TaskId,
    /// When, in raw ticks.
    pub ticks: u64,
    /// The number of its activity in the name table, whose keys the items use.
    pub activity: u32,
    /// Orders the updates of one task: for one key, the highest wins.
    pub ordinal: u32,
}

impl TaskUpdate {
    pub(super) const WORDS: usize = 4;

    pub(super) fn decode(words: &[u64]) -> Option<Self> {
        let fixed: &[u64; Self::WORDS] = words.first_chunk()?;
        Some(Self {
            task: TaskId::from_words(fixed[0], fixed[1])?,
            ticks: fixed[2],
            activity: fixed[3] as u32,
            ordinal: (fixed[3] >> 32) as u32,
        })
    }
}

impl FixedWords for TaskUpdate {
    const KIND: Kind = Kind::TaskUpdate;

    #[inline]
    fn write(&self, head: &mut Head) -> usize {
        let [task_high, task_low] = self.task.words();
        let packed = u64::from(self.activity) | u64::from(self.ordinal) << 32;
        write_before(head, HEAD_WORDS, [task_high, task_low, self.ticks, packed])
    }
}
