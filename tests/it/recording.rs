//! What is recorded of calls, by attribute and by hand.

use std::future::Future;
use std::panic::catch_unwind;
use std::pin::pin;
use std::task::{Poll, Waker};

use telemetry::{Context, Level, Settings, Task, task, testing};

fn check(expected: &str, body: impl FnOnce()) {
    let recorded = testing::record(body);
    assert_eq!(recorded.tree().trim_end(), expected.trim());
    let counters = recorded.counters();
    let dropped: u64 = counters.dropped.iter().sum();
    assert_eq!(counters.offered, counters.persisted + counters.pending + dropped + counters.torn);
}

/// Polls a future until it is ready, however often that takes.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = std::task::Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// Is pending once, so that another future may run between.
async fn yield_once() {
    let mut is_polled = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[derive(serde::Serialize)]
struct Fit {
    slope: f64,
    points: Vec<i32>,
}

#[derive(Debug)]
struct OnlyDebug;

struct Opaque;

#[task]
fn fit(points: &[i32]) -> Fit {
    Fit { slope: 0.5, points: points.to_vec() }
}

#[task(outputs("low", "high"))]
fn split(number: u64) -> (u64, u64) {
    (number / 2, number - number / 2)
}

#[task(output = "y")]
fn double(x: i64) -> i64 {
    2 * x
}

#[task]
fn parse(text: &str) -> Result<i64, std::num::ParseIntError> {
    text.parse()
}

#[task]
fn total(texts: &[&str]) -> Result<i64, std::num::ParseIntError> {
    let mut sum = 0;
    for text in texts {
        sum += parse(text)?;
    }
    Ok(sum)
}

#[task]
fn count_down(from: u32) -> u32 {
    if from == 0 { 0 } else { count_down(from - 1) }
}

#[task(name = "renamed", skip(secret))]
fn with_options(secret: &str, kept: bool) -> usize {
    secret.len() + usize::from(kept)
}

#[task]
fn anything<T>(_first: T, debug: &OnlyDebug, opaque: Opaque) -> Opaque {
    let _ = debug;
    opaque
}

#[task]
fn boom(depth: u32) {
    assert!(depth > 0, "depth is {depth}");
    boom(depth - 1);
}

#[task]
async fn outer(name: &'static str) -> usize {
    yield_once().await;
    inner(name).await
}

#[task]
async fn inner(name: &str) -> usize {
    yield_once().await;
    double(name.len() as i64) as usize
}

struct Counter {
    count: i32,
}

impl Counter {
    #[task]
    fn add(&mut self, by: i32) -> i32 {
        self.count += by;
        self.count
    }
}

#[test]
fn values_are_used_and_generated_by_name() {
    check(
        r#"
double FINISHED {"x":21} → {"y":42}
split FINISHED {"number":7} → {"low":3,"high":4}
fit FINISHED {"points":[1,2]} → {"slope":0.5,"points":[1,2]}
renamed FINISHED {"kept":true} → {"result":7}
add FINISHED {"by":2} → {"result":5}
"#,
        || {
            double(21);
            split(7);
            fit(&[1, 2]);
            with_options("secret", true);
            Counter { count: 3 }.add(2);
        },
    );
}

#[test]
fn a_type_without_traits_is_recorded_by_its_name() {
    let recorded = testing::record(|| {
        anything(1, &OnlyDebug, Opaque);
    });
    let task = &recorded.tasks()[0];
    assert_eq!(task.used["debug"], "OnlyDebug");
    assert!(task.used["opaque"]["$type"].as_str().is_some_and(|name| name.ends_with("Opaque")), "{task}");
}

#[test]
fn nested_calls_know_their_parents() {
    check(
        r#"
count_down FINISHED {"from":2} → {"result":0}
└─ count_down FINISHED {"from":1} → {"result":0}
   └─ count_down FINISHED {"from":0} → {"result":0}
double FINISHED {"x":1} → {"y":2}
"#,
        || {
            count_down(2);
            double(1);
        },
    );
}

#[test]
fn errors_pass_through_and_are_recorded_with_their_message() {
    check(
        r#"
total ERROR {"texts":["1","x","3"]} err: invalid digit found in string
├─ parse FINISHED {"text":"1"} → {"result":1}
└─ parse ERROR {"text":"x"} err: invalid digit found in string
"#,
        || assert!(total(&["1", "x", "3"]).is_err()),
    );
}

#[test]
fn panics_pass_through_with_their_payload() {
    check(
        r#"
boom ERROR {"depth":1} panic: depth is 0
└─ boom ERROR {"depth":0} panic: depth is 0
double FINISHED {"x":1} → {"y":2}
"#,
        || {
            let payload = catch_unwind(|| boom(1)).unwrap_err();
            assert_eq!(payload.downcast_ref::<String>().map(String::as_str), Some("depth is 0"));
            double(1);
        },
    );
}

#[test]
fn async_calls_keep_their_own_children_when_they_interleave() {
    check(
        r#"
outer FINISHED {"name":"one"} → {"result":6}
└─ inner FINISHED {"name":"one"} → {"result":6}
   └─ double FINISHED {"x":3} → {"y":6}
outer FINISHED {"name":"three"} → {"result":10}
└─ inner FINISHED {"name":"three"} → {"result":10}
   └─ double FINISHED {"x":5} → {"y":10}
"#,
        || {
            let (mut first, mut second) = (Box::pin(outer("one")), Box::pin(outer("three")));
            let mut done = (false, false);
            let mut context = std::task::Context::from_waker(Waker::noop());
            while done != (true, true) {
                done.0 = done.0 || first.as_mut().poll(&mut context).is_ready();
                done.1 = done.1 || second.as_mut().poll(&mut context).is_ready();
            }
        },
    );
}

#[test]
fn a_future_that_is_dropped_is_cancelled_and_one_never_polled_leaves_nothing() {
    check(
        r#"
outer CANCELLED {"name":"one"}
└─ inner CANCELLED {"name":"one"}
double FINISHED {"x":1} → {"y":2}
"#,
        || {
            let mut future = Box::pin(outer("one"));
            let mut context = std::task::Context::from_waker(Waker::noop());
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert!(future.as_mut().poll(&mut context).is_pending());
            drop(future);
            drop(outer("never"));
            double(1);
        },
    );
}

#[test]
fn tasks_by_hand_take_children_and_end_as_they_are_told() {
    check(
        r#"
load FINISHED {"path":"a.csv"} → {"rows":3}
├─ double FINISHED {"x":1} → {"y":2}
└─ double FINISHED {"x":2} → {"y":4}
check ERROR err: too few
forgotten UNKNOWN
"#,
        || {
            let task = Task::start("load").used("path", "a.csv");
            task.run(|| double(1));
            let context = task.context();
            std::thread::spawn(move || context.run(|| double(2))).join().expect("the thread returns");
            task.generated("rows", 3).end();
            Task::start("check").fail("too few");
            drop(Task::start("forgotten"));
        },
    );
}

#[test]
fn threads_carry_a_context_or_belong_to_the_workflow() {
    let recorded = testing::record(|| {
        std::thread::spawn(|| double(1)).join().expect("the thread returns");
    });
    assert_eq!(recorded.tasks()[0].parent, None);
    assert!(Context::current().task().is_none());
}

#[test]
fn levels_decide_what_is_captured() {
    let at = |level: Level| {
        let mut settings = Settings::default();
        settings.capture.default_level = level;
        testing::record_with(settings, || {
            double(1);
            let _ = parse("x");
        })
        .tree()
    };
    assert_eq!(at(Level::Off), "");
    let lightweight = "double FINISHED\nparse ERROR err: invalid digit found in string\n";
    assert_eq!(at(Level::Lightweight), lightweight);
    assert_eq!(at(Level::Telemetry), lightweight);
    assert!(at(Level::Data).starts_with(r#"double FINISHED {"x":1} → {"y":2}"#));
    assert!(at(Level::Full).starts_with(r#"double FINISHED {"x":1} → {"y":2}"#));
}

#[test]
fn a_rule_has_the_last_word_over_the_level() {
    let text = "capture: {rules: [{activity: '*::double', level: 'off'}]}";
    let settings = Settings::from_yaml(text, "rules.yaml".as_ref()).expect("good settings").settings;
    let recorded = testing::record_with(settings, || {
        double(1);
        split(2);
    });
    assert_eq!(recorded.tree().lines().count(), 1, "{}", recorded.tree());
}

/// Calls a task while it is being serialized.
struct Reentrant;

impl serde::Serialize for Reentrant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(double(4))
    }
}

#[task]
fn takes(value: &Reentrant) -> i64 {
    let _ = value;
    1
}

#[test]
fn a_task_that_is_called_while_a_value_is_captured_is_counted_and_harms_nobody() {
    let recorded = testing::record(|| assert_eq!(takes(&Reentrant), 1));
    assert_eq!(recorded.tree(), "takes FINISHED {\"value\":8} → {\"result\":1}\n");
    assert_eq!(recorded.counters().dropped[telemetry::DropReason::Nested as usize], 1);
}

/// Calls a task when its thread ends.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        double(5);
    }
}

thread_local! {
    static LATE: Late = const { Late };
}

#[test]
fn a_task_in_a_destructor_of_a_thread_is_recorded() {
    check(
        r#"
double FINISHED {"x":1} → {"y":2}
double FINISHED {"x":5} → {"y":10}
"#,
        || {
            std::thread::spawn(|| {
                // Registered before the first task, so its destructor runs after the recorder's.
                LATE.with(|_| {});
                double(1);
            })
            .join()
            .expect("the thread returns");
        },
    );
}

#[test]
fn block_on_runs_async_tasks_to_their_end() {
    check(
        "outer FINISHED {\"name\":\"ab\"} → {\"result\":4}\n└─ inner FINISHED {\"name\":\"ab\"} → {\"result\":4}\n   └─ double FINISHED {\"x\":2} → {\"y\":4}",
        || {
            assert_eq!(block_on(outer("ab")), 4);
        },
    );
}
