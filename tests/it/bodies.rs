//! What the programs of the tests do.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use telemetry::{Context, Recorder, Task, Workflow, task, workflow};

use crate::loads;
use crate::programs::{say_ready, wait_for_end};

/// Runs a program and answers its exit code.
pub(crate) fn run(name: &str) -> i32 {
    match name {
        "families" => families(),
        "many" => many(),
        "one_is_open" => one_is_open(),
        "failures" => failures(),
        "busy" => busy(),
        "values" => values(),
        "slow_batches" => slow_batches(),
        "lineage" => lineage(),
        "writer" => writer(),
        "wanderer" => wanderer(),
        "loads" => loads::all(),
        "freed" => loads::freed(),
        "one_load" => loads::one(),
        "open_files" => loads::open_files(),
        "stopped" => loads::stopped(),
        "small_run" => assert_eq!(small(), 7),
        "nested_workflows" => crate::options::nested_workflows(),
        "one_burst" => one_burst(),
        "starts_a_child" => starts_a_child(),
        "events" => crate::events::events(),
        "floats" => crate::tap::floats(),
        "tapped" => crate::tap::tapped(),
        "pours" => crate::outside::pours(),
        "evil" => return crate::evil::recorded::run(),
        "evil_bare" => return crate::evil::bare::run(),
        "huge_values" => crate::evil::huge_values(),
        "naughty" => crate::naughty::naughty(),
        "pipeline" => crate::pipeline::pipeline(),
        "secrets" => crate::secrets::program(),
        "secrets_spilled" => crate::secrets::spilling_program(),
        "secrets_without_rule" => crate::secrets::program_without_rule(),
        "session" => crate::sessions::session(),
        "usual_session" => crate::sessions::usual_session(),
        "two_sessions" => crate::sessions::two_sessions(),
        "open_session" => crate::sessions::open_session(),
        "trains" => crate::models::trains(),
        "trains_little" => crate::models::trains_little(),
        "storm" => crate::storm::storm(),
        "leaves_out" => crate::left_out::leaves_out(),
        "reloads" => crate::reload::reloads(),
        "stop_and_go" => crate::life_cycle::stop_and_go(),
        "two_starts" => crate::life_cycle::two_starts(),
        "becomes_another" => crate::life_cycle::becomes_another(),
        "obedient" => return crate::hosts::obedient(),
        "small" => return small(),
        "small_bare" => return small_bare(),
        other => panic!("there is no program {other}"),
    }
    0
}

#[task(output = "y")]
fn double(x: i64) -> i64 {
    2 * x
}

#[task]
fn parent() -> i64 {
    child()
}

#[task]
fn child() -> i64 {
    double(1)
}

#[task]
async fn async_parent() -> i64 {
    yield_once().await;
    async_child().await
}

#[task]
async fn async_child() -> i64 {
    yield_once().await;
    double(2)
}

async fn yield_once() {
    let mut is_polled = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Polls two futures in turn until both are done.
fn interleave<F: Future>(first: F, second: F) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let mut context = std::task::Context::from_waker(Waker::noop());
    let mut done = [false; 2];
    while done != [true; 2] {
        done[0] = done[0] || first.as_mut().poll(&mut context).is_ready();
        done[1] = done[1] || second.as_mut().poll(&mut context).is_ready();
    }
}

#[task]
fn starter() {
    crate::context::start_child();
}

#[workflow]
fn starts_a_child() {
    starter();
}

#[task]
fn spawner() {
    let context = Context::current();
    std::thread::spawn(move || context.run(child)).join().expect("the thread returns");
}

#[workflow]
fn families() {
    parent();
    interleave(async_parent(), async_parent());
    spawner();
}

/// The tasks of each of `many`'s threads.
pub(crate) const MANY: i64 = 2_500;

#[workflow]
fn many() {
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..MANY).for_each(|number| drop(double(number).to_string())));
        }
    });
}

#[task]
fn in_flight() {
    say_ready();
    wait_for_end();
}

#[workflow]
fn one_is_open() {
    (0..1_000).for_each(|number| drop(double(number).to_string()));
    in_flight();
}

#[workflow]
fn one_burst() {
    (0..1_000).for_each(|number| drop(double(number).to_string()));
}

#[workflow(name = "panics")]
fn panicking_workflow() {
    let task = Task::start("by hand");
    task.run(|| panic!("the body fails"));
    task.end();
}

#[workflow(name = "errs")]
fn failing_workflow() -> Result<(), String> {
    Err("nothing to do".to_owned())
}

fn failures() {
    // The panic's message is the test's noise, not a complaint.
    std::panic::set_hook(Box::new(|_| {}));
    catch_unwind(AssertUnwindSafe(panicking_workflow)).expect_err("the panic passes through");
    failing_workflow().expect_err("the error passes through");
}

#[task]
fn burn(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[task]
fn burning_parent() {
    burn(Duration::from_millis(150));
}

#[workflow]
fn busy() {
    burning_parent();
}

#[derive(serde::Serialize)]
struct Point {
    x: f64,
    label: &'static str,
}

#[task(output = "distance")]
fn distance(from: Point, to: &Point, scale: f64) -> Result<f64, String> {
    if scale == 0.0 {
        return Err(format!("{} and {} have no scale", from.label, to.label));
    }
    Ok((from.x - to.x).abs() * scale)
}

#[workflow]
fn values() {
    let to = Point { x: 4.0, label: "to" };
    distance(Point { x: 1.0, label: "from" }, &to, 2.0).expect("a scale");
    distance(Point { x: 1.0, label: "from" }, &to, 0.0).expect_err("no scale");
}

/// The START and the END of one task in two batches.
fn slow_batches() {
    let recorder = Recorder::start_with_found_settings().expect("recording starts");
    let workflow = Workflow::start("slow");
    let task = Task::start("slow").used("path", "input.csv");
    recorder.flush(Duration::from_mins(1));
    say_ready();
    wait_for_end();
    task.generated("rows", 3).end();
    workflow.end();
}

#[workflow]
fn lineage() {
    for round in 0..3 {
        for number in 0..500 {
            Task::start(if number % 2 == 0 { "even" } else { "odd" }).used("round", round).end();
        }
    }
    // The same small value under the same name is no evidence that one made the other.
    let first = Task::start("makes").generated("n", 1);
    let source = first.id().expect("it is recorded");
    first.end();
    Task::start("guessed").used("n", 1).end();
    Task::start("declared").depends_on(source).end();
}

#[workflow]
fn writer() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    let worker = std::thread::spawn(|| {
        while !IS_OVER.load(Ordering::Relaxed) {
            parent();
        }
    });
    say_ready();
    wait_for_end();
    IS_OVER.store(true, Ordering::Relaxed);
    worker.join().expect("the thread returns");
}

/// Works in another folder than it was started in.
fn wanderer() {
    let mut settings = telemetry::Settings::default();
    settings.capture.default_level = telemetry::Level::Data;
    let recorder = Recorder::start(settings).expect("recording starts");
    std::fs::create_dir("elsewhere").expect("the folder is empty");
    std::env::set_current_dir("elsewhere").expect("the folder is there");
    let workflow = Workflow::start("wanders");
    double(1);
    workflow.end();
    drop(recorder);
}

#[workflow]
fn small() -> i32 {
    report(parent() + double(3))
}

/// What `small` does, without us.
fn small_bare() -> i32 {
    report(2 + 6)
}

fn report(number: i64) -> i32 {
    use std::io::Write;
    writeln!(std::io::stdout(), "the answer is {number}").expect("somebody reads");
    7
}
