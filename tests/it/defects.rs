//! The defects of Flowcept that REFERENCE.md lists under G, each as the test that it would fail.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::bodies::MANY;
use crate::programs::{Place, succeed};

/// 1: nested tasks have no parent.
#[test]
fn defect_01_nested_tasks_know_their_parents() {
    let place = Place::new();
    place.run("families");
    let families = place.table(
        "select c.activity_id, p.activity_id, g.activity_id, c.depth, count(*) from tasks c
        left join tasks p on p.task_id = c.parent_task_id
        left join tasks g on g.task_id = p.parent_task_id
        group by 1, 2, 3, 4 order by 4, 1, 2, 3",
    );
    let expected = "
async_parent|null|null|0|2
parent|null|null|0|1
spawner|null|null|0|1
async_child|async_parent|null|1|2
child|parent|null|1|1
child|spawner|null|1|1
double|async_child|async_parent|2|2
double|child|parent|2|1
double|child|spawner|2|1
";
    assert_eq!(families.trim(), expected.trim());
    // Interleaved futures do not share a child.
    let shared =
        "select parent_task_id from tasks where activity_id = 'async_child' group by 1 having count(*) > 1";
    assert_eq!(place.table(shared), "");
}

/// 2: ids that come twice across processes. `cargo xtask torture ids` does this with 200,000 tasks a
/// process.
#[test]
fn defect_02_no_id_comes_twice_across_processes() {
    let place = Place::new();
    let start = |_| {
        let mut program = place.program("many");
        program.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "lightweight");
        program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
    };
    let programs: Vec<_> = (0..8).map(start).collect();
    for program in programs {
        succeed(program.and_then(std::process::Child::wait_with_output));
    }
    place.recover();
    let counts = place.table("select count(*), count(distinct task_id), sum(status = 'FINISHED') from tasks");
    let expected = 8 * 2 * MANY;
    assert_eq!(counts.trim(), format!("{expected}|{expected}|{expected}"));
}

/// 3: a kill, or an exit without a stop, loses every record; a task in flight leaves no trace.
#[test]
fn defect_03_a_kill_loses_nothing_and_shows_what_was_in_flight() {
    let place = Place::new();
    place.start("one_is_open").kill();
    place.recover();
    let statuses = place.table("select activity_id, status, count(*) from tasks group by 1, 2");
    assert_eq!(statuses, "double|FINISHED|1000\nin_flight|INTERRUPTED|1\n");
    assert_eq!(place.table("select name, status from workflows"), "one_is_open|INTERRUPTED\n");
}

/// 3: the same for an exit that nobody announced.
#[test]
fn defect_03_an_exit_without_a_stop_loses_nothing() {
    let place = Place::new();
    place.start("one_is_open").end();
    let statuses = place.table("select activity_id, status, count(*) from tasks group by 1, 2");
    assert_eq!(statuses, "double|FINISHED|1000\nin_flight|FINISHED|1\n");
}

/// 4: errors recorded as success.
#[test]
fn defect_04_errors_are_no_success() {
    let place = Place::new();
    place.run("failures");
    assert_eq!(place.table("select activity_id, status, error_kind from tasks"), "by hand|ERROR|panic\n");
    let workflows = place.table("select name, status from workflows order by started_at");
    assert_eq!(workflows, "panics|ERROR\nerrs|ERROR\n");
}

/// 7: `process.cpu_percent` is always 0.0; what a parent's children burn is the parent's.
#[test]
fn defect_07_processor_use_is_seen_and_is_the_parents_too() {
    let place = Place::new();
    let mut program = place.program("busy");
    succeed(program.env("TELEMETRY_TELEMETRY_CAPTURE__MAX_AGE_MS", "0").output());
    let rows = place.rows(
        "select t.activity_id, t.telemetry_at_end ->> '$.process.cpu_percent' as percent, d.process_cpu_s as seconds
        from tasks t join task_telemetry d using (task_id) order by t.depth",
    );
    let number = |row: usize, name: &str| rows[row][name].as_f64().unwrap_or(0.0);
    assert_eq!(
        (&rows[0]["activity_id"], &rows[1]["activity_id"]),
        (&json!("burning_parent"), &json!("burn"))
    );
    assert!(number(1, "percent") > 0.0, "{rows}");
    assert!(number(1, "seconds") > 0.0 && number(0, "seconds") >= number(1, "seconds"), "{rows}");
}

/// 8: positional arguments are lost, objects become addresses, errors their first line.
#[test]
fn defect_08_arguments_objects_and_errors_are_kept() {
    let place = Place::new();
    place.run("values");
    let rows =
        place.rows("select used, generated, status, error_kind, stderr from tasks order by started_at");
    let parsed = |row: usize, name: &str| -> Value {
        rows[row][name].as_str().map_or(Value::Null, |text| serde_json::from_str(text).expect("JSON"))
    };
    let points = json!({"from": {"x": 1.0, "label": "from"}, "to": {"x": 4.0, "label": "to"}, "scale": 2.0});
    assert_eq!(parsed(0, "used"), points);
    assert_eq!(parsed(0, "generated"), json!({"distance": 6.0}));
    assert_eq!((&rows[1]["status"], &rows[1]["error_kind"]), (&json!("ERROR"), &json!("err")));
    assert_eq!(rows[1]["stderr"], "from and to have no scale");
}

/// 10: no store without a broker; the first part of a task is lost when the rest comes later.
#[test]
fn defect_10_a_task_in_two_batches_keeps_both_parts() {
    let place = Place::new();
    let program = place.start("slow_batches");
    let query = "select status, used, generated from tasks";
    assert_eq!(place.table(query), "RUNNING|{\"path\":\"input.csv\"}|null\n");
    program.end();
    assert_eq!(place.table(query), "FINISHED|{\"path\":\"input.csv\"}|{\"rows\":3}\n");
}

/// 11: a write that fails drops its batch.
#[test]
fn defect_11_a_database_that_is_locked_loses_nothing() {
    let place = Place::new();
    place.run("small_run");
    let mut locker = Command::new("sqlite3");
    locker.arg(place.database()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut locker = locker.spawn().expect("sqlite3 starts");
    let mut input = locker.stdin.take().expect("a pipe");
    writeln!(input, "begin immediate;\nselect 'locked';").expect("sqlite3 listens");
    let mut answer = String::new();
    BufReader::new(locker.stdout.take().expect("a pipe")).read_line(&mut answer).expect("sqlite3 answers");
    assert_eq!(answer, "locked\n");
    // It cannot write for the whole of its life, and ends in time all the same.
    let output = place.program("one_burst").output().expect("the program runs");
    assert!(output.status.success());
    writeln!(input, "rollback;\n.quit").expect("sqlite3 listens");
    assert!(locker.wait().expect("sqlite3 ends").success());
    let before = "select count(*) from tasks where activity_id = 'double'";
    place.recover();
    assert_eq!(place.table(before), "1002\n");
}

/// 20: with every toggle false, two empty telemetry values are attached and paid for.
#[test]
fn defect_20_no_toggle_means_no_telemetry() {
    let place = Place::new();
    let mut program = place.program("families");
    for toggle in ["CPU", "PER_CPU", "PROCESS_INFO", "MEM", "DISK", "NETWORK", "MACHINE_INFO"] {
        program.env(format!("TELEMETRY_TELEMETRY_CAPTURE__{toggle}"), "false");
    }
    succeed(program.output());
    let attached = "select count(*), count(telemetry_at_start), count(telemetry_at_end),
        (select count(*) from snapshots) from tasks";
    assert_eq!(place.table(attached), "12|0|0|0\n");
}

/// 21: no SQL, no joins, one field to group by, a limit of 1,000 rows, and edges that are guesses.
#[test]
fn defect_21_sql_joins_groups_and_edges_with_evidence() {
    let place = Place::new();
    place.run("lineage");
    let grouped = place.table(
        "select t.activity_id, t.used ->> 'round', count(*) from tasks t join workflows w using (workflow_id)
        where w.name = 'lineage' and t.used ->> 'round' is not null group by 1, 2 order by 1, 2",
    );
    assert_eq!(grouped, "even|0|250\neven|1|250\neven|2|250\nodd|0|250\nodd|1|250\nodd|2|250\n");
    assert_eq!(place.table("select task_id from tasks").lines().count(), 1_503);
    let edges = place.table(
        "select t.activity_id, s.activity_id, d.evidence from derivations d
        join tasks t using (task_id) join tasks s on s.task_id = d.source_task_id",
    );
    assert_eq!(edges, "declared|makes|declared\n");
}
