//! The part of a thread's state that has a destructor: the lane to give back, and what is known of events.

use std::cell::{Cell, RefCell};

use telemetry_journal::Lane;

use super::event::SeriesCache;
use super::local::Local;

thread_local! {
    static KEEPER: Keeper = const {
        Keeper {
            lane: Cell::new(None),
            series: RefCell::new(SeriesCache::new()),
        }
    };
}

struct Keeper {
    lane: Cell<Option<&'static Lane>>,
    series: RefCell<SeriesCache>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        Local::with(|local| {
            local.lose_lane();
            local.lose_encoder();
            local.at_hand.give_away(u32::MAX);
        });
        if let Some(lane) = self.lane.take() {
            lane.give_back();
        }
    }
}

/// Sees to it that the lane is given back when the thread ends, and gives the previous one back now.
/// False when the thread is already ending and nobody would.
pub(super) fn keep(lane: Option<&'static Lane>) -> bool {
    let kept = KEEPER.try_with(|keeper| {
        if let Some(previous) = keeper.lane.replace(lane) {
            previous.give_back();
        }
    });
    kept.is_ok()
}

/// Forgets the lane, which belongs to another process.
pub(super) fn forget() {
    let _ = KEEPER.try_with(|keeper| keeper.lane.set(None));
}

/// The series of events that this thread has met; others than these where they are in use or already gone.
pub(super) fn with_series<R>(use_it: impl FnOnce(&mut SeriesCache) -> R) -> R {
    let mut use_it = Some(use_it);
    let answer = KEEPER.try_with(|keeper| {
        let mut series = keeper.series.try_borrow_mut().ok()?;
        use_it.take().map(|use_it| use_it(&mut series))
    });
    match (answer, use_it) {
        (Ok(Some(answer)), _) => answer,
        (_, Some(use_it)) => use_it(&mut SeriesCache::new()),
        (_, None) => unreachable!("the closure is taken only to be called, and then there is an answer"),
    }
}
