//! The layout of a journal file, version 1. Everything is a 64-bit little-endian word.
//!
//! The file is a header of [`HEADER_WORDS`] and then blocks, each a whole number of 4 KiB pages. The
//! header is complete before the file gets its name, by rename; a block is complete before the
//! directory names it, by a release store of the number of blocks.
//!
//! | header word | holds |
//! |---|---|
//! | 0 | magic `TLMJRNL` |
//! | 1 | version |
//! | 2, 3 | id of the journal |
//! | 4 | pid of the owner |
//! | 5 | start time of the owner, in the kernel's clock ticks |
//! | 6, 7 | boot id |
//! | 8 | hash of the host's name and machine id |
//! | 9 | words of a lane's ring, a power of two |
//! | 10 | words of slack behind a ring: the longest frame |
//! | 11 | when it was made, unix nanoseconds |
//! | 12 | checksum of words 0 to 11 |
//! | 16 | number of blocks |
//! | 17 | number of clock points |
//! | 18 | 1 where another process drains it, else 0 |
//! | 64 … | clock points: ticks, unix nanoseconds, 2⁻³² nanoseconds a tick |
//! | 256 … | directory of blocks: `kind:8 pages:24 first page:32`, lowest bits first |
//!
//! | lane word | written by | holds |
//! |---|---|---|
//! | 0 | producer | head: the position behind the last frame, in words since the lane began |
//! | 1 | producer | records offered |
//! | 2 | producer | frames published |
//! | 3 … 6 | producer | records dropped, by reason |
//! | 7 | producer | waits for space |
//! | 8 | producer | records spilled |
//! | 16 | drain | tail: the position behind the last frame that is committed |
//! | 17 | drain | frames committed |
//! | 18 | drain | of these, frames that were damaged and skipped |
//! | 64 … | producer | the ring, and its slack |
//!
//! A block of tallies is a table of slots of 8 words, the first of which takes what finds no other:
//!
//! | slot word | written by | holds |
//! |---|---|---|
//! | 0 | producer | number of the slot's tenure, 0 while it is free or changes hands |
//! | 1 … 3 | producer | what is counted |
//! | 4 | producer | how often |
//! | 5 | drain | what is committed of it: `count:40 number:24` |
//!
//! A frame is `checksum:32 kind:8 words:24`, its sequence number, and its payload. It begins at
//! `position % ring`; the last one before the ring's end overhangs into the slack, and the next begins
//! at the ring's start. A block of names is a run of entries: `bytes:32 kind:8 0:24`, a checksum, the
//! bytes padded with zeros; a zero word ends it.

/// `TLMJRNL` and a zero byte.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"TLMJRNL\0");
pub(crate) const VERSION: u64 = 1;

pub(crate) const PAGE_WORDS: usize = 512;
pub(crate) const HEADER_WORDS: usize = 4 * PAGE_WORDS;

/// Words of the header.
pub(crate) mod header {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const ID: usize = 2;
    pub(crate) const PID: usize = 4;
    pub(crate) const START_TIME: usize = 5;
    pub(crate) const BOOT_ID: usize = 6;
    pub(crate) const HOST: usize = 8;
    pub(crate) const RING_WORDS: usize = 9;
    pub(crate) const SLACK_WORDS: usize = 10;
    pub(crate) const CREATED: usize = 11;
    pub(crate) const CHECKSUM: usize = 12;
    pub(crate) const BLOCKS: usize = 16;
    pub(crate) const POINTS: usize = 17;
    pub(crate) const DRAINED_FROM_OUTSIDE: usize = 18;
    pub(crate) const FIRST_POINT: usize = 64;
    pub(crate) const DIRECTORY: usize = 256;
}

/// Words of a lane block.
pub(crate) mod lane {
    use crate::source::DropReason;

    pub(crate) const HEAD: usize = 0;
    pub(crate) const OFFERED: usize = 1;
    pub(crate) const PUBLISHED: usize = 2;
    pub(crate) const DROPPED: usize = 3;
    pub(crate) const WAITS: usize = DROPPED + DropReason::ALL.len();
    pub(crate) const SPILLED: usize = WAITS + 1;
    pub(crate) const TAIL: usize = 16;
    pub(crate) const COMMITTED: usize = 17;
    pub(crate) const DAMAGED: usize = 18;
    pub(crate) const RING: usize = 64;
}

/// Words of a slot of a block of tallies.
pub(crate) mod tally {
    pub(crate) const NUMBER: usize = 0;
    pub(crate) const KEY: usize = 1;
    pub(crate) const COUNT: usize = 4;
    pub(crate) const COMMITTED: usize = 5;
    pub(crate) const SLOT_WORDS: usize = 8;
}

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Lane = 1,
    Names = 2,
    Tallies = 3,
}

/// An entry of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    pub(crate) first_page: u32,
    pub(crate) pages: u32,
}

impl Block {
    pub(crate) fn word(self) -> u64 {
        self.kind as u64 | u64::from(self.pages) << 8 | u64::from(self.first_page) << 32
    }

    pub(crate) fn from_word(word: u64) -> Option<Self> {
        let kind = match word as u8 {
            1 => BlockKind::Lane,
            2 => BlockKind::Names,
            3 => BlockKind::Tallies,
            _ => return None,
        };
        Some(Self { kind, first_page: (word >> 32) as u32, pages: (word >> 8) as u32 & 0x00FF_FFFF })
    }

    pub(crate) fn words(self) -> usize {
        self.pages as usize * PAGE_WORDS
    }

    pub(crate) fn offset_bytes(self) -> u64 {
        u64::from(self.first_page) * (PAGE_WORDS as u64 * 8)
    }
}

/// How many pages a lane with this ring and slack takes.
pub(crate) fn lane_pages(ring_words: usize, slack_words: usize) -> usize {
    (lane::RING + ring_words + slack_words).div_ceil(PAGE_WORDS)
}

/// The longest frame of a ring: an eighth of it, so that a full lane still holds several. In the model, whose
/// rings are as small as can be, it is half of it.
pub(crate) fn slack_words(ring_words: usize) -> usize {
    ring_words / if cfg!(any(loom, shuttle)) { 2 } else { 8 }
}

pub(crate) const BLOCKS_MAX: usize = HEADER_WORDS - header::DIRECTORY;
