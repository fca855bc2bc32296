//! The part of a thread's state that every call touches; without a destructor.

use std::cell::Cell;
use std::mem::ManuallyDrop;

use telemetry_journal::clock::ticks;
use telemetry_journal::process::random_bits;
use telemetry_journal::{DropReason, Lane, Outgoing};

use super::current::Current;
use super::ids::IdGenerator;
use super::keeper;
use super::open::AtHand;
use super::policy::Policy;
use super::recording::{Recording, active_policy};
use crate::encoder::Encoder;

thread_local! {
    static LOCAL: Local = const { Local::new() };
}

/// A thread's own state. Aligned to a line of the processor's cache: what is written across two of them has to be in
/// memory before it can be read back, fifteen nanoseconds a call.
#[repr(align(64))]
pub(crate) struct Local {
    pub(super) current: Cell<Current>,
    pub(super) ids: IdGenerator,
    /// The number of the thread in the name table.
    pub(super) thread: Cell<u32>,
    /// Free places for tasks that are left out.
    pub(super) at_hand: AtHand,
    policy: Cell<Option<&'static Policy>>,
    random: Cell<u64>,
    lane: Cell<Option<&'static Lane>>,
    /// Not while a record is being encoded. The keeper drops it when the thread ends.
    encoder: Cell<Option<ManuallyDrop<Box<Encoder>>>>,
    /// Whether a record is being encoded, which may call the user's code.
    is_encoding: Cell<bool>,
    /// Whether the thread ends, and nobody will drop what is kept here from now on.
    is_ending: Cell<bool>,
}

impl Local {
    const fn new() -> Self {
        Self {
            current: Cell::new(Current::NONE),
            ids: IdGenerator::new(),
            thread: Cell::new(0),
            at_hand: AtHand::new(),
            policy: Cell::new(None),
            random: Cell::new(0),
            lane: Cell::new(None),
            encoder: Cell::new(None),
            is_encoding: Cell::new(false),
            is_ending: Cell::new(false),
        }
    }

    #[inline]
    pub(crate) fn with<R>(use_it: impl FnOnce(&Self) -> R) -> R {
        LOCAL.with(use_it)
    }

    /// The policy of this generation, with this thread attached to its recording.
    #[inline]
    pub(super) fn policy(&self, generation: u32) -> Option<&'static Policy> {
        match self.policy.get() {
            Some(policy) if policy.generation() == generation => Some(policy),
            _ => self.attach(),
        }
    }

    /// The recording of this generation, if it is in force, with this thread attached to it.
    #[inline]
    pub(super) fn recording(&self, generation: u32) -> Option<&'static Recording> {
        let is_of = |policy: &&'static Policy| policy.recording().generation() == generation;
        let policy = self.policy.get().filter(is_of).or_else(|| self.attach().filter(is_of))?;
        Some(policy.recording())
    }

    #[cold]
    fn attach(&self) -> Option<&'static Policy> {
        let policy = active_policy()?;
        let recording = policy.recording();
        let known = self.policy.replace(Some(policy));
        if known.is_some_and(|known| known.recording().generation() == recording.generation()) {
            return Some(policy);
        }
        self.ids.reseed();
        self.random.set(random_bits());
        let lane = recording.journal().claim();
        if keeper::keep(lane) {
            self.lane.set(lane);
        } else if let Some(lane) = lane {
            lane.give_back();
        }
        self.thread.set(recording.thread(self.lane.get().map(Lane::index)));
        Some(policy)
    }

    /// Gives this thread's lane back before the thread ends.
    pub(super) fn detach(&self) {
        self.lose_lane();
        self.policy.set(None);
        keeper::keep(None);
    }

    /// In a forked child: forgets the parent's recording and lane without giving the lane back, which is
    /// the parent's. The current task stays: what the child does is done for it.
    pub(super) fn forget(&self) {
        self.lose_lane();
        self.policy.set(None);
        keeper::forget();
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

    /// Counts once for a key.
    #[inline]
    pub(super) fn tally(&self, recording: &Recording, key: [u64; 3]) -> bool {
        recording.journal().tally(self.lane.get(), key)
    }

    /// The next of this thread's random numbers: splitmix64.
    #[inline]
    pub(super) fn next_random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
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

    /// Runs what may call the user's `Serialize` or `Debug`, with the thread's encoder; a task that such code calls
    /// is not recorded, since the record in the making would be overwritten.
    #[inline]
    pub(super) fn encode<R>(&self, encode: impl FnOnce(&mut Encoder) -> R) -> R {
        struct Reset<'a>(&'a Cell<bool>);
        impl Drop for Reset<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.is_encoding.set(true);
        let _reset = Reset(&self.is_encoding);
        let mut encoder = self.encoder.take().map_or_else(Box::default, ManuallyDrop::into_inner);
        let answer = encode(&mut encoder);
        self.keep_encoder(encoder);
        answer
    }

    #[inline]
    fn keep_encoder(&self, encoder: Box<Encoder>) {
        if !self.is_ending.get() {
            // There is none here: it was taken, and nothing else is encoded meanwhile.
            self.encoder.set(Some(ManuallyDrop::new(encoder)));
        }
    }

    pub(super) fn lose_encoder(&self) {
        self.is_ending.set(true);
        drop(self.encoder.take().map(ManuallyDrop::into_inner));
    }

    #[cfg(test)]
    pub(super) fn for_tests(seed: u64) -> Self {
        let local = Self::new();
        local.random.set(seed);
        local
    }
}
