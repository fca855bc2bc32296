//! `report`, `critical-path`, `timeline`, `diff` and `analyze` on a run with threads that was recorded once, against
//! numbers that a Python script computes from the base tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

use crate::fixture::command;
use crate::golden::unpack;

/// A folder with two runs of the example `forecast`.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("insight");
        let _ = fs::remove_dir_all(&folder);
        unpack("forecast-3.db.gz", &folder.join(".telemetry/provenance.db"));
        folder
    })
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).current_dir(folder()).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?} {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

fn computed(path: &Path) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/insight.py");
    let output = Command::new("python3").arg(script).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every number of the one is in the other; sums of fractions may differ in their last digits.
fn assert_agrees(ours: &Value, theirs: &Value, place: &str) {
    for (name, expected) in theirs.as_object().unwrap() {
        let place = format!("{place} {name}");
        match (ours[name].as_f64(), expected.as_f64()) {
            (Some(ours), Some(theirs)) => {
                assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{place}: {ours} {theirs}");
            }
            _ => panic!("{place}: {:?} is to be {expected:?}", ours[name]),
        }
    }
}

fn named<'a>(rows: &'a Value, column: &str, name: &Value) -> &'a Value {
    rows.as_array().unwrap().iter().find(|row| row[column] == *name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn reports_and_critical_paths_have_the_numbers_of_the_script() {
    let expected = computed(&folder().join(".telemetry/provenance.db"));
    for (id, expected) in expected.as_object().unwrap() {
        let report = json(&["report", id, "--json"]);
        for (name, numbers) in expected["activities"].as_object().unwrap() {
            let mut ours = named(&report["activities"], "activity_id", &Value::from(&**name)).clone();
            for measured in ["measured", "process_cpu_s", "process_write_bytes"] {
                ours[measured] = ours["resources"][measured].clone();
            }
            assert_agrees(&ours, numbers, name);
        }
        for path in [json(&["critical-path", id, "--json"]), report["critical_path"].clone()] {
            assert_eq!(path["total_ns"], expected["critical_path"]["total_ns"]);
            assert_eq!(path["work_ns"], expected["critical_path"]["work_ns"]);
            for step in expected["critical_path"]["steps"].as_array().unwrap() {
                let ours = named(&path["steps"], "activity_id", &step["activity_id"]);
                for column in ["calls", "own_ns", "waiting_ns", "gain_ns"] {
                    assert_eq!(ours[column], step[column], "{id} {step} {column}");
                }
            }
        }
    }
}

#[test]
fn a_report_is_one_page_in_two_forms() {
    let (html, markdown) = (folder().join("report.html"), folder().join("report.md"));
    stdout(&["report", "--html", html.to_str().unwrap(), "--markdown", markdown.to_str().unwrap()]);
    let (html, markdown) = (fs::read_to_string(html).unwrap(), fs::read_to_string(markdown).unwrap());
    let headings = [
        "Summary",
        "Overview",
        "Critical path",
        "Activities",
        "Objects",
        "Lineage",
        "Errors",
        "How the numbers are made",
    ];
    for heading in headings {
        assert!(html.contains(&format!(">{heading}</h2>")), "{heading}");
        assert!(markdown.contains(&format!("\n## {heading}\n")), "{heading}");
    }
    assert_eq!(
        html.matches("<svg role=\"img\" aria-label=\"").count(),
        5,
        "timeline, two curves, bars, lineage"
    );
    let addresses = html.matches("http").count() - html.matches("http-equiv").count();
    assert_eq!(addresses, html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count(), "nothing is loaded");
    assert!(!html.contains("<script") && !html.contains("url("));
    assert_eq!(stdout(&["report"]), markdown);
}

#[test]
fn what_was_recorded_is_no_markup() {
    let recorded = crate::fixture::telemetry(&["report", "nightly"]);
    let text = String::from_utf8(recorded.stdout).unwrap();
    assert!(text.contains("loss is not a number<br>at batch 2") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_timeline_has_a_band_for_each_thread() {
    let rows = stdout(&["timeline", "--jsonl", "--depth", "1"]);
    let threads: Vec<Value> =
        rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["thread"].clone()).collect();
    for thread in ["harbour", "ridge", "summit", "valley", "main"] {
        assert_eq!(threads.iter().filter(|name| **name == *thread).count(), 1, "{rows}");
    }
    let svg = folder().join("timeline.svg");
    stdout(&["timeline", "--svg", svg.to_str().unwrap()]);
    let svg = fs::read_to_string(svg).unwrap();
    assert!(
        svg.starts_with("<svg width=\"960\" height=\"") && svg.contains("<title>Timeline of 5 threads"),
        "{svg}"
    );
}

#[test]
fn a_comparison_with_itself_finds_nothing() {
    let same = json(&["diff", "@last", "@last", "--json"]);
    for change in same["activities"].as_array().unwrap() {
        let verdict = change["verdict"].as_str().unwrap();
        assert!(["same", "too_few"].contains(&verdict), "{change}");
        assert_eq!(change["median_change"], 0.0);
    }
    assert_eq!(same["changes"].as_array().unwrap().len(), 0);
}

#[test]
fn a_gate_fails_on_what_is_slower() {
    let (before, after) = slow_and_fast();
    let gate = |a: &str, b: &str, limit: &str| run(&["diff", a, b, "--fail-on", limit]).status.code();
    assert_eq!(gate(&before, &after, "slower=10%"), Some(4));
    assert_eq!(gate(&before, &after, "slower=900%"), Some(0));
    assert_eq!(gate(&after, &before, "slower=10%"), Some(0));
    assert_eq!(gate(&before, &after, "slower=ten"), Some(2));
    assert_eq!(run(&["diff", "x", "y", "--campaign"]).status.code(), Some(3));
}

/// The two runs, the one with the shorter median of `fit` first: which it is was decided by the machine.
fn slow_and_fast() -> (String, String) {
    let mut runs: Vec<(i64, String)> = json(&["ls", "--json"])
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let id = row["workflow_id"].as_str().unwrap().to_owned();
            let report = json(&["report", &id, "--json"]);
            let fit = named(&report["activities"], "activity_id", &Value::from("fit")).clone();
            (fit["median_ns"].as_f64().unwrap() as i64, id)
        })
        .collect();
    runs.sort();
    (runs[0].1.clone(), runs[1].1.clone())
}

const HEADER: &str = "timestamp,device,worker_instance,duration_ms,packet_id,layer_idx,operation,success,\
                      memory_used_mb,error_message\n";

fn session() -> String {
    let packet = |number: u32| {
        let (device, operation) =
            [("cpu", "router"), ("igpu", "expert_ffn"), ("igpu", "attention_qkv_proj")][number as usize % 3];
        let duration_ms = f64::from(number * 7919 % 97) / 10.0 + 0.2;
        let (success, message) =
            if number % 40 == 7 { ("False", "\"out of memory, really\"") } else { ("True", "") };
        let layer = i64::from(number % 8) - 1;
        let end_s = 1_763_317_513.0 + f64::from(number) / 100.0;
        format!(
            "{end_s:.6},{device},{device}_{operation},{duration_ms:.3},{number},{layer},{operation},{success},{:.2},{message}\n",
            duration_ms * 3.0
        )
    };
    HEADER.to_owned() + &(0..400).map(packet).collect::<String>()
}

#[test]
fn an_analysis_has_the_numbers_of_the_script() {
    let path = folder().join("session_2025-11-16_14-30-00.csv");
    fs::write(&path, session()).unwrap();
    let (ours, expected) = (json(&["analyze", path.to_str().unwrap(), "--json"]), computed(&path));
    assert_agrees(&ours["overall"], &expected["overall"], "overall");
    let span_s = ours["span_s"].as_f64().unwrap();
    assert!((span_s - expected["span_s"].as_f64().unwrap()).abs() < 1e-6, "{span_s}");
    for part in ["devices", "workers", "layers", "operations"] {
        let groups = expected[part].as_object().unwrap();
        assert_eq!(ours[part].as_array().unwrap().len(), groups.len(), "{part}");
        for (name, numbers) in groups {
            assert_agrees(named(&ours[part], "name", &Value::from(&**name)), numbers, name);
        }
    }
    let slowest: Vec<&Value> =
        ours["slowest"].as_array().unwrap().iter().map(|packet| &packet["duration_ms"]).collect();
    assert_eq!(slowest, expected["slowest"].as_array().unwrap().iter().collect::<Vec<_>>());
    assert_eq!(ours["errors"], serde_json::json!([["out of memory, really", 10]]));
}

#[test]
fn an_analysis_draws_seven_plots() {
    let sessions = folder().join(".telemetry/sessions");
    fs::create_dir_all(&sessions).unwrap();
    fs::write(sessions.join("latest.csv"), session()).unwrap();
    let page = stdout(&["analyze", "--plots", "plots"]);
    assert!(page.starts_with("latest.csv\n  packets     400, 97.5 % successful\n"), "{page}");
    for name in ["timeline", "utilization", "distribution", "layer", "operation", "worker", "cumulative"] {
        let svg = fs::read_to_string(folder().join(format!("plots/{name}.svg"))).unwrap();
        assert!(
            svg.starts_with("<svg width=\"960\" height=\"") && svg.trim_end().ends_with("</svg>"),
            "{name}"
        );
    }
}

#[test]
fn no_session_is_not_found() {
    let empty = tempfile::tempdir().unwrap();
    let output = command(&["analyze"]).current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    fs::write(empty.path().join("x.csv"), "a,b\n1,2\n").unwrap();
    let output = command(&["analyze", "x.csv"]).current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
