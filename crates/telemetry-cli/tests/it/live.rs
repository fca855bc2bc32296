//! What moves on a terminal while something lasts: bars, and the line of `telemetry run`.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use telemetry::{Task, Workflow};

use crate::fixture::command;
use crate::terminal::{Talking, at_terminal};

const ENDLESS: &str =
    "with recursive n (x) as (select 1 union all select x + 1 from n) select count(*) from n";
/// More than a pipe holds, by so much that a slow reader keeps the writer busy for some seconds.
const TASKS: usize = 4_000;
const DATABASE: &str = "many.db";

fn many_tasks() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::from("{\"type\":\"telemetry\",\"format\":1}\n");
    let workflow = "019a0000-0000-7000-8000-000000000000";
    let _ =
        writeln!(lines, r#"{{"type":"workflow","workflow_id":"{workflow}","name":"many","started_ns":1}}"#);
    for number in 0..TASKS {
        let _ = writeln!(
            lines,
            r#"{{"type":"task","task_id":"019a0000-0000-7000-9000-{number:012}","workflow_id":"{workflow}","activity_id":"step","status":"FINISHED","started_ns":{number},"ended_ns":{}}}"#,
            number + 1
        );
    }
    fs::write(folder.path().join("many.jsonl"), lines).unwrap();
    let imported = command(&["import", "many.jsonl", "--database", DATABASE])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(imported.status.success(), "{imported:?}");
    folder
}

/// Reads slowly, so that the writer has to wait, until `is_enough` says so or all is read; then the rest at once.
fn read_slowly(source: &mut impl Read, mut is_enough: impl FnMut() -> bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    while !is_enough() {
        match source.read(&mut piece).unwrap() {
            0 => return bytes,
            length => bytes.extend_from_slice(&piece[..length]),
        }
    }
    source.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn what_can_be_counted_has_a_bar_on_a_terminal_and_nothing_stays_of_it() {
    let folder = many_tasks();
    let export = ["export", "jsonl", "--database", DATABASE];
    let mut talking = Talking::start(folder.path(), &export);
    let mut stdout = talking.child.stdout.take().unwrap();
    let bytes = read_slowly(&mut stdout, || {
        talking.look(50);
        talking.text.contains("Exporting [")
    });
    assert!(talking.text.contains("Exporting [") && talking.text.contains(" % "), "{:?}", talking.text);
    assert_eq!(talking.finish(), "");
    // The data is what it is without a bar, and in a pipe there is none.
    let mut child = command(&export)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let piped = read_slowly(child.stdout.as_mut().unwrap(), || {
        // A slow reader is what makes the writer last.
        std::thread::sleep(Duration::from_millis(20));
        begun.elapsed() > Duration::from_millis(1_500)
    });
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(bytes == piped && String::from_utf8(bytes).unwrap().lines().count() >= TASKS);
}

#[test]
fn what_cannot_be_counted_turns_on_a_terminal_only() {
    let folder = many_tasks();
    let ask = ["sql", ENDLESS, "--timeout", "2", "--database", DATABASE];
    let mut talking = Talking::start(folder.path(), &ask);
    talking.wait_for("Asking ");
    let left = talking.finish();
    assert!(left.starts_with("error: the query took longer than 2000 ms"), "{left:?}");
    let piped = command(&ask).current_dir(folder.path()).output().unwrap();
    let talk = String::from_utf8_lossy(&piped.stderr);
    assert!(
        talk.starts_with("error: the query took longer than 2000 ms") && !talk.contains("Asking"),
        "{talk}"
    );
}

/// Not a test of its own: the program that runs until its input ends.
#[test]
fn records_and_waits() {
    if !Path::new("record-and-wait").exists() {
        return;
    }
    let settings = telemetry::Settings::load().unwrap().settings;
    let recorder = telemetry::Recorder::start(settings).unwrap();
    let workflow = Workflow::start("inner");
    for number in 0..7 {
        let task = Task::start("step");
        if number < 2 { task.fail("no luck") } else { task.end() }
    }
    assert_eq!(recorder.flush(Duration::from_secs(10)).remaining, 0);
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    workflow.end();
    recorder.stop(Duration::from_secs(10));
}

#[test]
fn a_line_tells_how_far_a_run_is_and_goes_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("record-and-wait"), "").unwrap();
    let program = std::env::current_exe().unwrap();
    let words = ["run", "--", program.to_str().unwrap(), "--exact", "live::records_and_waits"];
    let mut talking = Talking::start(folder.path(), &words);
    talking.wait_for("  7 tasks done  ");
    talking.wait_for("/s  2 errors");
    // Nothing more is done, so the rate falls.
    talking.wait_for("  0/s  2 errors");
    drop(talking.child.stdin.take());
    let mut data = String::new();
    talking.child.stdout.take().unwrap().read_to_string(&mut data).unwrap();
    assert!(data.contains("1 passed") && !data.contains("tasks done"), "{data}");
    let left = talking.finish();
    assert!(left.starts_with("done after ") && left.contains(", 7 tasks; telemetry show "), "{left:?}");
    assert!(!left.contains("/s"), "{left:?}");
}

#[test]
fn no_line_is_drawn_where_it_would_disturb() {
    let folder = tempfile::tempdir().unwrap();
    // Longer than it takes until a line is drawn.
    let long = ["run", "--", "sh", "-c", "sleep 1.2"];
    let seen = at_terminal(folder.path(), &long, &[]);
    assert!(seen.text.starts_with("done after ") && !seen.text.contains("/s"), "{:?}", seen.text);
    let piped = command(&long).current_dir(folder.path()).env("PATH", "/usr/bin:/bin").output().unwrap();
    assert_eq!((&*piped.stdout, &*piped.stderr), (&b""[..], &b""[..]));
}
