//! What the drain takes out of a journal in one go: copies of frames, and the marks to move once they
//! are committed.

use crate::tally::{Taken, Tally};

/// One record out of a journal, with the frame that it lay in.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The lane that it lay in.
    pub lane: u32,
    /// Its number within the lane, from 0, without holes.
    pub sequence: u64,
    /// What it is, in the language of whoever wrote it.
    pub kind: u8,
    /// The record as words.
    pub words: &'a [u64],
    /// The same memory as little-endian bytes.
    pub bytes: &'a [u8],
}

/// Copies of frames from all lanes; reused from pass to pass, so it allocates only while it grows.
#[derive(Debug, Default)]
pub struct Batch {
    words: Vec<u64>,
    spans: Vec<Span>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) spills: Vec<u64>,
    pub(crate) taken: Vec<Taken>,
    tallies: Vec<Tally>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    sequence: u64,
    lane: u32,
    kind: u8,
}

/// How far a lane has been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) lane: u32,
    pub(crate) tail: u64,
    pub(crate) sequence: u64,
    /// Of the frames before it, how many were damaged.
    pub(crate) damaged: u64,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is neither a frame nor a tally.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.tallies.is_empty()
    }

    /// What was counted since the last commit.
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// Adds a tally.
    pub fn push_tally(&mut self, tally: Tally) {
        self.tallies.push(tally);
    }

    /// Adds the tallies that were taken out of lanes.
    pub(crate) fn push_taken(&mut self) {
        self.tallies.extend(self.taken.iter().map(|taken| taken.tally));
    }

    /// Forgets the frames and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.spans.clear();
        self.marks.clear();
        self.spills.clear();
        self.taken.clear();
        self.tallies.clear();
    }

    /// The frames, lane by lane, each lane in order.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = Frame<'_>> + '_ {
        (0..self.spans.len()).map(|index| self.frame(index))
    }

    /// The frame with this index, below [`len`](Self::len).
    pub fn frame(&self, index: usize) -> Frame<'_> {
        let span = self.spans[index];
        let words = &self.words[span.start..span.end];
        Frame { lane: span.lane, sequence: span.sequence, kind: span.kind, words, bytes: as_bytes(words) }
    }

    /// The words of the last frame.
    pub(crate) fn last(&self) -> &[u64] {
        self.spans.last().map_or(&[], |span| &self.words[span.start..span.end])
    }

    /// Takes the last frame back.
    pub(crate) fn pop(&mut self) {
        if let Some(span) = self.spans.pop() {
            self.words.truncate(span.start);
        }
    }

    /// Puts another record into the frame with this index.
    pub(crate) fn replace(&mut self, index: usize, kind: u8, words: &[u64]) {
        let start = self.words.len();
        self.words.extend_from_slice(words);
        let span = &mut self.spans[index];
        (span.start, span.end, span.kind) = (start, self.words.len(), kind);
    }

    /// Adds a frame with a copy of these words.
    pub fn push(&mut self, lane: u32, sequence: u64, kind: u8, words: impl IntoIterator<Item = u64>) {
        let start = self.words.len();
        self.words.extend(words);
        self.spans.push(Span { start, end: self.words.len(), sequence, lane, kind });
    }
}

/// The words of a record whose fixed part is `fixed` and whose items are `tail`, padded with zeros.
pub fn to_words(fixed: &[u64], tail: &[u8]) -> impl Iterator<Item = u64> {
    let tail_words = tail.chunks(8).map(|chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    });
    fixed.iter().copied().chain(tail_words)
}

fn as_bytes(words: &[u64]) -> &[u8] {
    // SAFETY: any initialized u64 is eight initialized bytes, u8 has no alignment, and the length in
    // bytes is that of an existing allocation.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_words_and_bytes() {
        let mut batch = Batch::new();
        batch.push(3, 7, 1, to_words(&[1, u64::MAX], b"hello, you"));
        let frame = batch.frame(0);
        assert_eq!((frame.lane, frame.sequence, frame.kind, frame.words.len()), (3, 7, 1, 4));
        assert_eq!(&frame.bytes[16..26], b"hello, you");
        assert_eq!(&frame.bytes[26..], [0; 6]);
    }
}
