//! Tasks that were left out and are still open: what it takes to write them after all.
//!
//! A context is copied freely and may reach any thread, so it cannot own this; it names a place on one
//! of a few shelves, and which tenant of the place it means. Shelves are made when they are needed and
//! kept; a thread keeps some free places at hand, so that calls touch nothing that is shared.
//!
//! All of a place are atomics. Its tenant changes as a slot of a sequence lock does: whoever reads it
//! looks at the state before and after.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Mutex, OnceLock};

use super::current::Bits;
use super::local::Local;

/// Places of the first shelf; each next one has twice as many.
const FIRST_SHELF: u32 = 64;
const SHELVES_MAX: usize = 15;
const PLACES_MAX: u32 = FIRST_SHELF * ((1 << SHELVES_MAX) - 1);
/// How many free places a thread keeps at most, and how many it gives away or fetches at once.
const AT_HAND_MAX: u32 = 64;
const AT_ONCE: u32 = 32;

/// The tenant has not ended.
const OPEN: u64 = 1;
/// Its START is written, or is being written.
const WRITTEN: u64 = 2;
const TENANT_SHIFT: u32 = 32;

static SHELVES: [OnceLock<Box<[Place]>>; SHELVES_MAX] = [const { OnceLock::new() }; SHELVES_MAX];
/// How many places were ever handed out.
static USED: AtomicU32 = AtomicU32::new(0);
/// Free places that no thread has at hand.
static FREE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A place and its tenant: `place + 1:32 tenant:32`, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenTask(u64);

/// What a START needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skeleton {
    pub(super) id: Bits,
    /// The nearest ancestor that was recorded from the beginning.
    pub(super) anchor: Bits,
    pub(super) workflow: Bits,
    pub(super) parent: OpenTask,
    pub(super) ticks: u64,
    pub(super) activity: u32,
    pub(super) depth: u16,
    pub(super) thread: u32,
}

/// Whether a task is to be written by whoever asked.
pub(super) enum Marked {
    /// It is.
    Now(Skeleton),
    /// It is written already, below this root.
    Before(Skeleton, Bits),
    /// It has ended, or there is none.
    Gone,
}

#[derive(Debug, Default)]
struct Place {
    /// `flags:32 tenant:32`, lowest first.
    state: AtomicU64,
    /// The next free place of the thread that has this one at hand, plus one.
    next: AtomicU32,
    words: [AtomicU64; 10],
    root: [AtomicU64; 2],
}

/// The free places that a thread has at hand.
#[derive(Debug)]
pub(super) struct AtHand {
    /// The first one, plus one.
    first: Cell<u32>,
    count: Cell<u32>,
}

impl OpenTask {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn from_word(word: u64) -> Self {
        Self(word)
    }

    pub(super) const fn word(self) -> u64 {
        self.0
    }

    pub(super) fn is_some(self) -> bool {
        self != Self::NONE
    }

    fn new(place: u32, tenant: u64) -> Self {
        Self(u64::from(place + 1) | tenant << TENANT_SHIFT)
    }

    fn place(self) -> Option<&'static Place> {
        place((self.0 as u32).checked_sub(1)?)
    }

    fn tenant(self) -> u64 {
        self.0 >> TENANT_SHIFT
    }

    /// The nearest ancestor that was recorded from the beginning; none once the task has ended.
    pub(super) fn anchor(self) -> Bits {
        read(self).map_or(Bits::NONE, |skeleton| skeleton.anchor)
    }
}

/// Puts a task on a shelf; none when all are full, and then it cannot come back.
#[inline]
pub(super) fn open(local: &Local, skeleton: &Skeleton) -> OpenTask {
    let Some((index, place)) = local.at_hand.take() else { return OpenTask::NONE };
    let tenant = (place.state.load(Ordering::Relaxed) >> TENANT_SHIFT).wrapping_add(1) & u64::from(u32::MAX);
    // Whoever sees a word of the new tenant sees that the old one is gone.
    fence(Ordering::Release);
    for (word, value) in place.words.iter().zip(skeleton.words()) {
        word.store(value, Ordering::Relaxed);
    }
    place.state.store(OPEN | tenant << TENANT_SHIFT, Ordering::Release);
    OpenTask::new(index, tenant)
}

/// Ends a task that nobody wrote; false if somebody did, and then it is still there.
#[inline]
pub(super) fn close(local: &Local, task: OpenTask) -> bool {
    let Some(place) = task.place() else { return true };
    let tenant = task.tenant() << TENANT_SHIFT;
    let closed = place.state.compare_exchange(OPEN | tenant, tenant, Ordering::AcqRel, Ordering::Relaxed);
    match closed {
        Ok(_) => local.at_hand.give(task.0 as u32 - 1, place),
        Err(state) if state == OPEN | WRITTEN | tenant => return false,
        Err(_) => {}
    }
    true
}

/// Ends a task, written or not.
pub(super) fn free(local: &Local, task: OpenTask) {
    let Some(place) = task.place() else { return };
    let tenant = task.tenant() << TENANT_SHIFT;
    let is_tenant = |state: u64| (state & !WRITTEN == OPEN | tenant).then_some(tenant);
    if place.state.try_update(Ordering::AcqRel, Ordering::Relaxed, is_tenant).is_ok() {
        local.at_hand.give(task.0 as u32 - 1, place);
    }
}

/// What is known of a task; none once it has ended.
pub(super) fn read(task: OpenTask) -> Option<Skeleton> {
    let place = task.place()?;
    let is_tenant = |state: u64| state & !WRITTEN == OPEN | task.tenant() << TENANT_SHIFT;
    let is_there = is_tenant(place.state.load(Ordering::Acquire));
    let words = std::array::from_fn(|word| place.words[word].load(Ordering::Relaxed));
    fence(Ordering::Acquire);
    (is_there && is_tenant(place.state.load(Ordering::Relaxed))).then(|| Skeleton::from_words(words))
}

/// Marks a task as written; whoever does must write it.
pub(super) fn mark(task: OpenTask) -> Marked {
    let (Some(place), Some(skeleton)) = (task.place(), read(task)) else { return Marked::Gone };
    let tenant = task.tenant() << TENANT_SHIFT;
    let marked = place.state.compare_exchange(
        OPEN | tenant,
        OPEN | WRITTEN | tenant,
        Ordering::AcqRel,
        Ordering::Acquire,
    );
    match marked {
        Ok(_) => Marked::Now(skeleton),
        Err(state) if state == OPEN | WRITTEN | tenant => {
            let root = [0, 1].map(|word: usize| place.root[word].load(Ordering::Relaxed));
            Marked::Before(skeleton, Bits::from_words(root))
        }
        Err(_) => Marked::Gone,
    }
}

/// Notes the root of a task that is being written.
pub(super) fn set_root(task: OpenTask, root: Bits) {
    if let Some(place) = task.place() {
        place.root.iter().zip(root.words()).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
    }
}

impl Skeleton {
    fn words(&self) -> [u64; 10] {
        let ([id_high, id_low], [anchor_high, anchor_low]) = (self.id.words(), self.anchor.words());
        let [workflow_high, workflow_low] = self.workflow.words();
        let packed = u64::from(self.activity) | u64::from(self.depth) << 32;
        [
            id_high,
            id_low,
            anchor_high,
            anchor_low,
            workflow_high,
            workflow_low,
            self.parent.0,
            self.ticks,
            packed,
            u64::from(self.thread),
        ]
    }

    fn from_words(words: [u64; 10]) -> Self {
        Self {
            id: Bits::from_words([words[0], words[1]]),
            anchor: Bits::from_words([words[2], words[3]]),
            workflow: Bits::from_words([words[4], words[5]]),
            parent: OpenTask(words[6]),
            ticks: words[7],
            activity: words[8] as u32,
            depth: (words[8] >> 32) as u16,
            thread: words[9] as u32,
        }
    }
}

impl AtHand {
    pub(super) const fn new() -> Self {
        Self { first: Cell::new(0), count: Cell::new(0) }
    }

    #[inline]
    fn take(&self) -> Option<(u32, &'static Place)> {
        let Some(index) = self.first.get().checked_sub(1) else { return self.fetch() };
        let place = place(index)?;
        self.first.set(place.next.load(Ordering::Relaxed));
        self.count.set(self.count.get() - 1);
        Some((index, place))
    }

    #[inline]
    fn give(&self, index: u32, place: &Place) {
        place.next.store(self.first.get(), Ordering::Relaxed);
        self.first.set(index + 1);
        self.count.set(self.count.get() + 1);
        if self.count.get() > AT_HAND_MAX {
            self.give_away(AT_ONCE);
        }
    }

    /// Fetches free places, or a new one. Never waits: the lock may be held by a thread that is no more,
    /// in a forked child.
    #[cold]
    fn fetch(&self) -> Option<(u32, &'static Place)> {
        if let Ok(mut free) = FREE.try_lock() {
            let kept = free.len().saturating_sub(AT_ONCE as usize);
            for index in free.drain(kept..) {
                self.give(index, place(index)?);
            }
        }
        if self.first.get() != 0 {
            return self.take();
        }
        let is_left = |used: u32| (used < PLACES_MAX).then_some(used + 1);
        let index = USED.try_update(Ordering::Relaxed, Ordering::Relaxed, is_left).ok()?;
        let (shelf, _) = shelf_of(index);
        let length = FIRST_SHELF << shelf;
        SHELVES[shelf].get_or_init(|| (0..length).map(|_| Place::default()).collect());
        Some((index, place(index)?))
    }

    /// Gives some places to whoever needs them; all of them when a thread ends.
    #[cold]
    pub(super) fn give_away(&self, count: u32) {
        let Ok(mut free) = FREE.try_lock() else { return };
        for _ in 0..count.min(self.count.get()) {
            free.extend(self.take().map(|(index, _)| index));
        }
    }
}

fn place(index: u32) -> Option<&'static Place> {
    if index >= PLACES_MAX {
        return None;
    }
    let (shelf, offset) = shelf_of(index);
    SHELVES[shelf].get()?.get(offset)
}

/// The shelf of a place, and where it is on it.
#[inline]
fn shelf_of(index: u32) -> (usize, usize) {
    let position = index + FIRST_SHELF;
    let shelf = position.ilog2() - FIRST_SHELF.ilog2();
    (shelf as usize, (position - (FIRST_SHELF << shelf)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skeleton(parent: OpenTask) -> Skeleton {
        let bits = |number: u64| Bits::from_words([number, number + 1]);
        let (id, anchor, workflow) = (bits(10), bits(20), bits(30));
        Skeleton { id, anchor, workflow, parent, ticks: 40, activity: 50, depth: 60, thread: 70 }
    }

    #[test]
    fn places_are_told_apart_across_shelves() {
        assert_eq!(
            [shelf_of(0), shelf_of(63), shelf_of(64), shelf_of(191), shelf_of(192)],
            [(0, 0), (0, 63), (1, 0), (1, 127), (2, 0)]
        );
        assert_eq!(shelf_of(PLACES_MAX - 1).0, SHELVES_MAX - 1);
    }

    #[test]
    fn a_tenant_is_known_until_it_ends_and_never_taken_for_the_next() {
        Local::with(|local| {
            let first = open(local, &skeleton(OpenTask::NONE));
            assert_eq!(read(first).map(|found| (found.ticks, found.depth, found.thread)), Some((40, 60, 70)));
            assert!(close(local, first));
            let second = open(local, &skeleton(first));
            assert_eq!((first.0 as u32, read(first).is_none()), (second.0 as u32, true));
            assert!(matches!(mark(first), Marked::Gone));
            assert!(matches!(mark(second), Marked::Now(_)));
            assert!(matches!(mark(second), Marked::Before(..)));
            assert!(!close(local, second), "it is written, so its end is, too");
            free(local, second);
            assert!(matches!(mark(second), Marked::Gone));
        });
    }

    #[test]
    fn many_open_tasks_have_places_of_their_own_and_give_them_back() {
        let open_all = || {
            Local::with(|local| {
                let all: Vec<OpenTask> = (0..1_000).map(|_| open(local, &skeleton(OpenTask::NONE))).collect();
                assert!(all.iter().all(|task| read(*task).is_some()));
                assert!(all.iter().all(|task| close(local, *task)));
                assert!(local.at_hand.count.get() <= AT_HAND_MAX);
            });
        };
        open_all();
        let used = USED.load(Ordering::Relaxed);
        (0..20).for_each(|_| open_all());
        assert!(USED.load(Ordering::Relaxed) < used + 1_000, "places are used again");
    }
}
