//! What the tests share: recording, an executor without a runtime, and values that tell when they are dropped.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use telemetry::testing;

thread_local! {
    static TRACE: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Runs the body while it is recorded, and compares what was recorded: activity, status, used → generated.
pub(crate) fn check(expected: &str, body: impl FnOnce()) {
    let recorded = testing::record(body);
    assert_eq!(recorded.tree().trim_end(), expected.trim());
}

/// Notes its name when it is dropped.
#[derive(Debug)]
pub(crate) struct Noisy(pub(crate) &'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        note(self.0);
    }
}

pub(crate) fn note(text: &'static str) {
    TRACE.with_borrow_mut(|trace| trace.push(text));
}

/// What was noted while the function ran.
pub(crate) fn trace<R>(function: impl FnOnce() -> R) -> Vec<&'static str> {
    TRACE.take();
    drop(function());
    TRACE.take()
}

/// Polls until the future is done.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
    }
}

/// Polls once and gives up.
pub(crate) fn poll_once<F: Future>(future: F) {
    let mut future = pin!(future);
    let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// Is pending once.
pub(crate) async fn pause() {
    let mut paused = false;
    poll_fn(|_| if std::mem::replace(&mut paused, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

pub(crate) fn is_send<T: Send>(value: T) -> T {
    value
}
