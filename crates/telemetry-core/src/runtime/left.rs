//! Iterations that were left early, and what for.
//!
//! A destructor cannot tell `break` from `?`. So an iteration that is left ends as `FINISHED`, and is remembered. If
//! the task or workflow around the loop then ends with an error, and no task was started meanwhile, the error is what
//! the iteration was left for: it gets a second END, `ERROR` with the same message. Of two ENDs the error stays,
//! whatever their order.

use std::cell::{Cell, RefCell};

use telemetry_journal::clock::ticks;

use super::current::{Bits, Current};
use super::local::Local;
use super::recording::Recording;
use crate::encoder::Encoder;
use crate::id::TaskId;
use crate::record::TaskEnd;
use crate::status::{ErrorKind, Status};

/// More loops than these, one inside of the other, are not left at once.
const DEPTH_MAX: usize = 64;

/// An iteration that has ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    current: Current,
    /// The task and the workflow around its loop.
    around: (Bits, Bits),
    ticks: u64,
    /// How many ids the thread had made by then.
    ids: u32,
}

thread_local! {
    static LAST: Cell<Option<Ended>> = const { Cell::new(None) };
    /// Those that were left early, the innermost loop first.
    static LEFT: RefCell<Vec<Ended>> = const { RefCell::new(Vec::new()) };
}

/// Notes that an iteration has ended as it should.
pub(super) fn note_end(current: Current, around: Current) {
    let ids = Local::with(|local| local.ids.count());
    let around = (around.task, around.workflow);
    let _ = LAST.try_with(|last| last.set(Some(Ended { current, around, ticks: ticks(), ids })));
}

/// Notes that a loop is left before its end, and with it this iteration, if its end is the last that happened.
pub(super) fn note_left(iteration: TaskId) {
    let last = LAST.try_with(Cell::take).ok().flatten();
    let is_left = |last: &Ended| last.current.task_id() == Some(iteration) && is_latest(last.ids);
    let Some(last) = last.filter(is_left) else { return };
    let _ = LEFT.try_with(|left| {
        let mut left = left.borrow_mut();
        let is_inside = left.last().is_some_and(|inner| inner.around.0 == last.current.task);
        if !is_inside || left.len() == DEPTH_MAX {
            left.clear();
        }
        left.push(last);
    });
}

fn is_latest(ids: u32) -> bool {
    Local::with(|local| local.ids.count()) == ids
}

/// Says of the iterations that were left from within this task or workflow that they failed with it.
#[cold]
pub(super) fn blame(local: &Local, recording: &Recording, around: Current, encoder: &mut Encoder) {
    let left = LEFT.try_with(|left| std::mem::take(&mut *left.borrow_mut())).unwrap_or_default();
    let is_around = |last: &Ended| {
        last.around.0 == around.task && (!around.task.is_none() || last.around.1 == around.workflow)
    };
    if !left.last().is_some_and(|last| is_around(last) && last.ids == local.ids.count()) {
        return;
    }
    for ended in left {
        let Some(task) = ended.current.task_id() else { continue };
        let end = TaskEnd {
            task,
            ticks: ended.ticks,
            status: Status::Error,
            error_kind: Some(ErrorKind::Err),
            activity: ended.current.activity,
            snapshot: None,
        };
        local.offer(recording, encoder.outgoing(&end));
    }
}
