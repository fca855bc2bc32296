//! What the views say about a few tasks.

use telemetry_core::record::{TaskEnd, TaskStart};
use telemetry_core::status::ErrorKind;

use crate::harness::*;

fn check(records: &[Framed], sql: &str, expected: &[&str]) {
    let (_folder, _store, reader) = store_with(records);
    assert_eq!(lines(&reader, sql), expected, "{sql}");
}

#[test]
fn start_and_end_are_one_row() {
    let used = items(|encoder| {
        encoder.used(0, |value| value.int(1));
        encoder.used(1, |value| value.float(2.5));
        encoder.used(2, |value| value.text("it's \"so\""));
        encoder.used(9, |value| value.serialize(&()));
    });
    let generated = items(|encoder| encoder.result(|value| value.int(42)));
    let records = [start(started(1, 2_000_000_000), &used), end(ended(1, 3_500_000_000), &generated)];
    let sql = "select workflow_id, root_task_id = task_id, depth, activity_id, status, started_at, ended_at,
        duration_ns, used, generated, hostname, pid, thread, level from tasks";
    check(
        &records,
        sql,
        &["01980000-0000-7000-8000-000000000001 | 1 | 0 | step_1 | FINISHED | 2.0 | 3.5 | 1500000000 | \
            {\"a\":1,\"b\":2.5,\"c\":\"it's \\\"so\\\"\",\"arg_9\":null} | {\"result\":42} | node1 | 4242 | main | full"],
    );
}

#[test]
fn updates_are_merged_by_key_and_the_end_has_the_last_word() {
    let used = items(|encoder| encoder.used(0, |value| value.float(0.1 + 0.2)));
    let first = items(|encoder| {
        encoder.used_named("late", |value| value.serialize(&()));
        encoder.generated_named("loss", |value| value.float(0.5));
        encoder.generated_named("kept", |value| value.int(3));
    });
    let second = items(|encoder| encoder.generated_named("loss", |value| value.float(0.25)));
    let last = items(|encoder| encoder.generated_named("loss", |value| value.boolean(true)));
    let records =
        [update(1, 1, &second), start(started(1, 1), &used), update(1, 0, &first), end(ended(1, 2), &last)];
    let whole = ["{\"a\":0.30000000000000004,\"late\":null} | {\"kept\":3,\"loss\":true}"];
    check(&records, "select used, generated from tasks", &whole);
    let open = ["{\"a\":0.30000000000000004,\"late\":null} | {\"kept\":3,\"loss\":0.25}"];
    check(&records[..3], "select used, generated from tasks", &open);
}

#[test]
fn a_map_that_is_returned_gives_the_keys_of_generated() {
    let result = items(|encoder| {
        encoder.generated_named("z", |value| value.int(1));
        encoder
            .result(|value| value.serialize(&std::collections::BTreeMap::from([("loss", 0.5), ("z", 2.0)])));
    });
    let long: Vec<(String, u8)> = (0..2000).map(|number| (format!("{number:04}"), 1)).collect();
    let long: std::collections::BTreeMap<_, _> = long.into_iter().collect();
    let cut = items(|encoder| encoder.result(|value| value.serialize(&long)));
    let records = [end(ended(1, 2), &result), end(ended(2, 2), &cut)];
    let sql = "select generated from tasks where task_id like '%1'";
    check(&records, sql, &["{\"loss\":0.5,\"z\":2.0}"]);
    let sql = "select generated ->> '$.0001', json_type(generated, '$.\"$cut\".items') is not null
        from tasks where task_id like '%2'";
    check(&records, sql, &["1 | 1"]);
}

#[test]
fn errors_and_interruptions_are_told_apart() {
    let records = [
        workflow_start(1, 1, &[]),
        start(started(1, 10), &[]),
        failed(1, 20, ErrorKind::Panic, "out of cheese"),
        start(started(2, 30), &[]),
        start(TaskStart { workflow: Some(workflow_id(2)), ..started(3, 40) }, &[]),
        end(ended(3, 50), &[]),
    ];
    let sql = "select status, error_kind, stderr, duration_ns from tasks order by task_id";
    let expected =
        ["ERROR | panic | out of cheese | 10", "RUNNING | null | null | null", "FINISHED | null | null | 10"];
    check(&records, sql, &expected);
    let (_folder, mut store, reader) = store_with(&records);
    store.interrupt(Journal::default().id, 100).unwrap();
    let expected = [
        "ERROR | panic | out of cheese | 10",
        "INTERRUPTED | null | null | 70",
        "FINISHED | null | null | 10",
    ];
    assert_eq!(lines(&reader, sql), expected);
    let sql = "select status, duration_ns, user from workflows order by workflow_id";
    assert_eq!(lines(&reader, sql), ["INTERRUPTED | 99 | ada", "UNKNOWN | null | null"]);
    // An END that turns up later knows better.
    store.apply(&Journal::default(), &batch_of(&[end(ended(2, 60), &[])])).unwrap();
    assert_eq!(
        lines(&reader, "select status, duration_ns from tasks where task_id like '%2'"),
        ["FINISHED | 30"]
    );
}

#[test]
fn activities_count_and_sort_durations() {
    let mut records = Vec::new();
    for number in 0..1000 {
        let ticks = 1_000_000 + number * 1000;
        records.push(start(started(number, ticks), &[]));
        records.push(end(ended(number, ticks + 1000 * (number + 1)), &[]));
    }
    records.push(start(TaskStart { activity: 3, ..started(2000, 5) }, &[]));
    records.push(failed(2001, 9, ErrorKind::Err, "no"));
    let (_folder, _store, reader) = store_with(&records);
    let rows = reader.activities(&workflow_id(1).to_string()).unwrap();
    let first = &rows[0];
    assert_eq!(
        (rows.len(), first.calls, first.errors, first.min_ns, first.max_ns),
        (2, 1000, 0, Some(1000), Some(1_000_000))
    );
    assert_eq!((first.total_ns, first.mean_ns), (Some(500_500_000), Some(500_500.0)));
    let within = |value: Option<i64>, exact: i64| (value.unwrap() - exact).abs() * 20 <= exact;
    assert!(within(first.p50_ns, 500_000) && within(first.p95_ns, 950_000), "{first:?}");
    assert_eq!((rows[1].calls, rows[1].p50_ns), (1, None));
    assert_eq!(lines(&reader, "select calls, errors from activities where workflow_id is null"), ["1 | 1"]);
}

#[test]
fn peaks_are_those_of_all_readings_between_the_ends() {
    let reading = |rss: u64, used: u64| serde_json::json!({"process": {"memory": {"rss": rss}}, "gpu": {"gpu_0": {"used": used}, "gpu_1": {"used": 1}}});
    let readings = [(900, 90), (100, 20), (700, 10), (200, 30), (800, 80)];
    let mut records: Vec<_> = (1..)
        .zip(readings)
        .map(|(number, (rss, used))| snapshot(number, u64::from(number), &reading(rss, used)))
        .collect();
    // From the second to the fourth, one reading for both ends, and a start without any.
    let mut task = |number, first: Option<u32>, last| {
        records.push(start(TaskStart { snapshot: first.map(snapshot_use), ..started(number, 10) }, &[]));
        records.push(end(TaskEnd { snapshot: Some(snapshot_use(last)), ..ended(number, 20) }, &[]));
    };
    task(1, Some(2), 4);
    task(2, Some(5), 5);
    task(3, None, 4);
    check(
        &records,
        "select process_rss_start_bytes, process_rss_end_bytes, process_rss_peak_bytes from task_telemetry",
        &["100 | 200 | 700", "800 | 800 | 800", "null | 200 | null"],
    );
    check(
        &records,
        "select used_start_bytes, used_end_bytes, used_peak_bytes from task_gpus where gpu = 0",
        &["20 | 30 | 30", "80 | 80 | 80", "null | 30 | 30"],
    );
    let planned = "explain query plan select process_rss_peak_bytes from task_telemetry where task_id = 'x'";
    let (_folder, store, _reader) = store_with(&records);
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    let mut statement = connection.prepare(planned).unwrap();
    let steps: Vec<String> = statement.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
    let range = "SEARCH n USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
    assert!(steps.iter().any(|step| step == range), "{steps:#?}");
}

#[test]
fn a_machine_shows_what_its_latest_recorder_saw() {
    let (_folder, _store, reader) = store_with(&[start(started(1, 1), &[])]);
    let sql = "select hostname, cpu, environment from machines";
    assert_eq!(lines(&reader, sql), ["node1 | {\"count\":2} | {\"LANG\":\"C\"}"]);
}

#[test]
fn snapshots_are_one_row_for_many_tasks() {
    let reading = |user: f64, read: u64| {
        serde_json::json!({
            "process": {"cpu_times": {"user": user, "system": 1.0}, "memory": {"rss": 100}, "io_counters": {"read_bytes": read}},
            "cpu": {"percent_all": 5.0, "times_avg": {"user": user, "idle": 10.0 + user}},
            "gpu": {"gpu_0": {"used": 7, "power": 3, "temperature": 50}},
        })
    };
    let mut records = vec![snapshot(1, 1, &reading(1.0, 500)), snapshot(2, 2, &reading(3.0, 400))];
    for number in 1..=2 {
        records.push(start(TaskStart { snapshot: Some(snapshot_use(1)), ..started(number, 10) }, &[]));
        let end_snapshot = Some(snapshot_use(if number == 1 { 1 } else { 2 }));
        records.push(end(TaskEnd { snapshot: end_snapshot, ..ended(number, 20) }, &[]));
    }
    let sql = "select process_cpu_s, process_rss_start_bytes, process_read_bytes, machine_cpu_percent
        from task_telemetry order by task_id";
    check(&records, sql, &["null | 100 | null | null", "2.0 | 100 | null | 50.0"]);
    check(&records, "select count(*), sum(cpu_percent) from snapshots", &["2 | 10.0"]);
    check(
        &records,
        "select gpu, used_start_bytes, used_end_bytes, power, temperature from task_gpus limit 1",
        &["0 | 7 | 7 | 3 | 50"],
    );
    let sql = "select telemetry_at_start ->> '$.process.memory.rss', snapshot_age_end_ms from tasks";
    check(&records, sql, &["100 | 7", "100 | 7"]);
}

#[test]
fn machines_are_kept_once() {
    let sql = "select m.hostname, m.cpu, w.cmd_line from workflows w join machines m using (machine_id)";
    check(&[workflow_start(1, 1, &[])], sql, &["node1 | {\"count\":2} | [\"demo\",\"--fast\"]"]);
}

#[test]
fn names_may_be_odd_even_where_updates_are_merged() {
    let used = items(|encoder| {
        for name in ["", "a\"b", "c\\d", "e.f[0]", "ü", "$g"] {
            encoder.used_named(name, |value| value.text(name));
        }
    });
    let more = items(|encoder| encoder.used_named("a\"b", |value| value.boolean(false)));
    let records = [start(started(1, 1), &used), update(1, 0, &more)];
    let expected = r#"{"":"","c\\d":"c\\d","e.f[0]":"e.f[0]","ü":"ü","$$g":"$g","a\"b":false}"#;
    check(&records, "select used from tasks", &[expected]);
    check_in_the_systems_own_client(&records, "select used from tasks", expected);
}

fn check_in_the_systems_own_client(records: &[Framed], sql: &str, expected: &str) {
    let (_folder, store, _reader) = store_with(records);
    let output = std::process::Command::new("sqlite3").arg("-readonly").arg(store.path()).arg(sql).output();
    if let Ok(output) = output {
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected, "{output:?}");
    }
}
