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
    slots: Vec<Slot>,
    by_task: HashMap<TaskId, u32, IdHasherBuilder>,
}

impl Slots {
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.by_task.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn get(&self, index: usize) -> Slot {
        self.slots[index]
    }

    /// Notes a START; false where the task has one already.
    pub(super) fn start(&mut self, task: TaskId, frame: usize) -> bool {
        fill(&mut self.slot(task).start, frame)
    }

    /// Notes an END; false where the task has one already.
    pub(super) fn end(&mut self, task: TaskId, frame: usize) -> bool {
        fill(&mut self.slot(task).end, frame)
    }

    fn slot(&mut self, task: TaskId) -> &mut Slot {
        let next = self.slots.len() as u32;
        let index = *self.by_task.entry(task).or_insert(next);
        if index == next {
            self.slots.push(Slot { start: NONE, end: NONE });
        }
        &mut self.slots[index as usize]
    }
}

fn fill(place: &mut u32, frame: usize) -> bool {
    let is_free = *place == NONE;
    if is_free {
        *place = frame as u32;
    }
    is_free
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
