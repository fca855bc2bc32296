//! Two threads, each on a core of its own, that run a burst at once or one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use telemetry::Context;

use crate::cores;
use crate::measured::call;
use crate::rounds::{Rounds, time_each};

/// What both threads call, and what is done between bursts.
pub(crate) struct Pair<F, B> {
    burst: usize,
    function: F,
    between: B,
}

impl<F, B> Pair<F, B>
where
    F: Fn(i64, f64, &str) -> i64 + Copy + Send,
    B: Fn(),
{
    pub(crate) fn new(burst: usize, function: F, between: B) -> Self {
        Self { burst, function, between }
    }

    /// Nanoseconds a call, of both at once against one alone, the mean of both threads on either side.
    pub(crate) fn rounds(&self, count: usize) -> Rounds {
        let (burst, function) = (self.burst, self.function);
        let meeting = Meeting::default();
        let context = Context::current();
        let (requests, inbox) = channel();
        let (outbox, answers) = channel();
        thread::scope(|scope| {
            let meeting = &meeting;
            let work = move || time_each(burst, || call(burst, function));
            cores::apart(|| scope.spawn(move || context.run(|| second(&inbox, &outbox, meeting, work))));
            let together = || {
                requests.send(true).expect("the second thread listens");
                meeting.meet();
                let first = work();
                mean(first, &answers, &self.between)
            };
            let apart = || {
                let first = work();
                requests.send(false).expect("the second thread listens");
                mean(first, &answers, &self.between)
            };
            let rounds = Rounds::alternate(count, together, apart);
            drop(requests);
            rounds
        })
    }
}

fn mean(first: f64, answers: &Receiver<f64>, between: impl Fn()) -> f64 {
    let second = answers.recv().expect("the second thread answers");
    between();
    f64::midpoint(first, second)
}

/// What the second thread does, until nobody asks any more. A request says whether it is for both.
fn second(inbox: &Receiver<bool>, outbox: &Sender<f64>, meeting: &Meeting, work: impl Fn() -> f64) {
    for is_together in inbox {
        if is_together {
            meeting.meet();
        }
        // Whoever asked may be gone, and then nobody wants to know.
        let _ = outbox.send(work());
    }
}

/// Where two threads wait for each other without sleep: to wake up would take as long as the burst.
#[derive(Default)]
struct Meeting {
    arrived: AtomicUsize,
}

impl Meeting {
    fn meet(&self) {
        let number = self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = (number / 2 + 1) * 2;
        while self.arrived.load(Ordering::Acquire) < all {
            std::hint::spin_loop();
        }
    }
}
