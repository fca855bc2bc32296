//! Faults of ours: a sensor that panics at every place where one is read, in a process of its own.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

use telemetry::{Level, Settings, Task, task};
use telemetry_core::encoder::Encoder;
use telemetry_core::runtime::{Recording, RecordingOptions, faults};
use telemetry_core::sensor::Sensor;
use telemetry_journal::{Config, Journal, OnFull, Source};

/// Readings until the one that fails.
static LEFT: AtomicU32 = AtomicU32::new(u32::MAX);

struct Failing;

impl Sensor for Failing {
    fn read(&mut self, _: &mut Encoder) -> bool {
        if LEFT.fetch_sub(1, Ordering::Relaxed) == 0 {
            // Unlike `panic!`, this prints nothing.
            resume_unwind(Box::new("a fault of ours"));
        }
        false
    }
}

#[task]
fn returns(x: u32) -> u32 {
    x + 1
}

#[task]
fn panics(x: u32) -> u32 {
    resume_unwind(Box::new(x))
}

#[task]
async fn waits(x: u32) -> u32 {
    let mut is_polled = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    x + 1
}

#[task]
fn holds_one_by_hand(x: u32) -> u32 {
    let _task = Task::start("by hand");
    resume_unwind(Box::new(x + 1))
}

/// All ways in which a task begins and ends, and what the host sees of it.
fn host() -> Vec<u32> {
    let payload = |run: fn(u32) -> u32, x| {
        let payload = catch_unwind(AssertUnwindSafe(|| run(x))).expect_err("the panic passes through");
        *payload.downcast::<u32>().expect("with its payload")
    };
    let polled = |polls: u32| {
        let mut future = pin!(waits(20));
        let mut context = Context::from_waker(Waker::noop());
        (0..polls).map(|_| u32::from(future.as_mut().poll(&mut context).is_ready())).sum()
    };
    vec![returns(1), payload(panics, 7), polled(1), polled(2), payload(holds_one_by_hand, 40)]
}

fn record() -> &'static Recording {
    let mut settings = Settings::default();
    settings.capture.default_level = Level::Full;
    settings.telemetry_capture.max_age_ms = 0;
    let config = Config {
        id: 1,
        lane_bytes: 1 << 20,
        lanes_max: 4,
        on_full: OnFull::Drop,
        wait_max: std::time::Duration::ZERO,
    };
    let options = RecordingOptions {
        journal: Journal::in_memory(config),
        settings,
        process: Default::default(),
        sensor: Some(Box::new(Failing)),
        parent: None,
        redactor: None,
        inherited: None,
    };
    Recording::install(options).expect("nothing else records")
}

#[test]
fn a_fault_of_ours_at_any_reading_changes_nothing_for_the_host() {
    let bare = host();
    let recording = record();
    assert_eq!(host(), bare);
    let readings = u32::MAX - LEFT.load(Ordering::Relaxed);
    assert!(readings > 8, "{readings} readings are not much of a test");
    for reading in 0..readings {
        let before = faults();
        LEFT.store(reading, Ordering::Relaxed);
        assert_eq!(host(), bare, "a fault at reading {reading}");
        assert_eq!(faults() - before, 1, "at reading {reading}");
    }
    let counters = recording.journal().counters();
    assert_eq!(counters.offered, counters.pending, "what was begun is whole");
    recording.remove();
}
