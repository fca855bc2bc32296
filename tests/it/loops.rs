//! Loops: each iteration is a task, however it ends.

use std::panic::catch_unwind;

use telemetry::testing::{self, Recorded};
use telemetry::{Iteration, Level, Settings, Workflow, task, track, track_by};

fn check(expected: &str, body: impl FnOnce()) -> Recorded {
    let recorded = testing::record(body);
    assert_eq!(recorded.tree().trim_end(), expected.trim());
    recorded
}

#[task]
fn step(x: u32) -> u32 {
    x + 1
}

#[test]
fn an_iteration_has_its_index_its_item_and_its_children() {
    let recorded = check(
        r#"
letters_iteration FINISHED {"i":0,"item":"a"} → {"length":1}
└─ step FINISHED {"x":0} → {"result":1}
letters_iteration FINISHED {"i":1,"item":"bc"} → {"length":2}
└─ step FINISHED {"x":1} → {"result":2}
step FINISHED {"x":9} → {"result":10}"#,
        || {
            for letters in track("letters", ["a", "bc"]) {
                letters.generated("length", letters.len());
                step(letters.index() as u32);
            }
            step(9);
        },
    );
    let iterations: Vec<_> = recorded.tasks().iter().filter(|task| task.more.contains_key("group")).collect();
    assert_eq!(iterations.len(), 2);
    assert_eq!(iterations[0].more["subtype"], "iteration");
    assert_eq!(iterations[0].more["group"], iterations[1].more["group"]);
}

#[test]
fn two_loops_have_two_groups_and_a_loop_in_a_loop_hangs_below() {
    let recorded = check(
        r#"
outer_iteration FINISHED {"i":0,"row":7}
├─ inner_iteration FINISHED {"i":0,"item":0}
└─ inner_iteration FINISHED {"i":1,"item":1}
outer_iteration FINISHED {"i":1,"row":8}
├─ inner_iteration FINISHED {"i":0,"item":0}
└─ inner_iteration FINISHED {"i":1,"item":1}"#,
        || {
            for _row in track("outer", [7, 8]).item_name("row") {
                for _inner in track("inner", 0..2) {}
            }
        },
    );
    let mut groups: Vec<String> =
        recorded.tasks().iter().map(|task| task.more["group"].to_string()).collect();
    groups.sort();
    groups.dedup();
    assert_eq!(groups.len(), 3);
}

#[test]
fn break_continue_and_return_end_the_iteration() {
    fn first_even(numbers: &[u32]) -> Option<u32> {
        for number in track("numbers", numbers) {
            if *number % 2 == 1 {
                continue;
            }
            step(**number);
            return Some(**number);
        }
        None
    }
    check(
        r#"
numbers_iteration FINISHED {"i":0,"item":3}
numbers_iteration FINISHED {"i":1,"item":4}
└─ step FINISHED {"x":4} → {"result":5}
rows_iteration FINISHED {"i":0,"item":0}
rows_iteration FINISHED {"i":1,"item":1}
step FINISHED {"x":5} → {"result":6}"#,
        || {
            assert_eq!(first_even(&[3, 4, 5]), Some(4));
            for row in track("rows", 0..9) {
                if *row == 1 {
                    break;
                }
            }
            step(5);
        },
    );
}

#[task(skip_all)]
fn parse_all(texts: &[&str]) -> Result<i64, std::num::ParseIntError> {
    let mut sum = 0;
    for round in track("rounds", 0..2) {
        for text in track("texts", texts) {
            sum += text.parse::<i64>()?;
        }
        round.generated("sum", sum);
    }
    Ok(sum)
}

#[test]
fn what_is_left_by_a_question_mark_has_failed() {
    check(
        r#"
parse_all ERROR err: invalid digit found in string
├─ rounds_iteration FINISHED {"i":0,"item":0} → {"sum":1}
│  └─ texts_iteration FINISHED {"i":0,"item":"1"}
└─ rounds_iteration ERROR {"i":1,"item":1} err: invalid digit found in string
   └─ texts_iteration ERROR {"i":0,"item":"x"} err: invalid digit found in string"#,
        || {
            #[task(name = "parse_all", skip_all)]
            fn changing() -> Result<i64, std::num::ParseIntError> {
                let mut sum = 0;
                for round in track("rounds", 0..2) {
                    for text in track("texts", [if *round == 0 { "1" } else { "x" }, "2"].iter().take(1)) {
                        sum += text.parse::<i64>()?;
                    }
                    round.generated("sum", sum);
                }
                Ok(sum)
            }
            assert!(changing().is_err());
        },
    );
    check(
        r#"
parse_all FINISHED → {"result":6}
├─ rounds_iteration FINISHED {"i":0,"item":0} → {"sum":3}
│  ├─ texts_iteration FINISHED {"i":0,"item":"1"}
│  └─ texts_iteration FINISHED {"i":1,"item":"2"}
└─ rounds_iteration FINISHED {"i":1,"item":1} → {"sum":6}
   ├─ texts_iteration FINISHED {"i":0,"item":"1"}
   └─ texts_iteration FINISHED {"i":1,"item":"2"}"#,
        || {
            parse_all(&["1", "2"]).unwrap();
        },
    );
}

#[test]
fn an_error_that_comes_later_is_not_the_loops() {
    #[task]
    fn late(calls: bool) -> Result<(), String> {
        for number in track("numbers", 0..9) {
            if *number == 1 {
                break;
            }
        }
        if calls {
            step(1);
        }
        for _number in track("complete", 0..1) {}
        Err("late".to_owned())
    }
    let recorded = testing::record(|| {
        let _ = (late(true), late(false));
    });
    let failed: Vec<&str> = recorded
        .tasks()
        .iter()
        .filter(|task| task.error_kind.is_some())
        .map(|task| task.activity.as_str())
        .collect();
    assert_eq!(failed, ["late", "late"]);
}

#[test]
fn a_workflow_that_fails_blames_its_loop_too() {
    let recorded = testing::record(|| {
        let workflow = Workflow::start("outer");
        let run = || -> Result<(), &str> {
            for number in track("numbers", 0..9) {
                if *number == 1 {
                    Err("no more")?;
                }
            }
            Ok(())
        };
        workflow.fail(run().unwrap_err());
    });
    let expected = r#"
numbers_iteration FINISHED {"i":0,"item":0}
numbers_iteration ERROR {"i":1,"item":1} err: no more"#;
    assert_eq!(recorded.tree().trim_end(), expected.trim());
}

#[test]
fn a_panic_ends_the_iterations_that_are_open() {
    check(
        r#"
outer_iteration ERROR {"i":0,"item":0} → {"seen":true} panic: (no message)
└─ inner_iteration ERROR {"i":0,"item":0} panic: (no message)
step FINISHED {"x":1} → {"result":2}"#,
        || {
            let outcome = catch_unwind(|| {
                for outer in track("outer", 0..2) {
                    outer.generated("seen", true);
                    for _inner in track("inner", 0..2) {
                        std::panic::resume_unwind(Box::new("quiet"));
                    }
                }
            });
            assert!(outcome.is_err());
            step(1);
        },
    );
}

#[test]
fn an_iteration_can_say_that_it_failed() {
    check(
        r#"
numbers_iteration ERROR {"i":0,"item":0} err: too small
numbers_iteration FINISHED {"i":1,"item":1}"#,
        || {
            for mut number in track("numbers", 0..2) {
                if *number == 0 {
                    number.fail("too small");
                }
            }
        },
    );
}

struct NotSerialize(u32);

#[test]
fn items_can_be_taken_and_need_no_trait() {
    let mut taken = Vec::new();
    check(
        r#"
things_iteration FINISHED {"i":0,"item":1} → {"tripled":3}
things_iteration FINISHED {"i":1,"item":2} → {"tripled":6}"#,
        || {
            let things = [NotSerialize(1), NotSerialize(2)];
            for Iteration { item, task } in
                track_by("things", things, |item, value| value.unsigned(item.0.into()))
            {
                task.generated("tripled", 3 * item.0);
                taken.push(item);
            }
        },
    );
    assert_eq!(taken.len(), 2);
}

#[test]
fn a_loop_has_the_level_that_the_code_says_and_a_rule_the_last_word() {
    let run = || {
        for number in track("numbers", 0..1).level(Level::Lightweight) {
            number.generated("a", 1);
        }
    };
    check("numbers_iteration FINISHED", run);
    let settings = |level: &str| {
        let text = format!("capture: {{rules: [{{activity: numbers_iteration, level: {level}}}]}}");
        Settings::from_yaml(&text, "x.yaml".as_ref()).unwrap().settings
    };
    let with = |level: &str| testing::record_with(settings(level), run).tree();
    assert_eq!(with("off"), "");
    assert_eq!(with("data"), "numbers_iteration FINISHED {\"i\":0,\"item\":0} → {\"a\":1}\n");
}

#[test]
fn without_a_recorder_a_loop_is_a_loop() {
    let sum: u32 = track("numbers", 0..4).map(|number| *number).sum();
    assert_eq!((sum, track("numbers", 0..4).len()), (6, 4));
}

#[test]
fn iterations_may_go_to_other_threads_and_be_open_at_once() {
    let recorded = testing::record(|| {
        let all: Vec<_> = track("numbers", 0..3).collect();
        std::thread::scope(|scope| {
            for number in all {
                scope.spawn(move || number.task.context().run(|| step(*number)));
            }
        });
    });
    let roots = recorded.tasks().iter().filter(|task| task.parent.is_none()).count();
    let steps = recorded.tasks().iter().filter(|task| task.activity == "step");
    assert_eq!(roots, 3, "iterations are siblings:\n{}", recorded.tree());
    assert!(steps.clone().all(|step| step.parent.is_some()) && steps.count() == 3);
    assert!(recorded.tasks().iter().all(|task| task.status == telemetry::Status::Finished));
}
