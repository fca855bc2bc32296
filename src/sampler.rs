//! The sampler thread: a snapshot at regular times, so that a long task has a curve.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use telemetry_core::runtime::Recording;
use telemetry_journal::process::block_signals;

use crate::warning::warn;

/// The thread that takes the series; it exists only where `sample_every_ms` asks for one.
#[derive(Debug)]
pub(crate) struct Sampler {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    phase: Mutex<Phase>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Running,
    Stopping,
    Stopped,
}

impl Sampler {
    /// Starts the series of the recording; none where its settings want none. Without a thread for it there
    /// is a warning instead: the rest of the record needs none.
    pub(crate) fn start(recording: &'static Recording) -> Option<Self> {
        let every_ms = recording.settings().telemetry_capture.sample_every_ms;
        let every_ms = every_ms.filter(|_| recording.has_snapshots())?;
        let state = Arc::new(State::default());
        let worker = Arc::clone(&state);
        let thread = thread::Builder::new().name("telemetry-sampler".to_owned()).spawn(move || {
            block_signals();
            worker.run(Duration::from_millis(every_ms), || recording.sample());
        });
        thread.inspect_err(|error| warn(&format!("no series of snapshots: {error}"))).ok()?;
        Some(Self { state })
    }

    /// Ends the thread, or leaves it behind when the time is over.
    pub(crate) fn stop(&self, timeout: Duration) {
        self.state.change(Phase::Stopping);
        self.state.wait_while(timeout, |phase| phase != Phase::Stopped);
    }
}

impl State {
    /// Samples at whole intervals since the start; those that a slow reading missed are left out.
    fn run(&self, every: Duration, sample: impl Fn()) {
        let mut next = Instant::now() + every;
        while self.wait_while(next.saturating_duration_since(Instant::now()), |phase| phase == Phase::Running)
            == Phase::Running
        {
            sample();
            next = (next + every).max(Instant::now());
        }
        self.change(Phase::Stopped);
    }

    /// Waits until the condition ends or the time is over; answers the phase then.
    fn wait_while(&self, timeout: Duration, condition: impl Fn(Phase) -> bool) -> Phase {
        let waited = self.changed.wait_timeout_while(self.lock(), timeout, |phase| condition(*phase));
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn change(&self, phase: Phase) {
        *self.lock() = phase;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn it_samples_until_it_is_stopped() {
        let state = Arc::new(State::default());
        let sampler = Sampler { state: Arc::clone(&state) };
        let (taken, samples) = mpsc::channel();
        let thread = thread::spawn(move || {
            state.run(Duration::from_millis(1), || taken.send(()).expect("the test listens"));
        });
        (0..3).for_each(|_| samples.recv().expect("the sampler goes on"));
        sampler.stop(Duration::from_hours(1));
        assert_eq!(*sampler.state.lock(), Phase::Stopped);
        thread.join().expect("the thread ends");
    }

    #[test]
    fn it_stops_at_once_however_long_the_interval_is() {
        let state = Arc::new(State::default());
        let worker = Arc::clone(&state);
        let thread = thread::spawn(move || worker.run(Duration::from_hours(24), || panic!("a day is over")));
        Sampler { state }.stop(Duration::from_hours(1));
        thread.join().expect("the thread ends");
    }
}
