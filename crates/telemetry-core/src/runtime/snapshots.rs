//! Snapshots that tasks share: a reading is taken again only when the last one is too old.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

use telemetry_journal::clock::ticks;

use super::local::Local;
use super::recording::Recording;
use crate::encoder::Limits;
use crate::id::WorkflowId;
use crate::record::{Snapshot, SnapshotUse};
use crate::sensor::Sensor;

/// The latest snapshot of a recording, and the sensor that takes the next.
pub(super) struct Snapshots {
    /// None once the recording is over: what the sensor holds open is closed then.
    sensor: Mutex<Option<Box<dyn Sensor>>>,
    max_age_ms: u64,
    /// `taken_ms:32 number:32`, lowest first; number 0 is none.
    latest: AtomicU64,
}

impl Snapshots {
    pub(super) fn new(sensor: Box<dyn Sensor>, max_age_ms: u64) -> Self {
        Self { sensor: Mutex::new(Some(sensor)), max_age_ms, latest: AtomicU64::new(0) }
    }

    /// A snapshot for now: the latest if it is young enough or another thread is taking the next, else
    /// a new one.
    #[inline]
    pub(super) fn now(
        &self,
        local: &Local,
        recording: &Recording,
        now: u64,
        workflow: Option<WorkflowId>,
    ) -> Option<SnapshotUse> {
        let now_ms = recording.clock().elapsed_ms(now);
        let latest = self.latest(now_ms);
        match latest {
            Some(snapshot) if u64::from(snapshot.age_ms) < self.max_age_ms => latest,
            _ => self.take(local, recording, workflow).or(latest),
        }
    }

    #[inline]
    fn latest(&self, now_ms: u64) -> Option<SnapshotUse> {
        let latest = self.latest.load(Ordering::Relaxed);
        let (taken_ms, snapshot) = (u64::from(latest as u32), (latest >> 32) as u32);
        let age_ms = now_ms.saturating_sub(taken_ms).min(u64::from(u32::MAX)) as u32;
        (snapshot != 0).then_some(SnapshotUse { snapshot, age_ms })
    }

    /// Gives the sensor up, unless a thread is within it: that one is left to its fate.
    pub(super) fn close(&self) {
        if let Ok(mut sensor) = self.sensor.try_lock() {
            *sensor = None;
        }
    }

    /// Takes a snapshot, unless another thread is at it.
    #[cold]
    pub(super) fn take(
        &self,
        local: &Local,
        recording: &Recording,
        workflow: Option<WorkflowId>,
    ) -> Option<SnapshotUse> {
        let mut sensor = match self.sensor.try_lock() {
            Ok(sensor) => sensor,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let sensor = sensor.as_mut()?;
        let number = ((self.latest.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1).max(1);
        let taken = ticks();
        let is_kept = local.encode(|encoder| {
            encoder.reset(Limits::DEFAULT);
            encoder.redact_with(recording.redactor());
            let fixed = Snapshot { snapshot: number, workflow, ticks: taken };
            sensor.read(encoder) && local.offer(recording, encoder.outgoing(&fixed))
        });
        let taken_ms = recording.clock().elapsed_ms(taken);
        self.latest.store(u64::from(taken_ms as u32) | u64::from(number) << 32, Ordering::Relaxed);
        is_kept.then_some(SnapshotUse { snapshot: number, age_ms: 0 })
    }
}

impl std::fmt::Debug for Snapshots {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Snapshots").field("max_age_ms", &self.max_age_ms).finish_non_exhaustive()
    }
}
