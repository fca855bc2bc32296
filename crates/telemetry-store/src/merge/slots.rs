//! Which frames of a batch belong to one task.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use telemetry_core::id::TaskId;

const NONE: u32 = u32::MAX;

/// The places of a task's START and END in the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    start: u32,
    end: u32,
    is_applied: bool,
}

/// What a START or END found in the slot of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Itself, from before.
    Repeated,
    /// Nothing: the other one may still come.
    First,
    /// The other one; this is the slot.
    Second(usize),
}

impl Slot {
    pub(super) fn start(self) -> Option<usize> {
        (self.start != NONE).then_some(self.start as usize)
    }

    pub(super) fn end(self) -> Option<usize> {
        (self.end != NONE).then_some(self.end as usize)
    }
}

/// The tasks of a batch, in the order in which they first appear.
#[derive(Debug, Default)]
pub(super) struct Slots {
    tasks: Vec<Slot>,
    /// The task of the last record: the END of a task that calls no other follows its START, and such a
    /// task never enters the map.
    last: Option<(TaskId, usize)>,
    by_task: HashMap<TaskId, usize, IdHasherBuilder>,
}

impl Slots {
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
        self.last = None;
        self.by_task.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Notes a START.
    pub(super) fn start(&mut self, task: TaskId, frame: usize) -> Fill {
        let index = self.slot(task);
        let slot = &mut self.tasks[index];
        fill(&mut slot.start, slot.end, frame, index)
    }

    /// Notes an END.
    pub(super) fn end(&mut self, task: TaskId, frame: usize) -> Fill {
        let index = self.slot(task);
        let slot = &mut self.tasks[index];
        fill(&mut slot.end, slot.start, frame, index)
    }

    /// The slot, unless it was taken before.
    pub(super) fn take(&mut self, index: usize) -> Option<Slot> {
        let slot = &mut self.tasks[index];
        let was_applied = std::mem::replace(&mut slot.is_applied, true);
        (!was_applied).then_some(*slot)
    }

    fn slot(&mut self, task: TaskId) -> usize {
        if let Some((last, index)) = self.last {
            if last == task {
                return index;
            }
            if !self.tasks[index].is_applied {
                self.by_task.insert(last, index);
            }
        }
        let index = self.by_task.get(&task).copied().unwrap_or(self.tasks.len());
        if index == self.tasks.len() {
            self.tasks.push(Slot { start: NONE, end: NONE, is_applied: false });
        }
        self.last = Some((task, index));
        index
    }
}

fn fill(place: &mut u32, other: u32, frame: usize, slot: usize) -> Fill {
    if *place != NONE {
        return Fill::Repeated;
    }
    *place = frame as u32;
    if other == NONE { Fill::First } else { Fill::Second(slot) }
}

pub(super) type IdHasherBuilder = BuildHasherDefault<IdHasher>;

/// Ids are mostly random: one multiplication spreads them well enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdHasher(u64);

impl IdHasher {
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.mix(u64::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(u64::from(number));
    }

    fn write_i64(&mut self, number: i64) {
        self.mix(number as u64);
    }

    fn write_u128(&mut self, bits: u128) {
        self.mix((bits >> 64) as u64);
        self.mix(bits as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
