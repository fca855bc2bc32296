//! JSON for programs: the fields that are promised.

use serde_json::{Value, json};

use crate::fixture::telemetry;

fn parsed(arguments: &[&str]) -> Value {
    let output = telemetry(arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The value without what differs from run to run.
fn without(mut value: Value, names: &[&str]) -> Value {
    value.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
    value
}

#[test]
fn ls_has_its_columns() {
    let rows = parsed(&["ls", "--json"]);
    let varying = ["workflow_id", "started_at", "ended_at", "duration_ns"];
    assert_eq!(
        without(rows[0].clone(), &varying),
        json!({"name": "nightly", "campaign_id": null, "status": "ERROR", "tasks": 11, "errors": 3})
    );
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert!(varying.iter().all(|name| !rows[0][name].is_null()));
}

#[test]
fn show_has_a_workflow_or_a_task() {
    let workflow = parsed(&["show", "nightly", "--json"]);
    assert_eq!(
        keys(&workflow),
        ["workflow", "tasks", "activities", "calls", "failures", "slowest", "resources", "nested"]
    );
    assert_eq!(
        workflow["tasks"],
        json!([{"status": "FINISHED", "tasks": 8}, {"status": "ERROR", "tasks": 3}])
    );
    assert_eq!(
        without(workflow["calls"][2].clone(), &["total_ns", "max_ns", "task_id"]),
        json!({"depth": 1, "activity_id": "epoch", "calls": 3, "statuses": {"ERROR": 1, "FINISHED": 2}, "below": 0})
    );
    let failure = &workflow["failures"][0];
    assert_eq!(
        without(failure.clone(), &["task_id"]),
        json!({
            "activity_id": "batch",
            "error_kind": "err",
            "message": "loss is not a number\nat batch 2",
            "tasks": 1,
            "path": ["train", "epoch"],
        })
    );
    let task = parsed(&["show", failure["task_id"].as_str().unwrap(), "--json"]);
    assert_eq!(keys(&task), ["task", "ancestors", "descendants", "derived_from", "derived_into"]);
    assert_eq!(task["task"]["used"], json!({"note": "a\tb\n\u{1b}[31mc"}));
    assert_eq!(task["ancestors"][1]["activity_id"], "train");
}

#[test]
fn recover_says_what_it_did() {
    assert_eq!(
        parsed(&["recover", "--json"]),
        json!({"journals": 0, "records": 0, "left_alone": 0, "warnings": []})
    );
}

#[test]
fn the_doctor_has_checks_and_counters() {
    let report = parsed(&["doctor", "--json"]);
    assert_eq!(keys(&report), ["ok", "checks", "recorders"]);
    assert_eq!(report["ok"], true);
    assert_eq!(
        report["checks"][2],
        json!({"name": "schema", "state": "ok", "detail": format!("version {}", telemetry_store::SCHEMA_VERSION), "remedy": null})
    );
    let recorder = &report["recorders"][0];
    assert_eq!((&recorder["offered"], &recorder["persisted"]), (&json!(41), &json!(41)));
    assert_eq!(recorder["law_holds"], true);
}
