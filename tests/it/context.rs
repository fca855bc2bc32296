//! Who called whom, wherever code goes: runtimes, threads, pools, iterators and child processes.

use std::pin::pin;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use telemetry::{CallInCurrentTask, Context, InCurrentTask, task, testing};
use tokio::runtime;
use tokio::task::{spawn_blocking, yield_now};

use crate::programs::{PROGRAM, Place};

/// The tree of what is recorded, the children of one parent in alphabetical order: threads end as they like.
fn check(expected: &str, body: impl FnOnce()) {
    let recorded = testing::record(body);
    let mut lines = Vec::new();
    add(recorded.tasks(), None, 0, &mut lines);
    assert_eq!(lines.join("\n"), expected.trim());
}

fn add(
    tasks: &[testing::RecordedTask],
    parent: Option<telemetry::TaskId>,
    depth: usize,
    lines: &mut Vec<String>,
) {
    let mut below: Vec<_> = tasks.iter().filter(|task| task.parent == parent).collect();
    below.sort_by_cached_key(ToString::to_string);
    for task in below {
        lines.push(format!("{}{task}", "  ".repeat(depth)));
        add(tasks, Some(task.id), depth + 1, lines);
    }
}

fn tokio_threads(workers: usize) -> runtime::Runtime {
    runtime::Builder::new_multi_thread().worker_threads(workers).enable_time().build().expect("a runtime")
}

#[task]
fn leaf(n: u32) {
    let _ = n;
}

#[task]
async fn step(n: u32) {
    for _ in 0..n {
        yield_now().await;
    }
    leaf(n);
    yield_now().await;
}

#[task]
async fn endless(n: u32) {
    leaf(n);
    std::future::pending::<()>().await;
}

#[task]
async fn joins() {
    tokio::join!(step(1), step(2), async {
        let _ = tokio::spawn(step(3).in_current_task()).await;
    });
}

#[task]
async fn blocks() {
    let call = (|| leaf(4)).in_current_task();
    spawn_blocking(call).await.expect("it returns");
}

#[task]
async fn selects() {
    tokio::select! {
        biased;
        () = endless(5) => {}
        () = step(6) => {}
    }
}

#[task]
async fn times_out() {
    assert!(tokio::time::timeout(Duration::from_millis(1), endless(7)).await.is_err());
}

#[task]
async fn aborts() {
    let (started, is_started) = tokio::sync::oneshot::channel();
    let handle = tokio::spawn(
        async move {
            let mut call = pin!(endless(8));
            let mut started = Some(started);
            std::future::poll_fn(|context| {
                let poll = call.as_mut().poll(context);
                let _ = started.take().map(|started| started.send(()));
                poll
            })
            .await;
        }
        .in_current_task(),
    );
    is_started.await.expect("it started");
    handle.abort();
    assert!(handle.await.is_err_and(|error| error.is_cancelled()));
}

#[test]
fn tokio_with_many_threads() {
    check(
        r#"
aborts FINISHED
  endless CANCELLED {"n":8}
    leaf FINISHED {"n":8}
blocks FINISHED
  leaf FINISHED {"n":4}
joins FINISHED
  step FINISHED {"n":1}
    leaf FINISHED {"n":1}
  step FINISHED {"n":2}
    leaf FINISHED {"n":2}
  step FINISHED {"n":3}
    leaf FINISHED {"n":3}
selects FINISHED
  endless CANCELLED {"n":5}
    leaf FINISHED {"n":5}
  step FINISHED {"n":6}
    leaf FINISHED {"n":6}
times_out FINISHED
  endless CANCELLED {"n":7}
    leaf FINISHED {"n":7}
"#,
        || {
            tokio_threads(3).block_on(async {
                tokio::join!(joins(), blocks(), selects(), times_out(), aborts());
            });
        },
    );
}

#[test]
fn two_tasks_on_one_thread_never_adopt_each_others_children() {
    let expected = "step FINISHED {\"n\":1}\n  leaf FINISHED {\"n\":1}\nstep FINISHED {\"n\":2}\n  leaf FINISHED {\"n\":2}";
    check(expected, || {
        tokio_threads(1).block_on(async {
            let (one, two) = (tokio::spawn(step(1)), tokio::spawn(step(2)));
            assert!(one.await.is_ok() && two.await.is_ok());
        });
    });
}

#[task]
fn scopes() {
    thread::scope(|scope| {
        scope.spawn((|| leaf(1)).in_current_task());
        let context = Context::current();
        scope.spawn(move || context.run(|| leaf(2)));
    });
    thread::spawn((|| leaf(3)).in_current_task()).join().expect("it returns");
}

#[task]
fn pools() {
    let context = Context::current();
    (1..4_u32).into_par_iter().for_each(|n| context.run(|| leaf(n)));
    rayon::join((|| leaf(4)).in_current_task(), (|| leaf(5)).in_current_task());
}

#[task]
fn smol_like() {
    let executor = async_executor::Executor::new();
    let step = executor.spawn(step_of_any_runtime(1).in_current_task());
    thread::scope(|scope| {
        scope.spawn(|| futures_lite::future::block_on(executor.run(step)));
    });
}

#[task]
async fn step_of_any_runtime(n: u32) {
    futures_lite::future::yield_now().await;
    leaf(n);
}

#[test]
fn threads_pools_and_another_runtime() {
    check(
        r#"
pools FINISHED
  leaf FINISHED {"n":1}
  leaf FINISHED {"n":2}
  leaf FINISHED {"n":3}
  leaf FINISHED {"n":4}
  leaf FINISHED {"n":5}
scopes FINISHED
  leaf FINISHED {"n":1}
  leaf FINISHED {"n":2}
  leaf FINISHED {"n":3}
smol_like FINISHED
  step_of_any_runtime FINISHED {"n":1}
    leaf FINISHED {"n":1}
"#,
        || {
            scopes();
            pools();
            smol_like();
        },
    );
}

#[task(skip_all, output = "numbers")]
fn numbers(up_to: u32) -> impl Iterator<Item = u32> {
    (1..=up_to).inspect(|n| leaf(*n)).in_current_task()
}

#[task(skip_all, output = "numbers")]
fn streamed(up_to: u32) -> impl futures_lite::Stream<Item = u32> {
    futures_lite::stream::iter(1..=up_to).in_current_task()
}

#[test]
fn iterators_and_streams_stay_with_the_task_that_made_them() {
    let recorded = testing::record(|| {
        assert_eq!(numbers(2).sum::<u32>(), 3);
        let mut stream = pin!(streamed(2));
        let next = futures_lite::StreamExt::next(&mut stream);
        assert_eq!(futures_lite::future::block_on(next), Some(1));
    });
    let tasks = recorded.tasks();
    let parents: Vec<_> =
        tasks.iter().filter(|task| task.activity == "leaf").map(|task| task.parent).collect();
    assert_eq!(parents, [Some(tasks[0].id); 2]);
}

/// What the program `starts_a_child` does within a task.
pub(crate) fn start_child() {
    let mut command = Command::new(std::env::current_exe().expect("this test has a file"));
    command.args(["--quiet", "--exact", "--nocapture", "programs::program"]).env(PROGRAM, "small_run");
    assert!(command.in_current_task().status().expect("the child starts").success());
}

#[test]
fn a_child_process_is_nested_in_the_task_that_started_it() {
    let place = Place::new();
    place.run("starts_a_child");
    place.recover();
    let child = "select p.name, t.activity_id from workflows w
        join workflows p on p.workflow_id = w.parent_workflow_id
        join tasks t on t.task_id = w.parent_task_id and t.workflow_id = p.workflow_id";
    assert_eq!(place.table(child), "starts_a_child|starter\n");
    assert_eq!(place.table("select count(*), count(distinct pid) from workflows"), "2|2\n");
}
