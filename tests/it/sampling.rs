//! Sampling: which tasks are recorded, and that those which are not are counted.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::catch_unwind;
use std::pin::pin;
use std::process::Command;
use std::task::{Poll, Waker};
use std::time::Instant;

use telemetry::testing::{Recorded, RecordedTask, record_with};
use telemetry::{
    CallInCurrentTask, Context, InCurrentTask, Level, Settings, Status, Task, TaskId, Workflow, current_task,
    task,
};

pub(crate) fn settings(capture: &str) -> Settings {
    let text = format!("capture: {{{capture}}}");
    let mut settings =
        Settings::from_yaml(&text, "settings.yaml".as_ref()).expect("the test's settings are sound").settings;
    if !capture.contains("default_level") {
        settings.capture.default_level = Level::Data;
    }
    settings
}

/// The tree that is recorded, and what was left out.
pub(crate) fn check(capture: &str, body: impl FnOnce(), tree: &str, left_out: &[(&str, u64)]) {
    let recorded = record_with(settings(capture), body);
    assert_eq!(recorded.tree().trim_end(), tree.trim(), "{capture}");
    let left_out: BTreeMap<String, u64> =
        left_out.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    assert_eq!(recorded.left_out(), &left_out, "{capture}");
}

#[task]
pub(crate) fn leaf(x: i64) -> i64 {
    x
}

#[task(level = lightweight)]
pub(crate) fn light(x: i64) -> i64 {
    leaf(x)
}

#[task]
pub(crate) fn outer(x: i64) -> i64 {
    light(x)
}

#[task]
pub(crate) fn failing(fails: bool) -> Result<i64, String> {
    leaf(1);
    if fails { Err("no".to_owned()) } else { Ok(1) }
}

#[task]
pub(crate) fn swallowing(fails: bool) -> i64 {
    leaf(2);
    failing(fails).unwrap_or(-1)
}

#[task]
async fn waiting(fails: bool) -> Result<i64, String> {
    let mut is_polled = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    failing(fails)
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = std::task::Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

const NONE_OF_OUTER: &str = "rules: [{activity: '*::outer', sample: 0}]";
const NONE: &str = "rules: [{activity: '*', sample: 0}]";

#[test]
fn what_is_below_a_task_that_is_left_out_is_left_out_with_it() {
    let body = || {
        outer(1);
        light(2);
    };
    let light_and_leaf = "light FINISHED\n└─ leaf FINISHED {\"x\":2} → {\"result\":2}";
    check(NONE_OF_OUTER, body, light_and_leaf, &[("outer", 1), ("light", 1), ("leaf", 1)]);
    check(NONE, body, "", &[("outer", 1), ("light", 2), ("leaf", 2)]);
}

#[test]
fn what_was_drawn_above_is_not_drawn_again() {
    check(
        "rules: [{activity: '*::outer', sample: 0.9999999999999999}, {activity: '*', sample: 0}]",
        || {
            outer(1);
        },
        "outer FINISHED {\"x\":1} → {\"result\":1}\n└─ light FINISHED\n   └─ leaf FINISHED {\"x\":1} → {\"result\":1}",
        &[],
    );
}

#[test]
fn a_failed_task_comes_back_with_its_open_ancestors_and_they_end() {
    check(
        NONE,
        || {
            swallowing(false);
            swallowing(true);
        },
        "swallowing FINISHED\n└─ failing ERROR err: no",
        &[("swallowing", 1), ("failing", 1), ("leaf", 4)],
    );
    check(
        &format!("{NONE}, sampling: {{keep_errors: false}}"),
        || {
            swallowing(true);
        },
        "",
        &[("swallowing", 1), ("failing", 1), ("leaf", 2)],
    );
}

#[task]
fn panicking() {
    leaf(3);
    panic!("oh");
}

#[task]
fn over_panicking() {
    panicking();
}

#[test]
fn a_panic_brings_back_everything_that_it_unwinds() {
    check(
        NONE,
        || {
            assert!(catch_unwind(over_panicking).is_err());
        },
        "over_panicking ERROR panic: oh\n└─ panicking ERROR panic: oh",
        &[("leaf", 1)],
    );
}

#[test]
fn a_failed_task_below_a_recorded_one_is_its_child() {
    check(
        "rules: [{activity: '*::failing', sample: 0}]",
        || {
            swallowing(true);
        },
        "swallowing FINISHED {\"fails\":true} → {\"result\":-1}\n├─ leaf FINISHED {\"x\":2} → {\"result\":2}\n└─ failing ERROR err: no",
        &[("leaf", 1)],
    );
}

#[test]
fn two_failures_share_their_ancestors() {
    #[task]
    fn twice() {
        let _ = (failing(true), failing(true));
    }
    check(NONE, twice, "twice FINISHED\n├─ failing ERROR err: no\n└─ failing ERROR err: no", &[("leaf", 2)]);
}

#[test]
fn async_tasks_that_interleave_and_change_threads_follow_what_was_drawn() {
    let body = || {
        let (mut first, mut second) = (Box::pin(waiting(true)), Box::pin(waiting(false)));
        let mut context = std::task::Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(second.as_mut().poll(&mut context).is_pending());
        leaf(9);
        let thread = std::thread::spawn(move || (block_on(first), block_on(second)));
        assert_eq!(thread.join().unwrap(), (Err("no".to_owned()), Ok(1)));
    };
    check(
        "rules: [{activity: '*::waiting', sample: 0}]",
        body,
        "waiting ERROR err: no\n└─ failing ERROR err: no\nleaf FINISHED {\"x\":9} → {\"result\":9}",
        &[("waiting", 1), ("failing", 1), ("leaf", 2)],
    );
    // One that is dropped has not failed.
    let dropped = || block_on(async { Box::pin(waiting(true)).as_mut().poll_once().await });
    check(NONE, dropped, "", &[("waiting", 1)]);
}

/// Polls a future once.
trait PollOnce {
    async fn poll_once(self);
}

impl<F: Future> PollOnce for std::pin::Pin<&mut F> {
    async fn poll_once(mut self) {
        std::future::poll_fn(|context| {
            assert!(self.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
    }
}

#[test]
fn a_carried_context_carries_what_was_drawn() {
    #[task]
    fn spawning() {
        let call = || failing(true).is_err();
        assert!(std::thread::spawn(call.in_current_task()).join().unwrap());
        let context = Context::current();
        std::thread::spawn(move || context.run(|| leaf(5))).join().unwrap();
    }
    check(NONE, spawning, "spawning FINISHED\n└─ failing ERROR err: no", &[("leaf", 2)]);
}

#[test]
fn a_child_that_outlives_its_parent_is_no_orphan() {
    #[task]
    fn detaching() -> Context {
        Context::current()
    }
    let body = || {
        let context = detaching();
        context.run(|| failing(true)).unwrap_err();
    };
    check(NONE, body, "failing ERROR err: no", &[("detaching", 1), ("leaf", 1)]);
    let below_recorded = || {
        #[task]
        fn around() {
            let context = detaching();
            context.run(|| failing(true)).unwrap_err();
        }
        around();
    };
    check(
        "rules: [{activity: '*::detaching', sample: 0}]",
        below_recorded,
        "around FINISHED\nfailing ERROR err: no",
        &[("detaching", 1), ("leaf", 1)],
    );
}

#[test]
fn in_a_task_that_is_left_out_there_is_no_id_and_nothing_is_added() {
    #[task]
    fn adding() -> Option<TaskId> {
        let id = current_task().used("secret", 1).metadata("m", 2).tag("t").id();
        assert_eq!(Context::current().task(), None);
        id
    }
    let below = "rules: [{activity: '*::adding', sample: 0}]";
    let body = || {
        let task = Task::start("by hand");
        assert_eq!(task.run(adding), None);
        task.end();
        assert!(Task::start("by hand").id().is_some());
    };
    check(below, body, "by hand FINISHED\nby hand UNKNOWN", &[("adding", 1)]);
}

#[test]
fn tasks_by_hand_are_sampled_like_others() {
    let body = || {
        let task = Task::start("step").used("x", 1).generated("y", 2);
        assert_eq!((task.id(), task.run(|| leaf(1))), (None, 1));
        task.end();
        let task = Task::start("step");
        task.run(|| leaf(1));
        task.fail("broken");
        drop(Task::start("step"));
    };
    check(
        "rules: [{activity: step, sample: 0}]",
        body,
        "step ERROR err: broken",
        &[("step", 2), ("leaf", 2)],
    );
}

#[test]
fn a_given_parent_decides() {
    #[task(parent = parent)]
    fn adopted(parent: Context) -> i64 {
        leaf(i64::from(parent.workflow().is_some()))
    }
    #[task]
    fn around(outside: Context) {
        adopted(Context::current());
        adopted(outside);
    }
    let body = || around(Context::current());
    let recorded = record_with(settings("rules: [{activity: '*::around', sample: 0}]"), body);
    let names: Vec<&str> = recorded.tasks().iter().map(|task| task.activity.as_str()).collect();
    assert_eq!(names, ["adopted", "leaf"]);
    assert_eq!(recorded.left_out()["adopted"], 1);
    assert_no_orphan(&recorded);
}

#[test]
fn a_workflow_in_a_task_that_is_left_out_follows_and_so_does_a_child_process() {
    #[task]
    fn starting() -> String {
        let workflow = Workflow::start("inner");
        leaf(1);
        let mut command = Command::new("true");
        command.in_current_task();
        let told = command
            .get_envs()
            .map(|(name, value)| format!("{} {}", name.display(), value.is_some()))
            .collect();
        workflow.end();
        let told: Vec<String> = told;
        told.join(", ")
    }
    let mut told = String::new();
    check(NONE, || told = starting(), "", &[("starting", 1), ("leaf", 1)]);
    assert_eq!(told, "TELEMETRY_PARENT_LEFT_OUT true, TELEMETRY_PARENT_WORKFLOW true");
}

#[test]
fn so_many_a_second_are_kept_whatever_the_activity() {
    let begun = Instant::now();
    let recorded = record_with(settings("rules: [{activity: '*', per_second: 7}]"), || {
        (0..500).for_each(|number| {
            leaf(number);
            light(number);
        });
    });
    let seconds = begun.elapsed().as_secs() as usize + 1;
    let roots = recorded.tasks().iter().filter(|task| task.parent.is_none()).count();
    assert!((7..=7 * (seconds + 1)).contains(&roots), "{roots} in {seconds} s");
    assert_eq!(recorded.tasks().len() as u64 + recorded.left_out().values().sum::<u64>(), 1_500);
}

#[test]
fn both_kinds_of_sampling_together_keep_what_passes_both() {
    let none = "rules: [{activity: '*', per_second: 1000000, sample: 0}]";
    check(none, || drop((0..9).map(leaf).collect::<Vec<_>>()), "", &[("leaf", 9)]);
    let none = "rules: [{activity: '*', per_second: 0, sample: 1}]";
    check(none, || drop((0..9).map(leaf).collect::<Vec<_>>()), "", &[("leaf", 9)]);
}

/// Every parent that a task names is there.
fn assert_no_orphan(recorded: &Recorded) {
    let ids: std::collections::HashSet<TaskId> = recorded.tasks().iter().map(|task| task.id).collect();
    let is_orphan = |task: &&RecordedTask| task.parent.is_some_and(|parent| !ids.contains(&parent));
    assert_eq!(recorded.tasks().iter().find(is_orphan), None);
}

#[task]
fn request(number: u64) -> Result<u64, String> {
    let mut sum = 0;
    for part in 0..number % 5 {
        sum += step(number, part).unwrap_or(0);
    }
    if number % 97 == 0 { Err(format!("request {number}")) } else { Ok(sum) }
}

#[task]
fn step(number: u64, part: u64) -> Result<u64, String> {
    if part > 2 {
        return detail(number);
    }
    if number % 61 == 0 { Err(format!("step {number}.{part}")) } else { detail(number) }
}

#[task(level = data)]
fn detail(number: u64) -> Result<u64, String> {
    if number % 89 == 0 { Err(format!("detail {number}")) } else { Ok(number) }
}

/// How often each activity is called, and how often it fails.
fn truth(requests: u64) -> BTreeMap<&'static str, (u64, u64)> {
    let mut truth = BTreeMap::from([("request", (0, 0)), ("step", (0, 0)), ("detail", (0, 0))]);
    let mut count = |name: &'static str, fails: bool| {
        let entry = truth.entry(name).or_default();
        *entry = (entry.0 + 1, entry.1 + u64::from(fails));
    };
    for number in 0..requests {
        count("request", number % 97 == 0);
        for part in 0..number % 5 {
            let fails_itself = part <= 2 && number % 61 == 0;
            count("step", fails_itself || number % 89 == 0);
            if !fails_itself {
                count("detail", number % 89 == 0);
            }
        }
    }
    truth
}

#[test]
fn kept_and_left_out_are_all_and_every_error_has_its_ancestors() {
    let (requests, rate) = (40_000, 0.05);
    let rule = format!("default_level: lightweight, rules: [{{activity: '*::request', sample: {rate}}}]");
    let recorded = record_with(settings(&rule), || {
        std::thread::scope(|scope| {
            let context = Context::current();
            for first in 0..4 {
                scope.spawn(move || {
                    context.run(|| (first..requests).step_by(4).for_each(|number| drop(request(number))));
                });
            }
        });
    });
    assert_no_orphan(&recorded);
    for (name, (calls, errors)) in truth(requests) {
        let of_name = || recorded.tasks().iter().filter(|task| task.activity == name);
        let left_out = recorded.left_out().get(name).copied().unwrap_or(0);
        assert_eq!(of_name().count() as u64 + left_out, calls, "{name}");
        assert_eq!(of_name().filter(|task| task.status == Status::Error).count() as u64, errors, "{name}");
        assert!(of_name().all(|task| task.status != Status::Running), "{name}");
    }
    // Those without an error in or below them are there by the draw alone. Five deviations: a test that is
    // run every day must not fail once a year.
    let is_plain = |number: u64| [97, 61, 89].iter().all(|divisor| !number.is_multiple_of(*divisor));
    let plain = (0..requests).filter(|number| is_plain(*number)).count() as f64;
    let kept = record_with(settings(&rule), || {
        (0..requests).filter(|number| is_plain(*number)).for_each(|number| drop(request(number)));
    });
    let kept = kept.tasks().iter().filter(|task| task.activity == "request").count() as f64;
    let deviation = (kept - plain * rate) / (plain * rate * (1.0 - rate)).sqrt();
    assert!(deviation.abs() <= 5.0, "{kept} of {plain}: {deviation} deviations");
}
