//! The live tap: watches the journal of a running process without its noticing.
//!
//! Any number of taps map one journal read-only and follow each lane with cursors of their own. There is
//! no write, no lock and no signal to the program, which never waits for them. The journal of a process
//! that is gone is read as it was left.

use std::path::Path;

use crate::batch::Batch;
use crate::blocks::{Access, Blocks};
use crate::clock::Clock;
use crate::error::JournalError;
use crate::follow::Cursor;
use crate::journal::resolve_spills;
use crate::source::{Counters, Name};

/// What one look takes out of the lane of a running process at the most.
const LOOK_WORDS_MAX: usize = 1 << 17;

/// Watches one journal.
///
/// `before + seen + missed` is the number of frames that were published by the time the tap came to the end
/// of the journal, exactly.
#[derive(Debug)]
pub struct Tap {
    blocks: Blocks,
    cursors: Vec<Cursor>,
}

/// What became of the records of a journal, as a tap sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sightings {
    /// Records that it saw.
    pub seen: u64,
    /// Records that were overwritten before it came to them, because it was too slow.
    pub missed: u64,
    /// Records that were gone before it came.
    pub before: u64,
}

impl Tap {
    /// Begins to watch this journal, at the oldest records that are still there.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let blocks = Blocks::open(path, Access::Look)?;
        let cursors = blocks.rings().map(|(_, ring)| Cursor::oldest(&ring)).collect();
        Ok(Self { blocks, cursors })
    }

    /// Passes over everything that is there: only what comes from now on is seen.
    pub fn skip_to_end(&mut self) {
        for ((_, ring), cursor) in self.blocks.rings().zip(&mut self.cursors) {
            ring.skip(cursor);
        }
    }

    /// Appends what was published since the last look to `batch`, lane by lane; while the process runs, at
    /// most some 100,000 words of each, so that a look ends although the program is faster. Nothing new means
    /// that the batch stays as it is.
    pub fn look(&mut self, batch: &mut Batch) -> Result<(), JournalError> {
        self.blocks.refresh()?;
        self.cursors.resize_with(self.blocks.lanes.len(), Cursor::first);
        let words_max = if self.blocks.is_copy() { usize::MAX } else { LOOK_WORDS_MAX };
        for ((index, ring), cursor) in self.blocks.rings().zip(&mut self.cursors) {
            ring.follow(cursor, index, batch, words_max);
        }
        // A name is added before the first record that refers to it: whoever saw the record finds it now.
        self.blocks.refresh()?;
        resolve_spills(batch, Some(&self.blocks.path));
        Ok(())
    }

    /// Whether nothing can come any more: the process is gone, or has closed its journal. One more look then
    /// sees the last of it.
    pub fn is_over(&self) -> bool {
        self.blocks.is_over()
    }

    /// What it saw and missed so far.
    pub fn sightings(&self) -> Sightings {
        self.cursors.iter().fold(Sightings::default(), |sum, cursor| Sightings {
            seen: sum.seen.saturating_add(cursor.seen),
            missed: sum.missed.saturating_add(cursor.missed),
            before: sum.before.saturating_add(cursor.before),
        })
    }

    /// The counters of the journal as they are now: how much waits in its lanes, and how much was dropped.
    pub fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        self.blocks.rings().for_each(|(_, ring)| ring.count(&mut sum, None));
        sum
    }

    /// The entry of the name table with this number, as far as it was there at the last look.
    pub fn name(&self, number: u32) -> Option<&Name> {
        self.blocks.name(number)
    }

    /// The clock that turns the ticks of the records into time.
    pub fn clock(&self) -> Clock {
        self.blocks.clock()
    }

    /// The id of the journal.
    pub fn id(&self) -> u128 {
        self.blocks.header.id
    }

    /// The process that writes, or wrote, it.
    pub fn pid(&self) -> u32 {
        self.blocks.header.owner.pid
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.blocks.path
    }
}
