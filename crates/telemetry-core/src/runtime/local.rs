//! The part of a thread's state that every call touches; without a destructor.

use std::cell::Cell;

use telemetry_journal::clock::ticks;
use telemetry_journal::{DropReason, Lane, Outgoing};

use super::current::Current;
use super::ids::IdGenerator;
use super::keeper;
use super::recording::{Recording, active_recording};

thread_local! {
    static LOCAL: Local = const { Local::new() };
}

/// A thread's own state.
#[derive(Debug)]
pub(crate) struct Local {
    pub(super) current: Cell<Current>,
    pub(super) ids: IdGenerator,
    /// The number of the thread in the name table.
    pub(super) thread: Cell<u32>,
    recording: Cell<Option<&'static Recording>>,
    lane: Cell<Option<&'static Lane>>,
    /// Whether a record is being encoded, which may call the user's code.
    is_encoding: Cell<bool>,
}

impl Local {
    const fn new() -> Self {
        Self {
            current: Cell::new(Current::NONE),
            ids: IdGenerator::new(),
            thread: Cell::new(0),
            recording: Cell::new(None),
            lane: Cell::new(None),
            is_encoding: Cell::new(false),
        }
    }

    #[inline]
    pub(crate) fn with<R>(use_it: impl FnOnce(&Self) -> R) -> R {
        LOCAL.with(use_it)
    }

    /// The recording of this generation, with this thread attached to it.
    #[inline]
    pub(super) fn recording(&self, generation: u32) -> Option<&'static Recording> {
        match self.recording.get() {
            Some(recording) if recording.generation() == generation => Some(recording),
            _ => self.attach(),
        }
    }

    /// The generation of the recording that this thread is attached to; 0 for none.
    pub(super) fn generation(&self) -> u32 {
        self.recording.get().map_or(0, Recording::generation)
    }

    #[cold]
    fn attach(&self) -> Option<&'static Recording> {
        let recording = active_recording()?;
        self.recording.set(Some(recording));
        self.ids.reseed();
        let lane = recording.journal().claim();
        if keeper::keep(lane) {
            self.lane.set(lane);
        } else if let Some(lane) = lane {
            lane.give_back();
        }
        self.thread.set(recording.thread(self.lane.get().map(Lane::index)));
        Some(recording)
    }

    /// Gives this thread's lane back before the thread ends.
    pub(super) fn detach(&self) {
        self.lose_lane();
        self.recording.set(None);
        keeper::keep(None);
    }

    pub(super) fn lose_lane(&self) {
        self.lane.set(None);
    }

    /// Offers a record to the journal, through this thread's lane or the shared one.
    #[inline]
    pub(super) fn offer(&self, recording: &Recording, record: Outgoing<'_>) -> bool {
        match self.lane.get() {
            Some(lane) => lane.offer(record),
            None => recording.journal().offer_shared(record),
        }
    }

    /// Counts a record that cannot be offered.
    pub(super) fn refuse(&self, recording: &Recording, reason: DropReason) {
        match self.lane.get() {
            Some(lane) => lane.refuse(reason),
            None => {
                recording.journal().refuse(reason);
            }
        }
    }

    /// A new id and the moment it was made.
    #[inline]
    pub(super) fn next_id(&self, recording: &Recording) -> (u128, u64) {
        let now = ticks();
        (self.ids.next(recording.clock().unix_ms(now)), now)
    }

    #[inline]
    pub(super) fn is_encoding(&self) -> bool {
        self.is_encoding.get()
    }

    /// Runs what may call the user's `Serialize` or `Debug`; a task that such code calls is not
    /// recorded, since the record in the making would be overwritten.
    #[inline]
    pub(super) fn encoding<R>(&self, encode: impl FnOnce() -> R) -> R {
        struct Reset<'a>(&'a Cell<bool>);
        impl Drop for Reset<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.is_encoding.set(true);
        let _reset = Reset(&self.is_encoding);
        encode()
    }
}
