//! The producer's side of a lane: the hot path, and what happens when a lane is full.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::bell::{Bell, Progress};
use crate::clock::ticks;
use crate::frame::SPILL_KIND;
use crate::lane::{Outgoing, Refused, Ring, Word, gap};
use crate::layout::lane;
use crate::source::DropReason;
use crate::spill::Spill;
use crate::tally::Tallies;

/// What happens to a record when its lane is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// Waits for the drain, up to a limit; then drops.
    Wait,
    /// Leaves the values out from three quarters on; drops when full.
    Degrade,
    /// Drops at once.
    Drop,
}

/// How often a producer looks whether a drain in another process has moved.
const OUTSIDE_LOOK: Duration = Duration::from_millis(1);

/// What all lanes of a journal share.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) on_full: OnFull,
    pub(crate) wait_max: Duration,
    /// Whether the drain is in another process, and so can neither be woken nor wake anybody.
    is_outside: bool,
    /// Wakes the drain.
    pub(crate) work: Bell,
    pub(crate) progress: Progress,
    /// The progress at which a wait was in vain, plus one: until there is more, nobody waits again.
    stalled_at: AtomicU64,
    /// Where spill files go; none for a journal in memory.
    pub(crate) path: Option<PathBuf>,
    spills: AtomicU64,
    /// How many tenures of tallies there were.
    pub(crate) tenures: AtomicU64,
}

impl Common {
    pub(crate) fn new(on_full: OnFull, wait_max: Duration, path: Option<PathBuf>, is_outside: bool) -> Self {
        Self {
            on_full,
            wait_max,
            is_outside,
            work: Bell::default(),
            progress: Progress::default(),
            stalled_at: AtomicU64::new(0),
            path,
            spills: AtomicU64::new(0),
            tenures: AtomicU64::new(0),
        }
    }
}

/// A lane for one thread at a time.
#[derive(Debug)]
pub struct Lane {
    pub(crate) ring: Ring<'static>,
    pub(crate) index: u32,
    pub(crate) is_owned: AtomicBool,
    is_touched: AtomicBool,
    common: &'static Common,
    pub(crate) tallies: Tallies,
    tail: AtomicU64,
    /// The tail at which a wait for a drain in another process was in vain, plus one.
    stalled_tail: AtomicU64,
    gap_first: AtomicU64,
    gap_last: AtomicU64,
    gap_count: AtomicU64,
}

impl Lane {
    pub(crate) fn new(ring: Ring<'static>, index: u32, is_owned: bool, common: &'static Common) -> Self {
        Self {
            tail: AtomicU64::new(ring.tail()),
            ring,
            index,
            is_owned: AtomicBool::new(is_owned),
            is_touched: AtomicBool::new(false),
            common,
            tallies: Tallies::default(),
            stalled_tail: AtomicU64::new(0),
            gap_first: AtomicU64::new(0),
            gap_last: AtomicU64::new(0),
            gap_count: AtomicU64::new(0),
        }
    }

    /// Offers a record; true if it was accepted, which means that it survives the process. To be called
    /// by the lane's owner only.
    #[inline]
    pub fn offer(&self, record: Outgoing<'_>) -> bool {
        let Outgoing { kind, fixed, words } = record;
        self.offer_words(kind, fixed, words)
    }

    /// Takes the parts of a record one by one, which fit the processor's registers: together they would go through
    /// memory, and whoever reads them by other pieces than they were written by waits for that.
    #[inline(never)]
    fn offer_words(&self, kind: u8, fixed: usize, words: &[Word]) -> bool {
        let record = Outgoing { kind, fixed, words };
        self.ring.add(lane::OFFERED, 1);
        if self.gap_count.load(Ordering::Relaxed) == 0
            && self.common.on_full != OnFull::Degrade
            && let Ok(used) = self.ring.push(record, &self.tail)
        {
            if used > self.ring.capacity() / 2 {
                self.ask_for_space();
            }
            return true;
        }
        self.offer_slowly(record)
    }

    /// The number of the lane in its journal.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Counts a record that cannot be offered.
    pub fn refuse(&self, reason: DropReason) {
        self.ring.add(lane::OFFERED, 1);
        self.drop_record(reason);
    }

    /// Gives the lane back, for another thread to take.
    pub fn give_back(&self) {
        self.is_owned.store(false, Ordering::Release);
    }

    /// Touches the lane's pages, the first time.
    pub(crate) fn touch_once(&self) {
        if !self.is_touched.swap(true, Ordering::Relaxed) {
            self.ring.touch();
        }
    }

    /// Whether more than this share of the ring is in use, by the tail that we know.
    #[inline]
    fn is_past(&self, part: u64, of: u64) -> bool {
        let used = self.ring.head().wrapping_sub(self.tail.load(Ordering::Relaxed));
        used * of > self.ring.capacity() * part
    }

    #[cold]
    fn ask_for_space(&self) {
        self.tail.store(self.ring.tail(), Ordering::Relaxed);
        if self.is_past(1, 2) {
            self.common.work.ring();
        }
    }

    #[cold]
    fn offer_slowly(&self, record: Outgoing<'_>) -> bool {
        if self.common.on_full == OnFull::Degrade && self.is_past(3, 4) {
            self.ask_for_space();
        }
        let record = match self.common.on_full {
            OnFull::Degrade if self.is_past(3, 4) => {
                Outgoing { words: record.words.get(..record.fixed).unwrap_or(record.words), ..record }
            }
            _ => record,
        };
        match self.push_with_gap(record) {
            Ok(()) => true,
            Err(Refused::TooLong) => self.spill(record),
            Err(Refused::Full) => self.wait_and_push(record),
        }
    }

    /// Publishes a frame, and in front of it a gap frame where records were dropped before.
    fn push_with_gap(&self, record: Outgoing<'_>) -> Result<(), Refused> {
        let count = self.gap_count.load(Ordering::Relaxed);
        if count > 0 {
            let words =
                [self.gap_first.load(Ordering::Relaxed), self.gap_last.load(Ordering::Relaxed), count]
                    .map(u64::to_le_bytes);
            self.ring.add(lane::OFFERED, 1);
            if let Err(refused) = self.ring.push(gap(&words), &self.tail) {
                self.ring.add(lane::OFFERED, 1u64.wrapping_neg());
                return Err(refused);
            }
            self.gap_count.store(0, Ordering::Relaxed);
        }
        self.ring.push(record, &self.tail).map(|_| ())
    }

    fn wait_and_push(&self, record: Outgoing<'_>) -> bool {
        self.common.work.ring();
        if self.common.on_full == OnFull::Wait && self.wait_until_pushed(record) {
            return true;
        }
        self.drop_record(DropReason::Full);
        false
    }

    fn wait_until_pushed(&self, record: Outgoing<'_>) -> bool {
        let common = self.common;
        let deadline = Instant::now() + common.wait_max;
        let stalled_at = if common.is_outside { &self.stalled_tail } else { &common.stalled_at };
        self.ring.add(lane::WAITS, 1);
        loop {
            let seen = if common.is_outside { self.ring.tail() } else { common.progress.count() };
            if self.push_with_gap(record).is_ok() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stalled_at.load(Ordering::Relaxed) == seen + 1 {
                stalled_at.store(seen + 1, Ordering::Relaxed);
                return false;
            }
            common.work.ring();
            if common.is_outside {
                std::thread::sleep(left.min(OUTSIDE_LOOK));
            } else {
                common.progress.wait(seen, left);
            }
        }
    }

    fn spill(&self, record: Outgoing<'_>) -> bool {
        let Some(path) = &self.common.path else {
            self.drop_record(DropReason::Oversize);
            return false;
        };
        let number = self.common.spills.fetch_add(1, Ordering::Relaxed);
        let Ok(spill) = Spill::write(path, number, record) else {
            self.drop_record(DropReason::Oversize);
            return false;
        };
        self.ring.add(lane::SPILLED, 1);
        let words = spill.words().map(u64::to_le_bytes);
        let frame = Outgoing { kind: SPILL_KIND, fixed: words.len(), words: &words };
        let is_accepted = self.push_with_gap(frame).is_ok() || self.wait_and_push(frame);
        if !is_accepted {
            crate::spill::remove(path, number);
        }
        is_accepted
    }

    fn drop_record(&self, reason: DropReason) {
        self.ring.add(Ring::drop_counter(reason), 1);
        let now = ticks();
        if self.gap_count.load(Ordering::Relaxed) == 0 {
            self.gap_first.store(now, Ordering::Relaxed);
        }
        self.gap_last.store(now, Ordering::Relaxed);
        self.gap_count.fetch_add(1, Ordering::Relaxed);
    }
}
