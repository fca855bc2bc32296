//! Too many and too long: what is recorded of it is bounded, and counted where it is left out.

use std::pin::Pin;
use std::task::{Context as PollContext, Poll, Waker};

use telemetry::{Counters, Status, Task, current_task, task, testing};

/// More names than a journal keeps.
const NAMES: usize = 70_000;

fn assert_law(counters: &Counters) {
    let dropped: u64 = counters.dropped.iter().sum();
    assert_eq!(counters.offered, counters.persisted + counters.pending + dropped + counters.torn);
    assert_eq!(dropped, 0);
}

#[test]
fn names_without_number_are_recorded_up_to_a_limit_and_their_tasks_all() {
    let recorded = testing::record(|| {
        for number in 0..NAMES {
            Task::start(&format!("name {number}")).used("number", number).end();
        }
    });
    assert_eq!(recorded.tasks().len(), NAMES);
    assert!(recorded.tasks().iter().all(|task| task.status == Status::Finished));
    let named = recorded.tasks().iter().filter(|task| !task.activity.is_empty()).count();
    assert!((60_000..NAMES).contains(&named), "{named}");
    assert_law(&recorded.counters());
}

#[test]
fn long_names_are_shortened() {
    let long = "é".repeat(1 << 19);
    let recorded = testing::record(|| {
        let task = Task::start(&long).used(&long, 1).generated(&long, &long);
        task.run(|| current_task().metadata(&long, 1).tag(&long).stdout(&long));
        task.fail(&long);
    });
    let task = &recorded.tasks()[0];
    assert_eq!(task.activity, "é".repeat(512));
    assert_eq!(task.used.keys().next().map(String::len), Some(256));
    let size = |value: &serde_json::Value| value.to_string().len();
    assert!(task.generated.values().all(|value| size(value) < 4200 && value["$cut"]["bytes"] == 1 << 20));
    assert!(task.more.values().all(|value| size(value) < 4200), "{:?}", task.more.keys());
    assert_law(&recorded.counters());
}

#[test]
fn ten_thousand_attributes_of_one_task() {
    let recorded = testing::record(|| {
        let mut task = Task::start("many");
        for number in 0..10_000 {
            task = task.used(&format!("attribute {number}"), number);
        }
        task.run(|| current_task().tags((0..10_000).map(|number| format!("tag {number}"))));
        task.end();
    });
    let task = &recorded.tasks()[0];
    assert_eq!(task.used.len(), 10_000);
    // The tags of one record are as many as it has bytes for.
    let tags = task.more["tags"].as_array().map_or(0, Vec::len);
    assert!((1_000..10_000).contains(&tags), "{tags}");
    assert_law(&recorded.counters());
}

#[task]
async fn waits_for_ever(number: u32) -> u32 {
    std::future::pending::<()>().await;
    number
}

#[test]
fn a_future_that_is_forgotten_is_still_running() {
    let recorded = testing::record(|| {
        let mut future: Pin<Box<dyn Future<Output = u32>>> = Box::pin(waits_for_ever(1));
        let poll = future.as_mut().poll(&mut PollContext::from_waker(Waker::noop()));
        assert_eq!(poll, Poll::Pending);
        std::mem::forget(future);
    });
    assert_eq!(recorded.tree(), "waits_for_ever RUNNING {\"number\":1}\n");
}
