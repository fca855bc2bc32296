//! A lane: a ring of frames with one producer and one drain.
//!
//! The producer writes a frame behind the head and publishes it with one release store of the head;
//! the drain reads up to the head and frees space with one release store of the tail. All words are
//! atomics, so a third party may read a ring while it is written: it copies a frame, then looks at the
//! head again, and believes the copy only if the producer cannot have come round to it meanwhile. The
//! release fence before a frame is what makes that look back sound.
//!
//! That there is one producer is a promise of whoever hands lanes out; breaking it garbles frames but
//! is no undefined behaviour.

use crate::batch::{Batch, Mark};
use crate::checksum::Checksum;
use crate::frame::{FRAME_WORDS, FrameHead, GAP_KIND, frame_checksum, frame_seed};
use crate::layout::{self, lane};
use crate::prefetch::prefetch_for_write;
use crate::source::{Counters, DropReason};
use crate::sync::{AtomicU64, Ordering, fence};

/// Words of a cache line.
const LINE_WORDS: usize = 8;
/// How far ahead of the head memory is asked for.
const PREFETCH_WORDS: usize = 16 * LINE_WORDS;

/// A word of a record, little endian.
pub type Word = [u8; 8];

/// A record on its way into a lane.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// What it is.
    pub kind: u8,
    /// How many words of it stay where there is no room for the rest.
    pub fixed: usize,
    /// The record.
    pub words: &'a [Word],
}

/// A frame that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    TooLong,
}

/// A ring of frames, over words that may be shared memory.
#[derive(Debug)]
pub(crate) struct Ring<'a> {
    /// Head, tail and counters.
    counters: &'a [AtomicU64; lane::RING],
    /// The ring and its slack.
    frames: &'a [AtomicU64],
    /// Words of the ring, a power of two.
    length: usize,
    /// Words of the longest frame, which is the slack behind the ring.
    frame_max: usize,
}

impl<'a> Ring<'a> {
    /// A lane over these words; none where they are too few or the ring is no power of two.
    pub(crate) fn new(words: &'a [AtomicU64], length: usize) -> Option<Self> {
        let frame_max = layout::slack_words(length);
        let (counters, frames) = words.split_first_chunk()?;
        let is_enough = frames.len() >= length + frame_max;
        let is_ring = length.is_power_of_two() && frame_max > FRAME_WORDS;
        (is_enough && is_ring).then_some(Self { counters, frames, length, frame_max })
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.counters[index].load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, index: usize, value: u64) {
        self.counters[index].store(value, Ordering::Relaxed);
    }

    /// Writes to each page once, so that records do not pay for it.
    pub(crate) fn touch(&self) {
        for word in self.frames.iter().step_by(layout::PAGE_WORDS) {
            word.fetch_or(0, Ordering::Relaxed);
        }
    }

    /// Adds to a counter that only one thread writes.
    #[inline]
    pub(crate) fn add(&self, index: usize, count: u64) {
        self.set(index, self.get(index).wrapping_add(count));
    }

    pub(crate) fn drop_counter(reason: DropReason) -> usize {
        lane::DROPPED + reason as usize
    }

    #[inline]
    pub(crate) fn tail(&self) -> u64 {
        self.counters[lane::TAIL].load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.counters[lane::HEAD].load(Ordering::Acquire)
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.length as u64
    }

    /// Words of the longest frame.
    pub(crate) fn frame_max(&self) -> usize {
        self.frame_max
    }

    /// The words at this position, up to the longest frame.
    #[inline]
    pub(crate) fn slot(&self, position: u64, length: usize) -> &'a [AtomicU64] {
        let start = position as usize & (self.length - 1);
        &self.frames[start..start + length]
    }

    /// Where the frame after one of `length` words at `position` begins.
    #[inline]
    pub(crate) fn next(&self, position: u64, length: usize) -> u64 {
        let ring = self.length as u64;
        let offset = position & (ring - 1);
        if offset + length as u64 >= ring { position - offset + ring } else { position + length as u64 }
    }

    /// Publishes a frame and answers how many words are in use. `tail` is a cached tail, refreshed when
    /// the ring looks full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two calls more in every record otherwise")]
    pub(crate) fn push(&self, record: Outgoing<'_>, tail: &AtomicU64) -> Result<u64, Refused> {
        let length = FRAME_WORDS + record.words.len();
        if length > self.frame_max {
            return Err(Refused::TooLong);
        }
        let head = self.get(lane::HEAD);
        let next = self.next(head, length);
        let mut used = next.wrapping_sub(tail.load(Ordering::Relaxed));
        if used > self.length as u64 {
            tail.store(self.tail(), Ordering::Relaxed);
            used = next.wrapping_sub(tail.load(Ordering::Relaxed));
            if used > self.length as u64 {
                return Err(Refused::Full);
            }
        }
        let sequence = self.get(lane::PUBLISHED);
        fence(Ordering::Release);
        let (frame, payload) = self.slot(head, length).split_at(FRAME_WORDS);
        let checksum = write_payload(payload, record.words, frame_seed(record.kind, sequence));
        let frame_head = FrameHead { checksum, kind: record.kind, words: length };
        frame[0].store(frame_head.word(), Ordering::Relaxed);
        frame[1].store(sequence, Ordering::Relaxed);
        self.set(lane::PUBLISHED, sequence + 1);
        self.counters[lane::HEAD].store(next, Ordering::Release);
        self.prefetch(next);
        Ok(used)
    }

    /// Asks for the lines that a later record will be written to: at this distance they arrive in time,
    /// and two of them keep up with records of ordinary size.
    #[inline]
    fn prefetch(&self, position: u64) {
        let ahead = (position as usize + PREFETCH_WORDS) & (self.length - 1);
        if let [first, .., last] = self.frames.get(ahead..=ahead + LINE_WORDS).unwrap_or_default() {
            prefetch_for_write(first);
            prefetch_for_write(last);
        }
    }

    /// Copies what is published and not committed into `batch`, at most `words_max` words, and adds the
    /// mark. Stops at a frame that is damaged: everything published behind it is skipped and counted,
    /// since nothing says where the next one begins.
    pub(crate) fn collect(&self, index: u32, batch: &mut Batch, words_max: usize) {
        let mut reader = FrameReader { position: self.tail(), end: self.head(), sequence: None };
        if reader.end.wrapping_sub(reader.position) > self.length as u64 {
            return self.skip_damaged(index, batch, None);
        }
        let mut taken = 0;
        while reader.position != reader.end && taken < words_max {
            let Some((sequence, words)) = self.read(&mut reader, index, batch) else {
                return self.skip_damaged(index, batch, reader.sequence);
            };
            taken += words;
            reader.sequence = Some(sequence.wrapping_add(1));
        }
        if let Some(sequence) = reader.sequence {
            batch.marks.push(Mark { lane: index, tail: reader.position, sequence, damaged: 0 });
        }
    }

    fn read(&self, reader: &mut FrameReader, index: u32, batch: &mut Batch) -> Option<(u64, usize)> {
        let first = self.slot(reader.position, FRAME_WORDS);
        let head = FrameHead::from_word(first[0].load(Ordering::Relaxed));
        let sequence = first[1].load(Ordering::Relaxed);
        let known = FRAME_WORDS..=self.frame_max;
        if !known.contains(&head.words) || reader.sequence.is_some_and(|expected| expected != sequence) {
            return None;
        }
        let payload = &self.slot(reader.position, head.words)[FRAME_WORDS..];
        let next = self.next(reader.position, head.words);
        if next.wrapping_sub(reader.position) > reader.end.wrapping_sub(reader.position) {
            return None;
        }
        batch.push(index, sequence, head.kind, payload.iter().map(|word| word.load(Ordering::Relaxed)));
        if frame_checksum(head.kind, sequence, batch.last()) != head.checksum {
            batch.pop();
            return None;
        }
        reader.position = next;
        Some((sequence, head.words))
    }

    fn skip_damaged(&self, index: u32, batch: &mut Batch, good: Option<u64>) {
        let published = self.get(lane::PUBLISHED);
        let good = good.unwrap_or_else(|| self.get(lane::COMMITTED));
        let damaged = published.saturating_sub(good);
        batch.marks.push(Mark { lane: index, tail: self.head(), sequence: published, damaged });
    }

    /// Frees the space up to the mark.
    pub(crate) fn release(&self, mark: Mark) {
        self.add(lane::DAMAGED, mark.damaged);
        // Who sees this count sees the head that it was taken from.
        fence(Ordering::Release);
        self.set(lane::COMMITTED, mark.sequence);
        self.counters[lane::TAIL].store(mark.tail, Ordering::Release);
    }

    /// Adds this lane's counters to `sum`, as if `mark` were released already. The producer may be at
    /// work: looks until it sees a moment in which no record is between offer and verdict, or gives up
    /// and counts such a record as not yet offered.
    pub(crate) fn count(&self, sum: &mut Counters, mark: Option<&Mark>) {
        let (mut offered, mut published, mut dropped) = self.producer_counters();
        for _ in 0..8 {
            if offered == verdicts(published, dropped) {
                break;
            }
            (offered, published, dropped) = self.producer_counters();
        }
        let committed = mark.map_or_else(|| self.get(lane::COMMITTED), |mark| mark.sequence);
        let damaged = self.get(lane::DAMAGED).saturating_add(mark.map_or(0, |mark| mark.damaged));
        let undecided = offered.saturating_sub(verdicts(published, dropped)).min(1);
        // The counters of a damaged file may be anything.
        let add = |total: &mut u64, count: u64| *total = total.saturating_add(count);
        add(&mut sum.offered, offered - undecided);
        add(&mut sum.persisted, committed.saturating_sub(damaged));
        add(&mut sum.pending, published.saturating_sub(committed));
        add(&mut sum.torn, damaged);
        for (total, count) in sum.dropped.iter_mut().zip(dropped) {
            add(total, count);
        }
        add(&mut sum.waits, self.get(lane::WAITS));
        add(&mut sum.spilled, self.get(lane::SPILLED));
    }

    fn producer_counters(&self) -> (u64, u64, [u64; DropReason::ALL.len()]) {
        let dropped = DropReason::ALL.map(|reason| self.get(Self::drop_counter(reason)));
        (self.get(lane::OFFERED), self.get(lane::PUBLISHED), dropped)
    }

    /// Records that were offered and got no verdict: at most one, when the producer died in between.
    pub(crate) fn unfinished(&self) -> u64 {
        let (offered, published, dropped) = self.producer_counters();
        offered.saturating_sub(verdicts(published, dropped))
    }

    /// Repairs the counter of published frames of a producer that died between counting a frame and
    /// publishing it, from the frames themselves.
    pub(crate) fn repair_published(&self, frames_pending: u64, first: Option<u64>) {
        let committed = first.unwrap_or_else(|| self.get(lane::COMMITTED));
        self.set(lane::COMMITTED, committed);
        self.set(lane::PUBLISHED, committed.wrapping_add(frames_pending));
    }
}

/// Records that are accepted or dropped.
fn verdicts(published: u64, dropped: [u64; DropReason::ALL.len()]) -> u64 {
    dropped.into_iter().fold(published, u64::saturating_add)
}

struct FrameReader {
    position: u64,
    end: u64,
    sequence: Option<u64>,
}

/// Writes the payload of a frame and answers its checksum, so that no word is read again. The checksum is handed
/// on by value: behind a reference it would go through memory with every pair.
#[inline]
fn write_payload(slots: &[AtomicU64], words: &[Word], seed: u64) -> u32 {
    let mut checksum = Checksum::new(seed);
    let (pairs, odd) = words.as_chunks::<2>();
    let (slot_pairs, slot) = slots.as_chunks();
    for (pair, slots) in pairs.iter().zip(slot_pairs) {
        checksum = write_pair(slots, pair.map(u64::from_le_bytes), checksum);
    }
    if let ([word], [slot]) = (odd, slot) {
        checksum = write_single(slot, u64::from_le_bytes(*word), checksum);
    }
    checksum.finish(words.len())
}

#[inline]
fn write_pair(slots: &[AtomicU64; 2], pair: [u64; 2], checksum: Checksum) -> Checksum {
    slots[0].store(pair[0], Ordering::Relaxed);
    slots[1].store(pair[1], Ordering::Relaxed);
    checksum.with(pair[0], pair[1])
}

#[inline]
fn write_single(slot: &AtomicU64, word: u64, checksum: Checksum) -> Checksum {
    slot.store(word, Ordering::Relaxed);
    checksum.with(word, 0)
}

/// A gap frame for records that were dropped: between which ticks, and how many.
pub(crate) fn gap(words: &[Word; 3]) -> Outgoing<'_> {
    Outgoing { kind: GAP_KIND, fixed: 3, words }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::memory::zeroed;

    #[test]
    fn a_payload_of_any_length_is_written_and_summed() {
        let words: Vec<u64> = (0..9).map(|word| word * 0x0102_0304_0506_0708).collect();
        for length in 0..=words.len() {
            let (words, payload) = (&words[..length], zeroed(length));
            let bytes: Vec<Word> = words.iter().map(|word| word.to_le_bytes()).collect();
            let checksum = write_payload(&payload, &bytes, frame_seed(1, 9));
            let written: Vec<u64> = payload.iter().map(|word| word.load(Ordering::Relaxed)).collect();
            assert_eq!(written, words);
            assert_eq!(checksum, frame_checksum(1, 9, words), "{length} words");
        }
    }
}
