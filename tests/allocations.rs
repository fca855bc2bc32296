//! A recorded call allocates nothing once its thread is warm.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use telemetry::{Level, Recorder, Settings, Workflow, task};

const WARM_CALLS: i64 = 500;
/// Few enough to fit a lane, so that nobody waits for the drain.
const CALLS: i64 = 500;

#[task]
fn measured(count: i64, factor: f64, name: &str) -> i64 {
    count + factor as i64 + name.len() as i64
}

#[task]
fn outer(count: i64) -> Result<i64, String> {
    Ok(measured(count, 0.5, "sixteen bytes ok"))
}

#[task]
async fn waiting(count: i64, name: &str) -> i64 {
    count + name.len() as i64
}

/// Polls a future that is ready at once, which needs no runtime.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for nothing"),
    }
}

fn call_all(times: i64) {
    for count in 0..times {
        black_box(outer(black_box(count)).expect("it returns a number"));
        black_box(ready(waiting(black_box(count), "name")));
    }
}

fn allocations_at(level: Level) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let mut settings = Settings::default();
    settings.store.path = folder.path().join("provenance.db");
    settings.capture.default_level = level;
    settings.telemetry_capture.machine_info = false;
    // A snapshot is taken once; what it costs is bounded by the clock, not by the calls.
    settings.telemetry_capture.max_age_ms = 3_600_000;
    let recorder = Recorder::start(settings).expect("it starts");
    let workflow = Workflow::start("allocations");
    call_all(WARM_CALLS);
    recorder.flush(Duration::from_mins(1));
    let counted = allocation_counter::measure(|| call_all(CALLS));
    workflow.end();
    let flushed = recorder.flush(Duration::from_mins(1));
    assert_eq!(flushed.remaining, 0);
    assert!(flushed.persisted > 0 || level == Level::Off, "something is recorded");
    counted.count_total
}

/// One test, since a process has one recorder.
#[test]
fn a_recorded_call_allocates_nothing_once_its_thread_is_warm() {
    let string = allocation_counter::measure(|| drop(black_box(String::from("counted"))));
    assert_eq!(string.count_total, 1, "allocations are counted");
    for level in [Level::Off, Level::Lightweight, Level::Data, Level::Telemetry, Level::Full] {
        assert_eq!(allocations_at(level), 0, "at level {level:?}");
    }
}
