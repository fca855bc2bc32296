//! Rules: which one has a say, and what it may say.

use telemetry::testing::record_with;
use telemetry::{Task, task};

use crate::sampling::{check, outer, settings};

#[test]
fn a_rule_has_the_last_word_then_the_code_then_the_default() {
    let call = || {
        outer(1);
    };
    check(
        "default_level: data",
        call,
        "outer FINISHED {\"x\":1} → {\"result\":1}\n└─ light FINISHED\n   └─ leaf FINISHED {\"x\":1} → {\"result\":1}",
        &[],
    );
    check("default_level: 'off'", call, "light FINISHED", &[]);
    check(
        "default_level: lightweight, rules: [{activity: '*::light', level: data}]",
        call,
        "outer FINISHED\n└─ light FINISHED {\"x\":1} → {\"result\":1}\n   └─ leaf FINISHED",
        &[],
    );
}

#[test]
fn the_first_rule_that_matches_wins_and_what_it_leaves_out_stays() {
    check(
        "rules: [{activity: '*::light', items_max: 5}, {activity: '*::light', level: data}, {activity: '*f', level: 'off'}]",
        || {
            outer(1);
        },
        "outer FINISHED {\"x\":1} → {\"result\":1}\n└─ light FINISHED",
        &[],
    );
}

#[test]
fn rules_match_paths_and_the_names_of_tasks_by_hand() {
    check(
        "rules: [{activity: 'nothing::*', level: 'off'}, {activity: 'load*', level: lightweight}]",
        || {
            Task::start("load_image").used("x", 1).end();
            Task::start("store").used("x", 1).end();
        },
        "load_image FINISHED\nstore FINISHED {\"x\":1}",
        &[],
    );
}

#[task(name = "sizes")]
fn sizes(text: &str, list: Vec<i64>, nested: Vec<Vec<i64>>) -> String {
    let _ = (&list, &nested);
    text.to_owned()
}

#[test]
fn each_limit_of_a_rule_holds_for_start_and_end() {
    let used = |rule: &str| {
        let rule = format!("rules: [{{activity: '*::sizes', {rule}}}]");
        let recorded = record_with(settings(&rule), || {
            sizes(&"x".repeat(300), (0..20).collect(), vec![vec![1]]);
        });
        let task = recorded.tasks()[0].clone();
        (serde_json::Value::from(task.used), serde_json::Value::from(task.generated))
    };
    let (whole, result) = used("level: data");
    assert_eq!((whole["list"].as_array().unwrap().len(), &whole["nested"]), (20, &serde_json::json!([[1]])));
    assert_eq!(result["result"].as_str().unwrap().len(), 300);
    let (used_few, _) = used("items_max: 3");
    assert_eq!(used_few["list"].as_array().unwrap().len(), 4, "three and a mark");
    let (shallow, _) = used("depth_max: 1");
    assert_ne!(shallow["nested"], whole["nested"]);
    let (short, result) = used("value_bytes_max: 64");
    assert!(short["text"].to_string().len() < 200 && result["result"].to_string().len() < 200);
    let (little, _) = used("record_bytes_max: 100");
    let is_cut = |key: &str| little[key] != whole[key];
    assert!(is_cut("text") && is_cut("list"), "{little}");
}
