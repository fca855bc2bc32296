//! Every command on a database that was recorded once, in a pipe and on a terminal, against numbers that a Python script
//! computes from the base tables.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use telemetry_store::{Store, StoreOptions};

use crate::fixture::command;
use crate::terminal::{Seen, at_terminal};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// Unpacks a fixture.
pub(crate) fn unpack(name: &str, target: &Path) {
    let output = Command::new("gzip").arg("-dc").arg(fixtures().join(name)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::write(target, output.stdout).unwrap();
    fs::set_permissions(target, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(target.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
}

/// A folder with a copy of the golden database where the program looks for one.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    unpack_current(&database(folder.path()));
    folder
}

/// The golden database as a program of this version has it.
fn unpack_current(database: &Path) {
    unpack("golden-3.db.gz", database);
    drop(Store::open(database, StoreOptions::default()).unwrap());
}

fn database(folder: &Path) -> PathBuf {
    folder.join(".telemetry/provenance.db")
}

/// One that nobody changes.
fn golden() -> &'static Path {
    static GOLDEN: OnceLock<PathBuf> = OnceLock::new();
    GOLDEN.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
        let _ = fs::remove_dir_all(&folder);
        unpack_current(&database(&folder));
        folder
    })
}

fn numbers() -> &'static Value {
    static NUMBERS: OnceLock<Value> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let script = fixtures().join("numbers.py");
        let output = Command::new("python3").arg(script).arg(database(golden())).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    })
}

fn workflow(name: &str) -> &'static Value {
    numbers()["workflows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(arguments).current_dir(folder).output().unwrap()
}

/// What goes through a pipe.
fn piped(arguments: &[&str]) -> String {
    let output = run(golden(), arguments);
    assert!(output.status.success(), "{arguments:?} {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn parsed(arguments: &[&str]) -> Value {
    serde_json::from_str(&piped(arguments)).unwrap()
}

fn seen(arguments: &[&str]) -> String {
    let Seen { text, code } = at_terminal(golden(), arguments, &[]);
    assert_eq!(code, Some(0), "{text}");
    text
}

#[test]
fn ls() {
    let rows = parsed(&["ls", "--json"]);
    let expected = numbers()["workflows"].as_array().unwrap();
    assert_eq!(rows.as_array().unwrap().len(), expected.len());
    for (row, expected) in rows.as_array().unwrap().iter().zip(expected) {
        for name in ["workflow_id", "name", "status", "duration_ns", "tasks", "errors"] {
            assert_eq!(row[name], expected[name], "{name}");
        }
    }
    let screen = seen(&["ls"]);
    let line = screen.lines().find(|line| line.contains("nightly")).unwrap();
    let nightly = workflow("nightly");
    assert!(line.contains("ERROR") && line.ends_with(&format!("{}", nightly["errors"])), "{line}");
    assert!(line.contains(&nightly["tasks"].to_string()), "{line}");
}

#[test]
fn ls_filters_and_sorts() {
    let names = |arguments: &[&str]| -> Vec<String> {
        let rows = parsed(&[&["ls", "--json"], arguments].concat());
        rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--name", "p*"]), ["pipeline", "plain"]);
    assert_eq!(names(&["--name", "p?ain"]), Vec::<String>::new());
    assert_eq!(names(&["--sort", "tasks"]), ["nightly", "pipeline", "plain"]);
    assert_eq!(names(&["--sort", "name", "--reverse"]), ["plain", "pipeline", "nightly"]);
    assert_eq!(names(&["--reverse", "--limit", "1"]), ["plain"]);
    assert_eq!(names(&["--since", "1s"]), Vec::<String>::new());
    assert_eq!(names(&["--since", "10000w"]).len(), 3);
    assert_eq!(names(&["--status", "error"]), ["nightly"]);
}

#[test]
fn show_a_workflow() {
    for expected in numbers()["workflows"].as_array().unwrap() {
        let shown = parsed(&["show", expected["workflow_id"].as_str().unwrap(), "--json", "--depth", "0"]);
        let statuses: BTreeMap<&str, &Value> = shown["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["status"].as_str().unwrap(), &row["tasks"]))
            .collect();
        assert_eq!(json!(statuses), expected["statuses"]);
        let activities: BTreeMap<&str, Value> = shown["activities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let figures = json!([row["calls"], row["total_ns"], row["min_ns"], row["max_ns"]]);
                (row["activity_id"].as_str().unwrap(), figures)
            })
            .collect();
        assert_eq!(json!(activities), expected["activities"]);
        let slowest: Vec<&Value> =
            shown["slowest"].as_array().unwrap().iter().map(|row| &row["task_id"]).collect();
        assert_eq!(json!(slowest), expected["slowest"]);
        let failures: Vec<Value> = shown["failures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| json!([row["activity_id"], row["message"], row["path"]]))
            .collect();
        assert_eq!(json!(failures), expected["failures"]);
        assert_eq!(shown["resources"]["snapshots"], expected["snapshots"]);
    }
    let screen = seen(&["show", "nightly"]);
    for part in
        ["nightly  ERROR", "Activities", "Calls", "epoch ×5", "batch ×40", "Slowest", "Resources", "Failures"]
    {
        assert!(screen.contains(part), "{part} in {screen}");
    }
}

#[test]
fn show_a_task() {
    let id = workflow("nightly")["slowest"][1].as_str().unwrap();
    let shown = parsed(&["show", id, "--json"]);
    assert_eq!(shown["task"]["activity_id"], "epoch");
    assert_eq!(shown["ancestors"][0]["activity_id"], "train");
    assert_eq!(shown["descendants"].as_array().unwrap().len(), 8);
    assert!(seen(&["show", id]).contains("Called by"));
    assert!(piped(&["show", id]).contains("Called by"));
}

fn lines(rows: &Value) -> Value {
    let line = |row: &Value| {
        let names = ["depth", "activity_id", "calls", "errors", "total_ns", "max_ns", "task_id"];
        json!(names.map(|name| row[name].clone()))
    };
    json!(rows.as_array().unwrap().iter().map(line).collect::<Vec<Value>>())
}

#[test]
fn tree() {
    for expected in numbers()["workflows"].as_array().unwrap() {
        let id = expected["workflow_id"].as_str().unwrap();
        assert_eq!(lines(&parsed(&["tree", id, "--json"])), expected["tree"]);
    }
    let nightly = workflow("nightly");
    let shallow = parsed(&["tree", "nightly", "--depth", "2", "--json"]);
    let expected: Vec<&Value> =
        nightly["tree"].as_array().unwrap().iter().filter(|line| line[0].as_i64() < Some(2)).collect();
    assert_eq!(lines(&shallow), json!(expected));
    assert_eq!(shallow[2]["below"], 40);
    let each = parsed(&["tree", "nightly", "--each", "--json"]);
    assert_eq!(each.as_array().unwrap().len() as u64, nightly["tasks"].as_u64().unwrap());
    let long = parsed(&["tree", "nightly", "--min-duration", "10ms", "--json"]);
    assert!(!long.as_array().unwrap().iter().any(|line| line["activity_id"] == "load"), "{long}");
    let screen = seen(&["tree", "nightly"]);
    assert!(screen.contains("train") && screen.contains("████████████████████"), "{screen}");
    assert_eq!(screen.lines().count(), nightly["tree"].as_array().unwrap().len());
    let below = parsed(&["tree", nightly["slowest"][1].as_str().unwrap(), "--json"]);
    assert_eq!((&below[0]["activity_id"], &below[1]["calls"]), (&json!("epoch"), &json!(8)));
    assert!(piped(&["tree"]).starts_with("depth\tactivity_id\tcalls\t"));
}

#[test]
fn lineage() {
    let row = |row: &Value| {
        json!([row["task_id"], row["name"], row["source_task_id"], row["source_name"], row["evidence"]])
    };
    let sorted = |rows: Vec<Value>| {
        let mut rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        rows.sort();
        rows.dedup();
        rows
    };
    let mut found = Vec::new();
    for name in ["plain", "nightly", "pipeline"] {
        found.extend(parsed(&["lineage", name, "--json"]).as_array().unwrap().iter().map(row));
    }
    assert_eq!(sorted(found), sorted(numbers()["derivations"].as_array().unwrap().clone()));

    // make → refine → publish and send.
    let tree = workflow("pipeline")["tree"].as_array().unwrap();
    let refine = tree.iter().find(|line| line[1] == "refine").unwrap()[6].as_str().unwrap();
    let both = parsed(&["lineage", refine, "--json"]);
    let steps: Vec<(i64, &str, &str)> = both
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap();
            (row["step"].as_i64().unwrap(), text("source_activity_id"), text("activity_id"))
        })
        .collect();
    assert_eq!(steps, [(-1, "make", "refine"), (1, "refine", "publish"), (1, "refine", "send")]);
    let screen = seen(&["lineage", refine]);
    assert!(
        screen.contains("Led to it") && screen.contains("Came of it") && screen.contains("content"),
        "{screen}"
    );
    let graph = piped(&["lineage", refine, "--dot"]);
    assert_eq!((graph.matches(" -> ").count(), graph.matches("style=bold").count()), (3, 1), "{graph}");
    assert_eq!(parsed(&["lineage", refine, "--back", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn sql_in_every_format() {
    let query =
        "select name, count(*) as tasks from tasks join workflows using (workflow_id) group by 1 order by 1";
    let tasks: Vec<i64> =
        ["nightly", "pipeline", "plain"].map(|name| workflow(name)["tasks"].as_i64().unwrap()).to_vec();
    assert_eq!(
        piped(&["sql", query]),
        format!("name\ttasks\nnightly\t{}\npipeline\t{}\nplain\t{}\n", tasks[0], tasks[1], tasks[2])
    );
    let json = parsed(&["sql", query, "--json"]);
    assert_eq!(
        json.as_array().unwrap().iter().map(|row| row["tasks"].as_i64().unwrap()).collect::<Vec<_>>(),
        tasks
    );
    assert_eq!(piped(&["sql", query, "--jsonl"]).lines().count(), 3);
    assert!(piped(&["sql", query, "--csv"]).starts_with("name,tasks\nnightly,"));
    assert!(piped(&["sql", query, "--markdown"]).starts_with("| name | tasks |\n| --- | --- |\n| nightly |"));
    assert!(seen(&["sql", query]).contains("│ name     ┆ tasks │"));
}

#[test]
fn sql_at_a_prompt() {
    let folder = copy();
    // What is typed before there is a prompt is lost: each waits for the next one.
    let keys = [
        ("telemetry> ", "select count(*) as found\r"),
        ("found\r\n", "from tasks join workf\t using (workflow_id);\r"),
        ("1 row", ""),
        ("telemetry> ", ".format csv\r"),
        ("\r\n", ""),
        ("telemetry> ", "select 6 * 7 as answer;\r"),
        ("answer\r\n42", ""),
        ("telemetry> ", "drop view tasks;\r"),
        ("hint:", ""),
        ("telemetry> ", ".views\r"),
        ("workflows (", ""),
        ("telemetry> ", ".nonsense\r"),
        (".help lists", ""),
        ("telemetry> ", "\u{4}"),
    ];
    let Seen { text, code } = at_terminal(folder.path(), &["sql"], &keys);
    assert_eq!(code, Some(0), "{text}");
    let all: i64 =
        numbers()["workflows"].as_array().unwrap().iter().map(|row| row["tasks"].as_i64().unwrap()).sum();
    assert!(text.contains(&format!("│    {all} │")), "{text}");
    assert!(text.contains("only queries that read are allowed"), "{text}");
    let history = fs::read_to_string(folder.path().join(".local/state/telemetry/sql-history")).unwrap();
    assert!(history.contains("drop view tasks;"), "{history}");
}

const MEASURED: &str = r#"{"type":"telemetry","format":1}
{"type":"recorder","recorder_id":"01970000-0000-7000-8000-000000000001","pid":7,"name":"agent"}
{"type":"workflow","workflow_id":"019a0000-0000-7000-8000-000000000000","name":"measured","status":"FINISHED","started_ns":1000,"ended_ns":9000,"recorder_id":"01970000-0000-7000-8000-000000000001"}
{"type":"event","recorder_id":"01970000-0000-7000-8000-000000000001","lane":0,"sequence":1,"workflow_id":"019a0000-0000-7000-8000-000000000000","task_id":null,"category":"TRANSFER","name":"tx_bytes","kind":"counter","unit":"B","labels":{"peer":"a,b"},"at_ns":2000,"value":5}
{"type":"event","recorder_id":"01970000-0000-7000-8000-000000000001","lane":0,"sequence":2,"workflow_id":"019a0000-0000-7000-8000-000000000000","task_id":null,"category":"TRANSFER","name":"tx_bytes","kind":"counter","unit":"B","labels":{"peer":"a,b"},"at_ns":3000,"value":9007199254740993}
{"type":"event","recorder_id":"01970000-0000-7000-8000-000000000001","lane":1,"sequence":1,"workflow_id":"019a0000-0000-7000-8000-000000000000","task_id":null,"category":"PERFORMANCE","name":"time","kind":"histogram","unit":null,"labels":{},"at_ns":4000,"value":0.1}
{"type":"session","workflow_id":"019a0000-0000-7000-8000-000000000000","folder":"/elsewhere","name":"session_1"}
"#;

#[test]
fn events_and_sessions_go_along() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("measured.jsonl"), MEASURED).unwrap();
    for _ in 0..2 {
        let output = run(folder.path(), &["import", "measured.jsonl"]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "measured.jsonl: 1 workflow with 0 tasks and 3 events.\n", "{output:?}");
    }
    let exported = export(folder.path(), &[]);
    let lines =
        |kind: &str| exported.lines().filter(|line| line.contains(&format!("\"type\":\"{kind}\""))).count();
    assert_eq!((lines("event"), lines("session")), (3, 1), "{exported}");
    let csv = |view: &str| {
        let output = run(folder.path(), &["export", "csv", "--view", view]);
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        csv("events").lines().nth(2).unwrap().contains(
            r#"-0-2,0.000003,TRANSFER,tx_bytes,counter,9007199254740993,B,"{""peer"":""a,b""}",,019a0000"#
        ),
        "{}",
        csv("events")
    );
    assert_eq!(csv("event_series").lines().count(), 3);
    let trace = run(folder.path(), &["export", "chrome-trace"]).stdout;
    let trace: Value = serde_json::from_slice(&trace).unwrap();
    let drawn = |phase: &str| -> Vec<Value> {
        let events = trace["traceEvents"].as_array().unwrap().iter();
        events
            .filter(|event| event["ph"] == phase)
            .map(|event| json!([event["ts"], event["name"], event["args"]]))
            .collect()
    };
    assert_eq!(
        drawn("C"),
        [
            json!([0.0, "tx_bytes {\"peer\":\"a,b\"}", {"B": 5.0}]),
            json!([1.0, "tx_bytes {\"peer\":\"a,b\"}", {"B": 9_007_199_254_740_996.0}]),
        ]
    );
    let value = json!({"value": 0.1, "unit": null, "category": "PERFORMANCE", "task_id": null});
    assert_eq!(drawn("i"), [json!([2.0, "time", value])]);
}

/// The lines of an export, as values.
fn export(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, &[&["export", "jsonl"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_is_exported_can_be_imported_any_number_of_times() {
    let exported = export(golden(), &["--all"]);
    let kinds = exported.lines().fold(BTreeMap::new(), |mut kinds: BTreeMap<String, u64>, line| {
        let line: Value = serde_json::from_str(line).unwrap();
        *kinds.entry(line["type"].as_str().unwrap().to_owned()).or_default() += 1;
        kinds
    });
    let all = |name: &str| -> u64 {
        numbers()["workflows"].as_array().unwrap().iter().map(|row| row[name].as_u64().unwrap()).sum()
    };
    assert_eq!((kinds["task"], kinds["snapshot"], kinds["workflow"]), (all("tasks"), all("snapshots"), 3));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.jsonl");
    fs::write(&file, &exported).unwrap();
    for _ in 0..2 {
        let output = run(folder.path(), &["import", file.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(": 3 workflows with 64 tasks."),
            "{output:?}"
        );
        assert_eq!(export(folder.path(), &["--all"]), exported);
    }
    // The same from the database itself, and through a pipe.
    let database = database(golden());
    let from_database = tempfile::tempdir().unwrap();
    assert!(run(from_database.path(), &["import", database.to_str().unwrap()]).status.success());
    assert_eq!(export(from_database.path(), &["--all"]), exported);
    let from_pipe = tempfile::tempdir().unwrap();
    let mut child = command(&["import", "-", "--json"])
        .current_dir(from_pipe.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(exported.as_bytes()).unwrap();
    let report: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!((&report[0]["workflows"], &report[0]["tasks"]), (&json!(3), &json!(64)));
    assert_eq!(export(from_pipe.path(), &["--all"]), exported);

    // Every view says the same in both.
    for view in [
        "workflows",
        "tasks",
        "activities",
        "ancestors",
        "descendants",
        "derivations",
        "snapshots",
        "task_telemetry",
        "machines",
    ] {
        let query = format!("select * from {view} order by 1, 2, 3");
        let ask = |folder: &Path| String::from_utf8(run(folder, &["sql", &query, "--jsonl"]).stdout).unwrap();
        assert_eq!(ask(folder.path()), ask(golden()), "{view}");
    }
    let doctor = run(folder.path(), &["doctor"]);
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));
}

#[test]
fn a_later_import_completes_an_earlier_one() {
    let exported = export(golden(), &["nightly"]);
    // As it was while the program ran: no ends, and nobody interrupted.
    let earlier: String = exported
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            for name in [
                "ended_ns",
                "ended_at",
                "duration_ns",
                "interrupted_ns",
                "generated",
                "stderr",
                "error_kind",
                "end_snapshot",
                "snapshot_age_end_ms",
            ] {
                if let Some(value) = line.get_mut(name) {
                    *value = Value::Null;
                }
            }
            if let Some(status) = line.get_mut("status") {
                *status = json!("RUNNING");
            }
            line.to_string() + "\n"
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("1.jsonl", &earlier), ("2.jsonl", &exported), ("3.jsonl", &earlier)] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        assert!(run(folder.path(), &["import", file.to_str().unwrap()]).status.success());
        if name == "1.jsonl" {
            let rows = run(folder.path(), &["ls", "--csv"]);
            assert!(String::from_utf8_lossy(&rows.stdout).contains(",RUNNING,"), "{rows:?}");
        }
    }
    assert_eq!(export(folder.path(), &["nightly"]), exported);
}

#[test]
fn what_is_no_export_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (text, message) in [
        ("{}\n", "line 1: "),
        ("{\"type\":\"telemetry\",\"format\":9}\n", "line 1: has format 9, this program knows format 1"),
        ("{\"type\":\"telemetry\",\"format\":1}\n{\"type\":\"task\",\"depth\":\"x\"}\n", "line 2: "),
        ("{\"type\":\"telemetry\",\"format\":1}\nnot json\n", "line 2: "),
    ] {
        let file = folder.path().join("bad.jsonl");
        fs::write(&file, text).unwrap();
        let output = run(folder.path(), &["import", file.to_str().unwrap()]);
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(talk.contains(message) && talk.contains("hint: "), "{talk}");
    }
}

#[test]
fn a_mistake_in_the_name_of_a_copy_makes_no_folder() {
    let folder = copy();
    let output = run(folder.path(), &["snapshot", "missing/copy.db"]);
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), talk.starts_with("error: missing: ")), (Some(3), true), "{talk}");
    assert!(!folder.path().join("missing").exists());
}

#[test]
fn where_a_setting_comes_from_is_short_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("settings.yaml"), "capture:\n  default_level: data\n").unwrap();
    let seen = at_terminal(folder.path(), &["config", "show", "--origin"], &[]);
    assert!(seen.text.contains(" settings.yaml:2\n"), "{}", seen.text);
    let piped = run(folder.path(), &["config", "show", "--origin"]).stdout;
    let place = folder.path().join("settings.yaml:2");
    assert!(String::from_utf8(piped).unwrap().contains(place.to_str().unwrap()));
}

#[test]
fn a_file_that_is_missing_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &["import", "missing.jsonl"]).status.code(), Some(3));
    assert!(!database(folder.path()).exists());
}

#[test]
fn export_csv_and_to_a_file() {
    let rows = piped(&["export", "csv", "nightly"]);
    assert_eq!(rows.lines().count() as u64, workflow("nightly")["tasks"].as_u64().unwrap() + 1);
    assert!(rows.starts_with("task_id,workflow_id,"));
    assert_eq!(piped(&["export", "csv", "nightly", "--view", "activities"]).lines().count(), 5);
    let folder = copy();
    let screen = at_terminal(folder.path(), &["export", "chrome-trace", "-o", "trace.json"], &[]);
    assert!(screen.text.contains("1 workflow written to trace.json."), "{}", screen.text);
    let trace: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("trace.json")).unwrap()).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 20);
    let task = run(golden(), &["export", "jsonl", workflow("nightly")["slowest"][1].as_str().unwrap()]);
    assert_eq!(task.status.code(), Some(2));
}

#[test]
fn snapshot() {
    let folder = copy();
    let output = run(folder.path(), &["snapshot", "copy.db"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let again = run(folder.path(), &["snapshot", "copy.db"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(String::from_utf8_lossy(&again.stderr).contains("hint: --yes says yes"), "{again:?}");
    let declined = at_terminal(folder.path(), &["snapshot", "copy.db"], &[("[y/N]", "n\r")]);
    assert_eq!(declined.code, Some(1), "{}", declined.text);
    let replaced = at_terminal(folder.path(), &["snapshot", "copy.db"], &[("[y/N]", "y\r")]);
    assert_eq!(replaced.code, Some(0), "{}", replaced.text);
    let exported = run(folder.path(), &["export", "jsonl", "--all", "--database", "copy.db"]).stdout;
    assert_eq!(String::from_utf8(exported).unwrap(), export(golden(), &["--all"]));
}

#[test]
fn gc() {
    let folder = copy();
    let ls = || String::from_utf8(run(folder.path(), &["ls", "--csv"]).stdout).unwrap();
    let before = ls();
    let dry = run(folder.path(), &["gc", "--keep", "1", "--dry-run", "--json"]);
    let plan: Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!(
        plan.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["nightly", "plain"]
    );
    assert_eq!(plan[0]["tasks"], workflow("nightly")["tasks"]);
    assert_eq!(ls(), before, "a dry run changes nothing");
    assert_eq!(run(folder.path(), &["gc", "--keep", "1"]).status.code(), Some(1), "nobody to ask");
    assert_eq!(run(folder.path(), &["gc"]).status.code(), Some(2), "no limit");
    let kept = at_terminal(folder.path(), &["gc", "--keep", "1"], &[("[y/N]", "n\r")]);
    assert_eq!((kept.code, ls()), (Some(1), before), "{}", kept.text);
    let deleted =
        at_terminal(folder.path(), &["gc", "--older-than", "1s", "--keep", "5"], &[("[y/N]", "y\r")]);
    assert_eq!(deleted.code, Some(0), "{}", deleted.text);
    assert_eq!(ls().lines().count(), 1);
    let rows = "select (select count(*) from task) + (select count(*) from snapshot) + (select count(*) from items)
        + (select count(*) from fingerprint) + (select count(*) from step) + (select count(*) from recorder) as rows";
    assert_eq!(run(folder.path(), &["sql", rows]).stdout, b"rows\n0\n");
    assert!(run(folder.path(), &["doctor"]).status.success());
}

#[test]
fn gc_keeps_what_runs_and_takes_the_settings() {
    let folder = copy();
    fs::write(folder.path().join("settings.yaml"), "store: {retention: \"1s\"}\n").unwrap();
    // As while a program runs: no end, and its recorder not known to be dead.
    let running = export(golden(), &["plain"])
        .replace("\"status\":\"FINISHED\"", "\"status\":\"RUNNING\"")
        .replace("\"interrupted_ns\":", "\"not_yet\":");
    let exported = run(folder.path(), &["gc", "--yes"]);
    assert!(exported.status.success(), "{exported:?}");
    fs::write(folder.path().join("running.jsonl"), running).unwrap();
    assert!(run(folder.path(), &["import", "running.jsonl"]).status.success());
    let output = run(folder.path(), &["gc", "--yes", "--csv"]);
    assert_eq!(output.stdout, b"workflow_id,name,started_at,tasks,bytes\n", "{output:?}");
}

#[test]
fn a_program_that_records_deletes_what_its_settings_do_not_keep() {
    let folder = copy();
    let old = "until [ $(\"$0\" ls --csv --limit 0 | wc -l) -eq 2 ] || [ $((n += 1)) -gt 500 ]; do :; done";
    let program = env!("CARGO_BIN_EXE_telemetry");
    fs::write(folder.path().join("settings.yaml"), "store: {retention: 1s}\n").unwrap();
    let output = run(folder.path(), &["run", "--name", "new", "--", "/bin/sh", "-c", old, program]);
    assert!(output.status.success(), "{output:?}");
    let rows = run(folder.path(), &["ls", "--json"]);
    let rows: Value = serde_json::from_slice(&rows.stdout).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["name"]), (1, &json!("new")));
}

#[test]
fn config() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("settings.yaml"),
        "mq: {}\ncapture:\n  default_level: data\ninstrumentation:\n  torch: {what: ~}\n",
    )
    .unwrap();
    let shown = |arguments: &[&str]| {
        let output = command(arguments)
            .current_dir(folder.path())
            .env("TELEMETRY_JOURNAL__LANES_MAX", "7")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = shown(&["config", "show", "--origin"]);
    let line =
        |key: &str| text.lines().find(|line| line.starts_with(&format!("{key}\t"))).unwrap().to_owned();
    assert!(line("capture.default_level").ends_with("settings.yaml:3"), "{text}");
    assert_eq!(line("journal.lanes_max"), "journal.lanes_max\t7\t$TELEMETRY_JOURNAL__LANES_MAX");
    assert!(line("instrumentation.model.what").ends_with("settings.yaml:5"), "{text}");
    assert_eq!(line("store.durability"), "store.durability\tprocess\tdefault");
    assert!(at_terminal(folder.path(), &["config", "show"], &[]).text.contains("capture.default_level"));
    let checked = shown(&["config", "check", "settings.yaml"]);
    assert!(checked.contains("all right") && checked.contains("without a meaning here: mq"), "{checked}");
    assert!(at_terminal(folder.path(), &["config", "check"], &[]).text.contains("all right"));
    fs::write(folder.path().join("wrong.yaml"), "capture: {default_levl: data}\n").unwrap();
    let wrong = run(folder.path(), &["config", "check", "wrong.yaml"]);
    assert_eq!(wrong.status.code(), Some(4));
    assert!(
        String::from_utf8_lossy(&wrong.stdout).contains("did you mean `capture.default_level`?"),
        "{wrong:?}"
    );
    assert_eq!(run(folder.path(), &["config", "check", "none.yaml"]).status.code(), Some(3));
}

#[test]
fn init() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), &["init", "--profile", "minimal"]).status.success());
    let minimal = fs::read_to_string(folder.path().join("settings.yaml")).unwrap();
    assert!(run(folder.path(), &["config", "check", "settings.yaml"]).status.success());
    let refused = run(folder.path(), &["init"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("\n+journal:\n"), "{refused:?}");
    assert_eq!(fs::read_to_string(folder.path().join("settings.yaml")).unwrap(), minimal);
    let replaced = at_terminal(folder.path(), &["init", "--profile", "hpc"], &[("[y/N]", "yes\r")]);
    assert_eq!(replaced.code, Some(0), "{}", replaced.text);
    assert!(run(folder.path(), &["config", "check"]).status.success());
    assert!(run(folder.path(), &["init", "--yes"]).status.success());
    let whole = fs::read_to_string(folder.path().join("settings.yaml")).unwrap();
    assert_eq!(whole, telemetry_core::settings::DEFAULT_FILE);
}

#[test]
fn completions_and_the_manual() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = piped(&["completions", shell]);
        assert!(script.contains("keep-output"), "{shell}");
        assert!(seen(&["completions", shell]).contains("keep-output"), "{shell}");
    }
    let bash = piped(&["completions", "bash"]);
    let mut child = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bash.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    for page in [piped(&["man"]), seen(&["man"])] {
        assert!(
            page.contains(".TH telemetry 1")
                && page.contains("COMMAND LINEAGE")
                && page.contains("keep\\-output"),
            "{page}"
        );
    }
}

#[test]
fn doctor_and_recover_on_a_terminal() {
    let folder = copy();
    let doctor = at_terminal(folder.path(), &["doctor"], &[]);
    assert_eq!(doctor.code, Some(0), "{}", doctor.text);
    for check in ["✓ database", "✓ counters", "✓ orphans", "gpu", "✓ clock", "✓ space"] {
        assert!(doctor.text.contains(check), "{check} in {}", doctor.text);
    }
    let recover = at_terminal(folder.path(), &["recover"], &[]);
    assert!(recover.text.starts_with("Nothing to recover in "), "{}", recover.text);
}
