//! Critical tags: by the thresholds of the recorder, beside the user's own, and only where there is a number.

use serde_json::{Value, json};
use telemetry_core::encoder::ValueEncoder;
use telemetry_core::record::{Field, TaskEnd, TaskStart};
use telemetry_store::Reader;

use crate::harness::*;

/// Flowcept's own thresholds.
fn thresholds() -> Value {
    json!({"high_cpu": 80, "high_mem": 1e9, "high_disk": 1e8, "long_duration": 0.8, "low_output": 0.1,
        "high_output": 0.9})
}

fn reading(idle: f64, used: i64, read: i64, written: i64) -> Value {
    json!({
        "cpu": {"times_avg": {"user": 100.0 - idle, "idle": idle}},
        "memory": {"virtual": {"used": used}},
        "disk": {"io_sum": {"read_bytes": read, "write_bytes": written}},
    })
}

/// The tags of the tasks, in the order of their starts.
fn tags(critical_tags: &Value, records: &[Framed]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let settings = json!({"capture": {"critical_tags": critical_tags}});
    open(&path).apply(&Journal { settings, ..Journal::default() }, &batch_of(records)).unwrap();
    lines(&Reader::open(&path).unwrap(), "select tags from tasks order by started_at")
}

/// A task with a tag of its own that returns a value.
fn returning(number: u64, write: impl FnOnce(&mut ValueEncoder<'_>)) -> [Framed; 2] {
    let own = items(|encoder| encoder.text(Field::Tag, "own"));
    let result = items(|encoder| encoder.result(write));
    [start(started(number, 10 + number), &own), end(ended(number, 20 + number), &result)]
}

#[test]
fn long_tasks_and_busy_machines_are_tagged_beside_the_users_own() {
    let snapshots = [
        snapshot(1, 1, &reading(50.0, 1_000_000_000, 0, 0)),
        snapshot(2, 2, &reading(51.0, 2_500_000_000, 60_000_000, 50_000_000)),
    ];
    let own = items(|encoder| encoder.text(Field::Tag, "high_cpu"));
    let begun = |number: u64| TaskStart { snapshot: Some(snapshot_use(1)), ..started(number, number) };
    let done = |number: u64, ticks: u64, last: u32| {
        end(TaskEnd { snapshot: Some(snapshot_use(last)), ..ended(number, ticks) }, &[])
    };
    let records = [
        &snapshots[..],
        // 800 ms are not longer than 0.8 s; the counters did not move between one snapshot and itself.
        &[start(begun(1), &[]), done(1, 800_000_001, 1)],
        &[start(begun(2), &own), done(2, 800_000_003, 2)],
        &[start(begun(3), &[])],
    ]
    .concat();
    // Between the two snapshots, of 0 s of processor time one was idle: no share can be told.
    let all = r#"["high_cpu","high_mem","high_disk","long_duration"]"#;
    assert_eq!(tags(&thresholds(), &records), ["null", all, "null"]);
    assert_eq!(tags(&json!({}), &records), ["null", r#"["high_cpu"]"#, "null"]);
    assert_eq!(tags(&json!({"high_mem": 2e9}), &records), ["null", r#"["high_cpu"]"#, "null"]);
}

#[test]
fn a_busy_processor_is_its_share_of_all_processor_time_meanwhile() {
    let busy = |idle_end: f64, all_end: f64| {
        let last = json!({"cpu": {"times_avg": {"user": all_end - idle_end, "idle": idle_end}}});
        let records = [
            snapshot(1, 1, &json!({"cpu": {"times_avg": {"user": 10.0, "idle": 10.0}}})),
            snapshot(2, 2, &last),
            start(TaskStart { snapshot: Some(snapshot_use(1)), ..started(1, 1) }, &[]),
            end(TaskEnd { snapshot: Some(snapshot_use(2)), ..ended(1, 5) }, &[]),
        ];
        tags(&json!({"high_cpu": 80}), &records)
    };
    assert_eq!(busy(11.0, 30.0), [r#"["high_cpu"]"#], "90 per cent");
    assert_eq!(busy(12.0, 30.0), ["null"], "80 per cent are not more than 80");
}

#[test]
fn outputs_are_compared_only_where_they_are_numbers() {
    let records = [
        returning(1, |value| value.float(0.05)),
        returning(2, |value| value.int(2)),
        returning(3, |value| value.float(0.5)),
        returning(4, |value| value.text("0.95")),
        returning(5, |value| value.serialize(&[0.95])),
        returning(6, |value| value.float(f64::NAN)),
        returning(7, |value| value.boolean(true)),
        returning(8, |value| value.serialize(&std::collections::BTreeMap::from([("result", 0.99)]))),
        returning(9, |value| value.serialize(&std::collections::BTreeMap::from([("loss", 0.01)]))),
    ]
    .concat();
    let own = r#"["own"]"#;
    let (low, high) = (r#"["own","low_output"]"#, r#"["own","high_output"]"#);
    assert_eq!(tags(&thresholds(), &records), [low, high, own, own, own, own, own, high, own]);
}

#[test]
fn a_task_without_output_has_no_output_tag_and_an_update_counts_until_the_end() {
    let of =
        |number: u64| items(|encoder| encoder.generated_named("result", |value| value.int(number as i64)));
    let records = [
        start(started(1, 1), &[]),
        end(ended(1, 2), &[]),
        start(started(2, 3), &[]),
        update(2, 0, &of(0)),
        update(2, 1, &of(7)),
        start(started(3, 5), &[]),
        update(3, 0, &of(7)),
        end(ended(3, 6), &items(|encoder| encoder.result(|value| value.int(0)))),
    ];
    assert_eq!(tags(&thresholds(), &records), ["null", r#"["high_output"]"#, r#"["low_output"]"#]);
}
