//! A thread of ours that does something at regular times, until it is stopped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use telemetry_journal::failpoint;
use telemetry_journal::process::block_signals;

/// The thread.
#[derive(Debug)]
pub(crate) struct Ticker {
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

impl Ticker {
    /// Does `work` every so often, on a thread of this name.
    pub(crate) fn start(
        name: &str,
        every: Duration,
        work: impl FnMut() + Send + 'static,
    ) -> std::io::Result<Self> {
        let state = Arc::new(State::default());
        let worker = Arc::clone(&state);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            block_signals();
            // Whoever stops it does not wait for a thread that has failed.
            let _ = catch_unwind(AssertUnwindSafe(|| worker.run(every, work)));
            worker.change(Phase::Stopped);
        })?;
        Ok(Self { state })
    }

    /// Ends the thread, or leaves it behind when the time is over.
    pub(crate) fn stop(&self, timeout: Duration) {
        self.state.change(Phase::Stopping);
        self.state.wait_while(timeout, |phase| phase != Phase::Stopped);
    }
}

impl State {
    /// Works at whole intervals since the start; those that slow work missed are left out.
    fn run(&self, every: Duration, mut work: impl FnMut()) {
        let mut next = Instant::now() + every;
        while self.wait_while(next.saturating_duration_since(Instant::now()), |phase| phase == Phase::Running)
            == Phase::Running
        {
            failpoint::reach();
            work();
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
    fn it_works_until_it_is_stopped() {
        let state = Arc::new(State::default());
        let ticker = Ticker { state: Arc::clone(&state) };
        let (done, works) = mpsc::channel();
        let thread = thread::spawn(move || {
            state.run(Duration::from_millis(1), || done.send(()).expect("the test listens"));
        });
        (0..3).for_each(|_| works.recv().expect("the ticker goes on"));
        ticker.stop(Duration::from_hours(1));
        assert_eq!(*ticker.state.lock(), Phase::Stopped);
        thread.join().expect("the thread ends");
    }

    #[test]
    fn it_stops_at_once_however_long_the_interval_is() {
        let state = Arc::new(State::default());
        let worker = Arc::clone(&state);
        let thread = thread::spawn(move || worker.run(Duration::from_hours(24), || panic!("a day is over")));
        Ticker { state }.stop(Duration::from_hours(1));
        thread.join().expect("the thread ends");
    }
}
