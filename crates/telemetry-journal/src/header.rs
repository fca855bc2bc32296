//! The header of a journal: written once by its owner, read by everybody else with suspicion.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::checksum::checksum;
use crate::clock::{Clock, POINTS_MAX, Point};
use crate::error::JournalError;
use crate::layout::{self, BLOCKS_MAX, Block, MAGIC, VERSION, header};
use crate::process::Owner;

/// The longest ring that a journal may have.
const RING_WORDS_MAX: usize = 1 << 27;

/// What does not change in the life of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) id: u128,
    pub(crate) owner: Owner,
    pub(crate) ring_words: usize,
    pub(crate) slack_words: usize,
    pub(crate) created_unix_ns: i64,
    /// Whether another process drains it.
    pub(crate) is_drained_from_outside: bool,
}

impl Header {
    pub(crate) fn write(&self, words: &[AtomicU64]) {
        let set = |index: usize, value: u64| words[index].store(value, Ordering::Relaxed);
        set(header::MAGIC, MAGIC);
        set(header::VERSION, VERSION);
        set(header::ID, (self.id >> 64) as u64);
        set(header::ID + 1, self.id as u64);
        set(header::PID, u64::from(self.owner.pid));
        set(header::START_TIME, self.owner.start_time);
        set(header::BOOT_ID, self.owner.boot_id[0]);
        set(header::BOOT_ID + 1, self.owner.boot_id[1]);
        set(header::HOST, self.owner.host);
        set(header::RING_WORDS, self.ring_words as u64);
        set(header::SLACK_WORDS, self.slack_words as u64);
        set(header::CREATED, self.created_unix_ns as u64);
        set(header::DRAINED_FROM_OUTSIDE, u64::from(self.is_drained_from_outside));
        words[header::CHECKSUM].store(header_checksum(words), Ordering::Release);
    }

    pub(crate) fn read(words: &[AtomicU64], path: &Path) -> Result<Self, JournalError> {
        let get = |index: usize| words[index].load(Ordering::Relaxed);
        let not_a_journal = || JournalError::NotAJournal { path: path.to_owned() };
        if get(header::MAGIC) != MAGIC {
            return Err(not_a_journal());
        }
        if get(header::VERSION) > VERSION {
            let found = get(header::VERSION);
            return Err(JournalError::Newer { path: path.to_owned(), found, known: VERSION });
        }
        if get(header::VERSION) != VERSION || get(header::CHECKSUM) != header_checksum(words) {
            return Err(not_a_journal());
        }
        let ring_words = usize::try_from(get(header::RING_WORDS)).map_err(|_| not_a_journal())?;
        let slack_words = usize::try_from(get(header::SLACK_WORDS)).map_err(|_| not_a_journal())?;
        let is_ring = ring_words.is_power_of_two() && ring_words <= RING_WORDS_MAX;
        if !is_ring || slack_words != layout::slack_words(ring_words) {
            return Err(not_a_journal());
        }
        Ok(Self {
            id: u128::from(get(header::ID)) << 64 | u128::from(get(header::ID + 1)),
            owner: Owner {
                pid: get(header::PID) as u32,
                start_time: get(header::START_TIME),
                boot_id: [get(header::BOOT_ID), get(header::BOOT_ID + 1)],
                host: get(header::HOST),
            },
            ring_words,
            slack_words,
            created_unix_ns: get(header::CREATED) as i64,
            is_drained_from_outside: get(header::DRAINED_FROM_OUTSIDE) == 1,
        })
    }
}

fn header_checksum(words: &[AtomicU64]) -> u64 {
    u64::from(checksum(VERSION, header::CHECKSUM, |index| words[index].load(Ordering::Relaxed)))
}

/// Writes the points; the first one may be replaced, later ones are only added.
pub(crate) fn write_points(words: &[AtomicU64], points: &[Point]) {
    for (index, point) in points.iter().enumerate() {
        let first = header::FIRST_POINT + index * 3;
        words[first].store(point.ticks, Ordering::Relaxed);
        words[first + 1].store(point.unix_ns as u64, Ordering::Relaxed);
        words[first + 2].store(point.nanos_per_tick, Ordering::Relaxed);
    }
    words[header::POINTS].store(points.len() as u64, Ordering::Release);
}

pub(crate) fn read_clock(words: &[AtomicU64]) -> Clock {
    let count = words[header::POINTS].load(Ordering::Acquire).min(POINTS_MAX as u64) as usize;
    let get = |index: usize| words[index].load(Ordering::Relaxed);
    let point = |index: usize| {
        let first = header::FIRST_POINT + index * 3;
        Point { ticks: get(first), unix_ns: get(first + 1) as i64, nanos_per_tick: get(first + 2) }
    };
    Clock::new((0..count).map(point).collect())
}

/// The blocks that the directory names; ends at an entry that is none.
pub(crate) fn read_directory(words: &[AtomicU64]) -> Vec<Block> {
    let count = words[header::BLOCKS].load(Ordering::Acquire).min(BLOCKS_MAX as u64) as usize;
    let entries = &words[header::DIRECTORY..header::DIRECTORY + count];
    entries.iter().map_while(|entry| Block::from_word(entry.load(Ordering::Relaxed))).collect()
}

/// Adds a block to the directory; false when it is full.
pub(crate) fn add_block(words: &[AtomicU64], block: Block) -> bool {
    let count = words[header::BLOCKS].load(Ordering::Relaxed);
    if count >= BLOCKS_MAX as u64 {
        return false;
    }
    words[header::DIRECTORY + count as usize].store(block.word(), Ordering::Relaxed);
    words[header::BLOCKS].store(count + 1, Ordering::Release);
    true
}
