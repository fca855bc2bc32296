//! Records: what goes through the journal, as words and items.
//!
//! A record is a kind, a few fixed words, and items: fields with values in the form of
//! [`crate::value`]. The journal frames it and knows nothing of its meaning. Ids are two words, high
//! half first, both zero for none; times are raw ticks of [`telemetry_journal::clock`].
//!
//! | kind | fixed words |
//! |---|---|
//! | 1 task start | task ×2, parent ×2, workflow ×2, ticks, `activity:32 depth:16 level:8 flags:8`, `thread:32 0:32`; flag 1: root ×2; flag 2: `snapshot:32 age_ms:32`; flag 4: it was counted as left out |
//! | 2 task end | task ×2, ticks, `status:8 error_kind:8 flags:8 0:8 activity:32`; flag 2: `snapshot:32 age_ms:32` |
//! | 3 task update | task ×2, ticks, `activity:32 ordinal:32` |
//! | 4 workflow start | workflow ×2, parent workflow ×2, parent task ×2, ticks |
//! | 5 workflow end | workflow ×2, ticks, `status:8 error_kind:8 0:48` |
//! | 6 snapshot | `snapshot:32 0:32`, workflow ×2, ticks |
//! | 7 gap | first ticks, last ticks, count |
//! | 8 event | ticks, value, `series:32 class:8 flags:8 0:16`; flag 1: task ×2; flag 2: workflow ×2 |
//!
//! Within a word the first field is the lowest. An item is a field byte ([`Field`]); for `used`,
//! `generated` and `metadata` a key (varint: 0 and then a text inline, or the 1-based index into the
//! activity's keys); then a value. A zero byte ends the items; a record's last word is padded with
//! zeros. Names that repeat (activities, threads, the process) are in the journal's name table as
//! JSON: [`ActivityName`], [`ThreadName`], [`ProcessName`], [`SeriesName`]. The class of an event's value is 1 for
//! the bits of an `f64`, 2 for an `i64`, 3 for a `u64`.
//!
//! What sampling leaves out is no record but a tally of the journal: its key is the workflow ×2 and the
//! activity's number.

mod event;
mod item;
mod names;
mod task;
mod workflow;

pub use event::Event;
pub use item::{Field, Item, Items, Key};
pub use names::{ActivityName, NameKind, ProcessName, SeriesName, ThreadName};
pub use task::{SnapshotUse, TaskEnd, TaskStart, TaskUpdate};
pub use workflow::{Gap, Snapshot, WorkflowEnd, WorkflowStart};

use telemetry_journal::{Outgoing, Word};

use crate::words::words;

words! {
    /// What a record is about.
    Kind {
        /// A task started.
        TaskStart = 1 "task start",
        /// A task ended.
        TaskEnd = 2 "task end",
        /// Something was added to a running task.
        TaskUpdate = 3 "task update",
        /// A workflow started.
        WorkflowStart = 4 "workflow start",
        /// A workflow ended.
        WorkflowEnd = 5 "workflow end",
        /// A telemetry reading was taken.
        Snapshot = 6 "snapshot",
        /// Records before this one were dropped.
        Gap = 7 "gap",
        /// Something was measured or counted.
        Event = 8 "event",
    }
}

/// A record read back from the journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A task started.
    TaskStart(TaskStart, Items<'a>),
    /// A task ended.
    TaskEnd(TaskEnd, Items<'a>),
    /// Something was added to a running task.
    TaskUpdate(TaskUpdate, Items<'a>),
    /// A workflow started.
    WorkflowStart(WorkflowStart, Items<'a>),
    /// A workflow ended.
    WorkflowEnd(WorkflowEnd, Items<'a>),
    /// A telemetry reading was taken.
    Snapshot(Snapshot, Items<'a>),
    /// Records before this one were dropped.
    Gap(Gap),
    /// Something was measured or counted.
    Event(Event),
}

/// The words and bytes of one record as the journal gives them back: `bytes` is the same memory as
/// `words`, little endian.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The kind that the journal framed with the record.
    pub kind: u8,
    /// The record as words.
    pub words: &'a [u64],
    /// The record as bytes.
    pub bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// Reads a record; none for anything that no recorder of this version writes. Never panics,
    /// whatever the words are.
    pub fn decode(raw: Raw<'a>) -> Option<Self> {
        let items = |words_fixed: usize| raw.bytes.get(words_fixed * 8..).map(Items::new);
        Some(match Kind::from_code(raw.kind)? {
            Kind::TaskStart => {
                let (start, length) = TaskStart::decode(raw.words)?;
                Self::TaskStart(start, items(length)?)
            }
            Kind::TaskEnd => {
                let (end, length) = TaskEnd::decode(raw.words)?;
                Self::TaskEnd(end, items(length)?)
            }
            Kind::TaskUpdate => Self::TaskUpdate(TaskUpdate::decode(raw.words)?, items(TaskUpdate::WORDS)?),
            Kind::WorkflowStart => {
                Self::WorkflowStart(WorkflowStart::decode(raw.words)?, items(WorkflowStart::WORDS)?)
            }
            Kind::WorkflowEnd => {
                Self::WorkflowEnd(WorkflowEnd::decode(raw.words)?, items(WorkflowEnd::WORDS)?)
            }
            Kind::Snapshot => Self::Snapshot(Snapshot::decode(raw.words)?, items(Snapshot::WORDS)?),
            Kind::Gap => Self::Gap(Gap::decode(raw.words)?),
            Kind::Event => Self::Event(Event::decode(raw.words)?),
        })
    }
}

/// Room for the fixed words of any record.
pub type Head = [Word; HEAD_WORDS];
/// The longest has so many.
pub const HEAD_WORDS: usize = 12;

/// What a record has besides items.
///
/// It is written word by word to the place where it is read: a copy of it would be made by larger pieces than it was
/// written by, and the processor waits for that until all of them are in its cache, ten nanoseconds a record.
pub trait FixedWords {
    /// What the record is about.
    const KIND: Kind;

    /// Writes the words so that they end where `head` does, and answers where they begin.
    fn write(&self, head: &mut Head) -> usize;

    /// A record of these words alone, written into `head`.
    #[inline]
    fn outgoing<'h>(&self, head: &'h mut Head) -> Outgoing<'h> {
        let start = self.write(head);
        Outgoing { kind: Self::KIND.code(), fixed: HEAD_WORDS - start, words: &head[start..] }
    }
}

/// Writes words so that they end at `end`, and answers where they begin.
#[inline]
fn write_before<const COUNT: usize>(head: &mut Head, end: usize, words: [u64; COUNT]) -> usize {
    let start = end - COUNT;
    if let Some(slots) = head[start..].first_chunk_mut::<COUNT>() {
        slots.iter_mut().zip(words).for_each(|(slot, word)| *slot = word.to_le_bytes());
    }
    start
}
