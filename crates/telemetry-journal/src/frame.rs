//! Frames: how a record lies in a ring.

use crate::checksum::checksum;

/// The words in front of a payload.
pub(crate) const FRAME_WORDS: usize = 2;

/// The kind of a frame that says how many records before it were dropped: the ticks of the first and
/// the last, and their number.
pub const GAP_KIND: u8 = 7;

/// The kind of a frame whose payload lies in a spill file: the file's number, the record's kind, its
/// words, its checksum.
pub(crate) const SPILL_KIND: u8 = 0xFE;

/// The first word of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHead {
    pub(crate) checksum: u32,
    pub(crate) kind: u8,
    pub(crate) words: usize,
}

impl FrameHead {
    #[inline]
    pub(crate) fn word(self) -> u64 {
        u64::from(self.checksum) | u64::from(self.kind) << 32 | (self.words as u64) << 40
    }

    pub(crate) fn from_word(word: u64) -> Self {
        Self { checksum: word as u32, kind: (word >> 32) as u8, words: (word >> 40) as usize }
    }
}

/// What the checksum of a frame begins with.
#[inline]
pub(crate) fn frame_seed(kind: u8, sequence: u64) -> u64 {
    sequence ^ u64::from(kind) << 56
}

/// The checksum of a frame with this payload.
#[inline]
pub(crate) fn frame_checksum(kind: u8, sequence: u64, payload: &[u64]) -> u32 {
    checksum(frame_seed(kind, sequence), payload.len(), |index| payload[index])
}
