//! The series: a snapshot at regular times, so that a long task has a curve.

use std::time::Duration;

use telemetry_core::runtime::Recording;

use crate::ticker::Ticker;
use crate::warning::warn;

/// Starts the series of the recording; none where its settings want none. Without a thread for it there
/// is a warning instead: the rest of the record needs none.
pub(crate) fn start(recording: &'static Recording) -> Option<Ticker> {
    let every_ms = recording.settings().telemetry_capture.sample_every_ms;
    let every_ms = every_ms.filter(|_| recording.has_snapshots())?;
    let thread = Ticker::start("telemetry-sampler", Duration::from_millis(every_ms), || recording.sample());
    thread.inspect_err(|error| warn(&format!("no series of snapshots: {error}"))).ok()
}
