//! Tallies: counts by key, of what happens too often to be a record each time.
//!
//! A lane has a few tables of slots in the journal, made when they are needed. Its owner counts in a
//! slot with two plain stores, so a count survives the process without a record. The drain reads a slot
//! as a third party reads a frame: number, contents, fence, number again. Counts only grow and a slot's
//! number is never used twice in a journal, so whoever reads a slot twice sees which reading is later.
//!
//! A slot whose count is committed may be given to another key, under a new number: the tables need
//! only hold the keys that were counted since the drain was last here. A key that finds no place in any
//! table is counted in the first slot of the first one, so that at least the sum stays exact.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::layout::{PAGE_WORDS, tally};

/// The pages of the tables of a lane.
pub(crate) const TABLE_PAGES: [usize; 4] = [4, 16, 64, 256];
/// How many slots may hold a key.
const PROBES: usize = 16;
/// How much of the count goes into the mark of what is committed; the rest is the slot's number.
const MARK_COUNT_BITS: u32 = 40;
/// The key of what found no place.
const NO_PLACE: [u64; 3] = [0, 0, u64::MAX];

/// What was counted for one key, as a drain reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Tells this slot's tenure from all others of the journal.
    pub number: u64,
    /// What was counted, in the language of whoever counts.
    pub key: [u64; 3],
    /// How often: of two readings with one number, the larger is the later.
    pub count: u64,
}

/// A tally of a batch, and where it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) tally: Tally,
    pub(crate) lane: u32,
    table: usize,
    slot: usize,
}

/// The tables of one lane.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    tables: [OnceLock<&'static [AtomicU64]>; TABLE_PAGES.len()],
}

/// Where a key is counted.
enum Place<'a> {
    Found(&'a Slot),
    Free(&'a Slot),
    None,
}

type Slot = [AtomicU64; tally::SLOT_WORDS];

impl Tallies {
    /// Counts once where the key has its slot, or one can be had in the tables that there are. To be called
    /// by the lane's owner only.
    #[inline]
    pub(crate) fn add(&self, key: [u64; 3], next_number: impl FnOnce() -> u64) -> bool {
        let mut free = None;
        for table in self.tables() {
            match place(table, key) {
                Place::Found(slot) => {
                    increase(slot);
                    return true;
                }
                Place::Free(slot) => free = free.or(Some(slot)),
                Place::None => {}
            }
        }
        if let Some(slot) = free {
            give(slot, next_number(), key);
        }
        free.is_some()
    }

    /// Counts what found no place; false where there is no table at all.
    #[cold]
    pub(crate) fn add_without_place(&self, next_number: impl FnOnce() -> u64) -> bool {
        let Some(slot) = self.tables().next().and_then(|table| slots(table).first()) else { return false };
        match slot[tally::NUMBER].load(Ordering::Relaxed) {
            0 => give(slot, next_number(), NO_PLACE),
            _ => increase(slot),
        }
        true
    }

    /// The pages of the next table, while there is one.
    pub(crate) fn next_pages(&self) -> Option<usize> {
        TABLE_PAGES.get(self.tables().count()).copied()
    }

    /// Adds the next table.
    pub(crate) fn grow(&self, words: &'static [AtomicU64]) {
        if let Some(table) = self.tables.get(self.tables().count()) {
            table.get_or_init(|| words);
        }
    }

    /// What is not yet committed.
    pub(crate) fn collect(&self, lane: u32, taken: &mut Vec<Taken>) {
        for (table, words) in self.tables().enumerate() {
            collect_table(words, lane, table, taken);
        }
    }

    /// Notes that a tally is committed, so that its slot may be given away once nothing was added.
    pub(crate) fn release(&self, taken: &Taken) {
        let slot = self.tables().nth(taken.table).and_then(|table| slots(table).get(taken.slot));
        if let Some(slot) = slot {
            slot[tally::COMMITTED].store(mark(&taken.tally), Ordering::Release);
        }
    }

    fn tables(&self) -> impl Iterator<Item = &'static [AtomicU64]> + '_ {
        self.tables.iter().map_while(|table| table.get().copied())
    }
}

/// One table of another process's journal.
pub(crate) struct TalliesAt<'a>(pub(crate) &'a [AtomicU64]);

impl TalliesAt<'_> {
    /// What is not yet committed; `lane` is the number of the table.
    pub(crate) fn collect(&self, lane: u32, taken: &mut Vec<Taken>) {
        collect_table(self.0, lane, 0, taken);
    }

    /// Notes that a tally is committed.
    pub(crate) fn release(&self, taken: &Taken) {
        if let Some(slot) = slots(self.0).get(taken.slot) {
            slot[tally::COMMITTED].store(mark(&taken.tally), Ordering::Release);
        }
    }
}

fn collect_table(words: &[AtomicU64], lane: u32, table: usize, taken: &mut Vec<Taken>) {
    for (slot, words) in slots(words).iter().enumerate() {
        let tally = read(words).filter(|tally| !is_committed(words, tally));
        taken.extend(tally.map(|tally| Taken { tally, lane, table, slot }));
    }
}

/// The tallies of a table that may be anything.
pub(crate) fn read_table(words: &[AtomicU64]) -> impl Iterator<Item = Tally> + '_ {
    slots(words).iter().filter_map(read)
}

fn slots(words: &[AtomicU64]) -> &[Slot] {
    words.as_chunks().0
}

/// Looks for the key, and for a slot that it could have.
#[inline]
fn place(table: &[AtomicU64], key: [u64; 3]) -> Place<'_> {
    let mut free = Place::None;
    let slots = slots(table);
    let first = first_slot(slots.len(), key);
    for slot in slots.iter().skip(first).take(PROBES) {
        if slot[tally::NUMBER].load(Ordering::Relaxed) == 0 {
            return if matches!(free, Place::None) { Place::Free(slot) } else { free };
        }
        if key_of(slot) == key {
            return Place::Found(slot);
        }
        if matches!(free, Place::None) && read(slot).is_some_and(|tally| is_committed(slot, &tally)) {
            free = Place::Free(slot);
        }
    }
    free
}

/// The first of the slots that may hold a key; the first slot of a table holds none.
#[inline]
fn first_slot(slots: usize, [high, low, third]: [u64; 3]) -> usize {
    let mixed = (high ^ low.rotate_left(32) ^ third.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
    1 + ((u128::from(mixed) * (slots.saturating_sub(PROBES) as u128)) >> 64) as usize
}

#[inline]
fn key_of(slot: &Slot) -> [u64; 3] {
    [tally::KEY, tally::KEY + 1, tally::KEY + 2].map(|word| slot[word].load(Ordering::Relaxed))
}

/// Adds one to a count that only one thread writes.
#[inline]
fn increase(slot: &Slot) {
    let count = slot[tally::COUNT].load(Ordering::Relaxed);
    slot[tally::COUNT].store(count + 1, Ordering::Relaxed);
}

/// Gives a slot to a key and counts once.
#[cold]
fn give(slot: &Slot, number: u64, key: [u64; 3]) {
    slot[tally::NUMBER].store(0, Ordering::Relaxed);
    // Whoever sees a word of the new tenure sees that the old one is over.
    fence(Ordering::Release);
    for (word, part) in slot[tally::KEY..].iter().zip(key) {
        word.store(part, Ordering::Relaxed);
    }
    slot[tally::COUNT].store(1, Ordering::Relaxed);
    slot[tally::NUMBER].store(number, Ordering::Release);
}

/// A slot as it was at one moment; none if it is free, or was given away meanwhile.
fn read(slot: &Slot) -> Option<Tally> {
    let number = slot[tally::NUMBER].load(Ordering::Acquire);
    let tally = Tally { number, key: key_of(slot), count: slot[tally::COUNT].load(Ordering::Relaxed) };
    fence(Ordering::Acquire);
    (number != 0 && slot[tally::NUMBER].load(Ordering::Relaxed) == number).then_some(tally)
}

fn is_committed(slot: &Slot, tally: &Tally) -> bool {
    slot[tally::COMMITTED].load(Ordering::Acquire) == mark(tally)
}

/// Number and count in one word, so that a mark of an earlier tenure is none of this one.
fn mark(tally: &Tally) -> u64 {
    tally.number << MARK_COUNT_BITS | tally.count & ((1 << MARK_COUNT_BITS) - 1)
}

const _: () = assert!(PAGE_WORDS.is_multiple_of(tally::SLOT_WORDS));

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::memory::heap;

    struct Counter {
        tallies: Tallies,
        number: u64,
    }

    impl Counter {
        fn new(tables: usize) -> Self {
            let counter = Self { tallies: Tallies::default(), number: 0 };
            for pages in &TABLE_PAGES[..tables] {
                counter.tallies.grow(heap(pages * PAGE_WORDS));
            }
            counter
        }

        fn add(&mut self, key: u64) -> bool {
            self.tallies.add([1, 2, key], || {
                self.number += 1;
                self.number
            })
        }

        fn collect(&self) -> Vec<Taken> {
            let mut taken = Vec::new();
            self.tallies.collect(0, &mut taken);
            taken
        }
    }

    #[test]
    fn keys_are_counted_apart_and_only_what_is_new_is_collected() {
        let mut counter = Counter::new(1);
        assert!([7, 8, 7].into_iter().all(|key| counter.add(key)));
        let mut counts: Vec<_> =
            counter.collect().iter().map(|taken| (taken.tally.key[2], taken.tally.count)).collect();
        counts.sort_unstable();
        assert_eq!(counts, [(7, 2), (8, 1)]);
        counter.collect().iter().for_each(|taken| counter.tallies.release(taken));
        assert!(counter.collect().is_empty());
        assert!(counter.add(8));
        assert_eq!(counter.collect().iter().map(|taken| taken.tally.count).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_table_forgets_only_what_is_committed_and_the_sum_stays_exact() {
        let mut counter = Counter::new(1);
        let mut committed: HashMap<u64, Tally> = HashMap::new();
        let mut without_place = 0;
        for key in 0..20_000 {
            // Some keys come back long after their slot was given away.
            if !counter.add(key % 3_000) {
                without_place += 1;
                assert!(counter.tallies.add_without_place(|| 1 << 23));
            }
            if key % 90 == 0 {
                for taken in counter.collect() {
                    counter.tallies.release(&taken);
                    committed.insert(taken.tally.number, taken.tally);
                }
            }
        }
        committed.extend(counter.collect().iter().map(|taken| (taken.tally.number, taken.tally)));
        assert_eq!(committed.values().map(|tally| tally.count).sum::<u64>(), 20_000);
        assert!(without_place < 200, "{without_place}");
        assert!(committed.len() > 3_000);
    }

    #[test]
    fn a_mark_of_an_earlier_tenure_commits_nothing() {
        let mut counter = Counter::new(1);
        counter.add(1);
        let old = counter.collect()[0];
        counter.tallies.release(&old);
        let slot = &slots(counter.tallies.tables().next().unwrap())[old.slot];
        give(slot, 99, [1, 2, 3]);
        counter.tallies.release(&old);
        assert_eq!(counter.collect().len(), 1);
    }
}
