//! What a drain reads from: a live journal of this process, or the journal of a dead one.

use crate::batch::Batch;
use crate::clock::Clock;

/// An entry of the name table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// What it names, in the language of whoever wrote it.
    pub kind: u8,
    /// The entry.
    pub bytes: Vec<u8>,
}

/// Why a record that was offered was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum DropReason {
    /// The lane was full, for longer than the policy waits.
    Full = 0,
    /// Too large for a lane, and it could not be spilled.
    Oversize = 1,
    /// Offered from within the encoding of another record on the same thread.
    Nested = 2,
    /// Offered after the recorder was stopped.
    Stopped = 3,
}

impl DropReason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Full, Self::Oversize, Self::Nested, Self::Stopped];

    /// The word for it on screen and in `health`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Oversize => "oversize",
            Self::Nested => "nested",
            Self::Stopped => "stopped",
        }
    }
}

/// The counters of a journal: `offered == persisted + pending + dropped + torn`, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Records that were handed to the journal.
    pub offered: u64,
    /// Of these, committed by a drain.
    pub persisted: u64,
    /// Of these, in shared memory and not yet committed.
    pub pending: u64,
    /// Of these, dropped; by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Of these, half-written when the process died; its producer was never told that it was accepted.
    pub torn: u64,
    /// How often a producer waited for space.
    pub waits: u64,
    /// How many records went through a spill file.
    pub spilled: u64,
}

/// What a drain reads from.
pub trait Source: Send + Sync {
    /// The id of the journal, and so of its recorder.
    fn id(&self) -> u128;

    /// The process that writes, or wrote, it.
    fn pid(&self) -> u32;

    /// The entry of the name table with this number, from 0.
    fn name(&self, number: u32) -> Option<Name>;

    /// The clock that turns the ticks of its records into time.
    fn clock(&self) -> Clock;

    /// Appends what is accepted and not yet released to `batch`, up to some million words.
    fn collect(&self, batch: &mut Batch);

    /// Moves the marks behind what `batch` took out; to be called once it is committed.
    fn release(&self, batch: &Batch);

    /// The counters as they are now.
    fn counters(&self) -> Counters;

    /// The counters as they will be once `batch` is released: what a commit of it writes down.
    fn counters_after(&self, batch: &Batch) -> Counters;
}

impl<T: Source + ?Sized> Source for &T {
    fn id(&self) -> u128 {
        (**self).id()
    }

    fn pid(&self) -> u32 {
        (**self).pid()
    }

    fn name(&self, number: u32) -> Option<Name> {
        (**self).name(number)
    }

    fn clock(&self) -> Clock {
        (**self).clock()
    }

    fn collect(&self, batch: &mut Batch) {
        (**self).collect(batch);
    }

    fn release(&self, batch: &Batch) {
        (**self).release(batch);
    }

    fn counters(&self) -> Counters {
        (**self).counters()
    }

    fn counters_after(&self, batch: &Batch) -> Counters {
        (**self).counters_after(batch)
    }
}
