//! A trace of ten thousand tasks, as Perfetto's trace processor reads it.
//!
//! The variable `TELEMETRY_TEST_PERFETTO` names the folder with its WebAssembly build; `cargo xtask test` gets it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use telemetry::{Settings, Task, Workflow, event};

use crate::fixture::command;

const PERFETTO: &str = "TELEMETRY_TEST_PERFETTO";
/// Roots, what each calls, and what that calls: more than ten thousand in all.
const ROOTS: usize = 100;
const BRANCHES: usize = 10;
const LEAVES: usize = 10;
const THREADS: usize = 10;

/// Not a test of its own: the process that records.
#[test]
fn records_ten_thousand_tasks() {
    if !Path::new("ten-thousand").exists() {
        return;
    }
    let mut settings = Settings::default();
    settings.store.path = ".telemetry/provenance.db".into();
    settings.telemetry_capture.max_age_ms = 10;
    let recorder = telemetry::Recorder::start(settings).unwrap();
    let workflow = Workflow::start("ten thousand");
    for root in 0..ROOTS {
        nest(root);
    }
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let context = workflow.context();
            let work = move || context.run(|| (0..10).for_each(|_| Task::start("elsewhere").end()));
            std::thread::Builder::new().name(format!("worker {number}")).spawn_scoped(scope, work).unwrap();
        }
    });
    overlap();
    measure();
    workflow.end();
    assert_eq!(recorder.stop(Duration::from_secs(30)).remaining, 0);
}

fn nest(root: usize) {
    let made = format!("a value that is long enough to be known again by its fingerprint, number {root}");
    let task = Task::start("root").generated("made", &made);
    task.run(|| {
        for _ in 0..BRANCHES {
            let branch = Task::start("branch");
            branch
                .run(|| (0..LEAVES - 1).for_each(|number| Task::start("leaf").used("number", number).end()));
            branch.end();
        }
    });
    task.end();
    Task::start("user").used("value", &made).end();
}

/// Tasks of one thread that do not nest, as futures do.
fn overlap() {
    let first = Task::start("overlapping");
    let second = Task::start("overlapping");
    first.end();
    let third = Task::start("overlapping");
    second.end();
    third.fail("on purpose");
}

/// Sums, a level, and single values.
fn measure() {
    for number in 1..=4 {
        event!(TRANSFER, "tx_bytes", number, unit = "B", peer = "a");
        event!(MEMORY, "used_bytes", 10 * number, kind = gauge, unit = "B");
        event!(PERFORMANCE, "latency", number, kind = histogram, unit = "s");
    }
}

fn number(rows: &Value) -> i64 {
    rows[0]["n"].as_i64().unwrap_or_else(|| panic!("{rows}"))
}

#[test]
fn a_trace_of_ten_thousand_tasks_is_what_was_recorded() {
    #[expect(clippy::disallowed_methods, reason = "a test's own variable")]
    let Some(perfetto) = std::env::var_os(PERFETTO) else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ten-thousand"), "").unwrap();
    let recorded = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "perfetto::records_ten_thousand_tasks"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{recorded:?}");
    let run = |arguments: &[&str]| {
        let output = command(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    run(&["export", "chrome-trace", "-o", "trace.json"]);
    let ask = |query: &str| -> Value { serde_json::from_slice(&run(&["sql", query, "--json"])).unwrap() };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/perfetto/query.mjs");
    let output = Command::new("node")
        .arg(script)
        .arg(perfetto)
        .arg(folder.path().join("trace.json"))
        .args([
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
            "select count(*) as n from slice where category = 'task'",
            // A slice by its id, so that each can be compared with its task.
            "select extract_arg(arg_set_id, 'args.task_id') as task_id, name, ts, dur, depth from slice
                where category = 'task' order by 1",
            "select count(distinct track_id) as n from slice where category = 'task'",
            "select t.name, count(*) as n from counter c join process_counter_track t on t.id = c.track_id group by 1 order by 1",
            "select count(*) as n from flow",
            "select count(*) as n from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
                where a.name = 'root' and b.name = 'user'",
            "select t.name, group_concat(cast(c.value as int)) as n from counter c
                join process_counter_track t on t.id = c.track_id where t.name like '%bytes%B' group by 1 order by 1",
            "select group_concat(cast(extract_arg(arg_set_id, 'args.value') as int)) as n from slice
                where category = 'event' and name = 'latency' order by ts",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers[0], Value::Array(Vec::new()), "no errors, nothing lost");

    let tasks = ask(
        "select t.task_id, a.activity_id as name, t.started_ns - (select min(started_ns) from task) as ts,
        t.ended_ns - t.started_ns as dur, t.depth
        from task t join activity a on a.key = t.activity order by 1",
    );
    assert_eq!(tasks.as_array().unwrap().len() as i64, number(&answers[1]));
    assert!(number(&answers[1]) >= 10_000, "{}", answers[1]);
    for (slice, task) in answers[2].as_array().unwrap().iter().zip(tasks.as_array().unwrap()) {
        assert_eq!(slice, task);
    }
    // The main thread, one more for what overlaps there, and the others.
    assert_eq!(number(&answers[3]) as usize, 1 + 1 + THREADS);
    let snapshots = ask(
        "select count(*) as n, count(cpu_percent) as cpu, count(process_rss_bytes) as rss from snapshots",
    );
    let curve = |name: &str| {
        answers[4].as_array().unwrap().iter().find(|row| row["name"] == name).map(|row| row["n"].clone())
    };
    assert_eq!(curve("machine cpu %"), Some(snapshots[0]["cpu"].clone()), "{}", answers[4]);
    assert_eq!(curve("process memory bytes"), Some(snapshots[0]["rss"].clone()), "{}", answers[4]);
    assert_eq!((number(&answers[5]), number(&answers[6])), (ROOTS as i64, ROOTS as i64));
    let counters = json!([{"name": "tx_bytes {\"peer\":\"a\"} B", "n": "1,3,6,10"}, {"name": "used_bytes B", "n": "10,20,30,40"}]);
    assert_eq!((&answers[7], &answers[8]), (&counters, &json!([{"n": "1,2,3,4"}])));
}
