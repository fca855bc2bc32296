//! Following a lane as a third party: reads what the producer wrote and the drain may have released, and
//! knows exactly how much it missed.
//!
//! A follower copies a frame and then looks at head and tail again. The copy is good if the producer
//! cannot have come round to it: the longest frame behind the head ends before it, or the drain has not
//! released it. Otherwise the follower was overrun, and goes on at the oldest frame that is surely there:
//! where the drain stands, or where the producer's lap began. Frames are numbered without holes, so the
//! next one that it reads says how many it missed.
//!
//! Nothing is written: neither the producer nor the drain can tell how many follow.

use crate::batch::Batch;
use crate::frame::{FRAME_WORDS, FrameHead, frame_checksum};
use crate::lane::Ring;
use crate::layout::lane;
use crate::sync::{Ordering, fence};

/// What an overrun counts as: a look ends although each of its attempts comes too late.
const OVERRUN_WORDS: usize = 64;

/// How often a follower that comes tries to read the number of its first frame; later it learns it by and by.
const ATTEMPTS: usize = 16;

/// How far a follower is in one lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    position: u64,
    /// The number of the frame that comes next; none while it is not known.
    expected: Option<u64>,
    /// How many frames went by before it came, or were skipped.
    pub(crate) before: u64,
    pub(crate) seen: u64,
    pub(crate) missed: u64,
    /// Whether it stands where no frame has told its number: after a jump, or at the beginning.
    is_lost: bool,
}

/// What became of the attempt to read a frame.
enum Copied {
    Whole {
        sequence: u64,
        next: u64,
        words: usize,
    },
    /// The producer may have come round to it.
    Overrun,
    /// It was there, and is no frame.
    Damaged,
}

impl Cursor {
    /// A cursor in a lane that is older than the follower: at the oldest frame that is surely there.
    pub(crate) fn oldest(ring: &Ring<'_>) -> Self {
        let mut cursor = Self::default();
        for _ in 0..ATTEMPTS {
            cursor.jump(ring.oldest());
            ring.find_out(&mut cursor);
            if !cursor.is_lost {
                break;
            }
        }
        cursor
    }

    /// A cursor in a lane that is younger than the follower, whose first frame is number 0.
    pub(crate) fn first() -> Self {
        Self { expected: Some(0), ..Self::default() }
    }

    fn jump(&mut self, position: u64) {
        self.position = position;
        self.is_lost = true;
    }

    fn is_at(&mut self, sequence: u64) {
        match self.expected {
            Some(expected) => self.missed += sequence.saturating_sub(expected),
            None => self.before = sequence.saturating_sub(self.seen + self.missed),
        }
        self.expected = self.expected.max(Some(sequence));
        self.is_lost = false;
    }

    fn read(&mut self, sequence: u64, next: u64) {
        self.is_at(sequence);
        self.seen += 1;
        (self.position, self.expected) = (next, Some(sequence.wrapping_add(1)));
    }
}

impl Ring<'_> {
    /// Copies what is published behind the cursor into `batch`, some `words_max` words, and moves the
    /// cursor.
    pub(crate) fn follow(&self, cursor: &mut Cursor, index: u32, batch: &mut Batch, words_max: usize) {
        let mut taken = 0;
        let mut head = self.head();
        while taken < words_max {
            if cursor.position == head {
                head = self.head();
                if cursor.position == head {
                    return self.settle(cursor);
                }
            }
            match self.copy(cursor.position, head, index, batch) {
                Copied::Whole { sequence, next, words }
                    if cursor.expected.is_none_or(|it| it <= sequence) =>
                {
                    cursor.read(sequence, next);
                    taken += words;
                }
                Copied::Overrun => {
                    cursor.jump(self.oldest());
                    // Not before: the oldest frame may be younger than a head that was read earlier.
                    head = self.head();
                    taken += OVERRUN_WORDS;
                }
                Copied::Whole { .. } => {
                    batch.pop();
                    cursor.jump(head);
                }
                // Nothing says where the next frame begins but the head.
                Copied::Damaged => cursor.jump(head),
            }
        }
    }

    /// Finds out which number the frame at the cursor has, if that can be known now.
    fn find_out(&self, cursor: &mut Cursor) {
        let head = self.head();
        if cursor.position == head {
            return self.settle(cursor);
        }
        if let Copied::Whole { sequence, .. } = self.copy(cursor.position, head, 0, &mut Batch::new()) {
            cursor.is_at(sequence);
        }
    }

    /// Moves the cursor behind everything that is published.
    pub(crate) fn skip(&self, cursor: &mut Cursor) {
        cursor.jump(self.head());
        cursor.expected = None;
        self.settle(cursor);
    }

    /// The beginning of the oldest frame that is surely there now.
    fn oldest(&self) -> u64 {
        let (tail, head) = (self.tail(), self.head());
        let lap = head & !(self.capacity() - 1);
        if self.is_out_of_reach(lap, head) { lap.min(tail) } else { tail }
    }

    /// Whether a producer whose head this is cannot be writing at `position`, whatever the tail is.
    fn is_out_of_reach(&self, position: u64, head: u64) -> bool {
        head.wrapping_sub(position).saturating_add(self.frame_max() as u64) <= self.capacity()
    }

    /// Copies the frame at this position into `batch`.
    fn copy(&self, position: u64, head: u64, index: u32, batch: &mut Batch) -> Copied {
        let copied = self.copy_unchecked(position, head, index, batch);
        // Whoever saw a word of a later frame sees what its producer saw before it wrote that.
        fence(Ordering::Acquire);
        let (tail, head) = (self.get(lane::TAIL), self.get(lane::HEAD));
        if self.is_out_of_reach(position, head) || !is_behind(position, tail) {
            return copied;
        }
        if matches!(copied, Copied::Whole { .. }) {
            batch.pop();
        }
        Copied::Overrun
    }

    fn copy_unchecked(&self, position: u64, end: u64, index: u32, batch: &mut Batch) -> Copied {
        let first = self.slot(position, FRAME_WORDS);
        let head = FrameHead::from_word(first[0].load(Ordering::Relaxed));
        let sequence = first[1].load(Ordering::Relaxed);
        if !(FRAME_WORDS..=self.frame_max()).contains(&head.words) {
            return Copied::Damaged;
        }
        let next = self.next(position, head.words);
        if next.wrapping_sub(position) > end.wrapping_sub(position) {
            return Copied::Damaged;
        }
        let payload = &self.slot(position, head.words)[FRAME_WORDS..];
        batch.push(index, sequence, head.kind, payload.iter().map(|word| word.load(Ordering::Relaxed)));
        if frame_checksum(head.kind, sequence, batch.last()) != head.checksum {
            batch.pop();
            return Copied::Damaged;
        }
        Copied::Whole { sequence, next, words: head.words }
    }

    /// At the end of the lane, after a jump: finds out which number comes next, if that can be known now.
    fn settle(&self, cursor: &mut Cursor) {
        if !cursor.is_lost {
            return;
        }
        if let Some(sequence) = self.sequence_at(cursor.position) {
            cursor.is_at(sequence);
        }
    }

    /// The number of the next frame, where `position` is the end of the lane and the drain is there, too.
    fn sequence_at(&self, position: u64) -> Option<u64> {
        if position == 0 {
            return Some(0);
        }
        if self.tail() != position {
            return None;
        }
        let committed = self.get(lane::COMMITTED);
        // Had the count been taken from a later head, that head would be seen now.
        fence(Ordering::Acquire);
        (self.get(lane::HEAD) == position).then_some(committed)
    }
}

/// Whether `position` lies before `mark`, which is never a whole lap of numbers away.
fn is_behind(position: u64, mark: u64) -> bool {
    (position.wrapping_sub(mark) as i64) < 0
}
