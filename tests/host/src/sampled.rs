//! The load for sampling: nested tasks, some of which fail, and the truth about them.
//!
//! `plain` calls what never fails, so that what is recorded of it is there by the draw alone; `risky` calls
//! the same and fails now and then, at every depth. Each function counts its own calls and failures.

use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as PollContext, Poll, Waker};
use std::thread;

use serde_json::{Map, json};
use telemetry::{Context, Recorder, Workflow, task};

use crate::options::Options;

/// Tasks below a call of `plain` or `risky`, and the call.
const TASKS_A_CALL: u64 = 13;

/// The truth about one activity.
#[derive(Debug)]
struct Truth {
    name: &'static str,
    calls: AtomicU64,
    errors: AtomicU64,
}

impl Truth {
    const fn of(name: &'static str) -> Self {
        Self { name, calls: AtomicU64::new(0), errors: AtomicU64::new(0) }
    }

    /// Counts a call and how it ends.
    fn ends(&self, fails: bool) -> Result<u64, &'static str> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(fails), Ordering::Relaxed);
        if fails { Err(self.name) } else { Ok(1) }
    }
}

static PLAIN: Truth = Truth::of("plain");
static RISKY: Truth = Truth::of("risky");
static STEP: Truth = Truth::of("step");
static FETCH: Truth = Truth::of("fetch");
static DETAIL: Truth = Truth::of("detail");

/// Calls until so many tasks a thread are done, and prints the truth as JSON.
pub(crate) fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let calls = options.tasks.unwrap_or(100_000).div_ceil(TASKS_A_CALL);
    let recorder = Recorder::start_with_found_settings()?;
    let workflow = Workflow::start("sampled");
    let context = Context::current();
    thread::scope(|scope| {
        for thread in 0..u64::from(options.threads) {
            scope.spawn(move || context.run(|| call_all(thread * calls..(thread + 1) * calls)));
        }
    });
    workflow.end();
    drop(recorder);
    let truth = [&PLAIN, &RISKY, &STEP, &FETCH, &DETAIL].map(|truth| {
        let (calls, errors) = (truth.calls.load(Ordering::Relaxed), truth.errors.load(Ordering::Relaxed));
        (truth.name.to_owned(), json!({"calls": calls, "errors": errors}))
    });
    serde_json::to_writer(std::io::stdout(), &Map::from_iter(truth))?;
    Ok(())
}

fn call_all(numbers: std::ops::Range<u64>) {
    for number in numbers {
        if number % 8 == 0 {
            let _ = risky(number);
        } else {
            plain();
        }
    }
}

#[task]
fn plain() -> u64 {
    let _ = PLAIN.ends(false);
    below(u64::MAX)
}

#[task]
fn risky(number: u64) -> Result<u64, &'static str> {
    let sum = below(number);
    RISKY.ends(number % 88 == 0).map(|one| one + sum)
}

/// Two steps, and two fetches in turn; twelve tasks, fewer where a step fails early.
fn below(number: u64) -> u64 {
    let steps = (0..2).map(|part| step(number, part).unwrap_or(0)).sum::<u64>();
    let (mut first, mut second) = (pin!(fetch(number)), pin!(fetch(u64::MAX)));
    let mut context = PollContext::from_waker(Waker::noop());
    let is_first_done = first.as_mut().poll(&mut context).is_ready();
    let is_second_done = second.as_mut().poll(&mut context).is_ready();
    debug_assert!(!is_first_done && !is_second_done);
    steps + finish(second) + finish(first)
}

fn finish(mut future: std::pin::Pin<&mut impl Future<Output = Result<u64, &'static str>>>) -> u64 {
    let mut context = PollContext::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done.unwrap_or(0);
        }
    }
}

#[task]
fn step(number: u64, part: u64) -> Result<u64, &'static str> {
    if number % 104 == 0 {
        return STEP.ends(true);
    }
    let details = (0..3).map(|_| detail(number.saturating_add(part)).unwrap_or(0)).sum::<u64>();
    STEP.ends(false).map(|one| one + details)
}

#[task]
async fn fetch(number: u64) -> Result<u64, &'static str> {
    let mut is_polled = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let _ = detail(u64::MAX);
    FETCH.ends(number.is_multiple_of(136))
}

#[task]
fn detail(number: u64) -> Result<u64, &'static str> {
    DETAIL.ends(number != u64::MAX && number % 152 == 0)
}
