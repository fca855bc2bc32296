//! A process that is killed: the doctor sees it, `recover` brings its records in.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use telemetry::{Task, Workflow};

use crate::fixture::{masked, record_into, telemetry_on};

/// Only in a folder with this file does the child record and die.
const MARK: &str = "die-here";
const DATABASE: &str = ".telemetry/provenance.db";

/// Not a test of its own: the part of the process that is killed.
#[test]
fn dies_where_it_is_told_to() {
    if !Path::new(MARK).exists() {
        return;
    }
    let recorder = record_into(&std::env::current_dir().unwrap().join(DATABASE));
    let _workflow = Workflow::start("killed");
    let _open = Task::start("open").used("x", 1);
    recorder.flush(std::time::Duration::from_secs(10));
    fs::write(MARK, "recorded").unwrap();
    // More than the drain writes before the process is gone.
    for _ in 0..300 {
        Task::start("last").end();
    }
    std::process::abort();
}

fn killed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(MARK), "").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child::dies_where_it_is_told_to"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), None, "it aborts");
    assert_eq!(fs::read(folder.path().join(MARK)).unwrap(), b"recorded");
    folder
}

#[test]
fn what_a_killed_process_left_is_recovered() {
    let folder = killed();
    let database = folder.path().join(DATABASE);
    let run = |arguments: &[&str]| {
        masked(&telemetry_on(&database, arguments)).replace(folder.path().to_str().unwrap(), "FOLDER")
    };
    let sick = run(&["doctor"]);
    assert!(sick.contains("✗ journals  1 dead process left "), "{sick}");
    assert!(
        sick.contains("hint: telemetry recover brings them in\n") && sick.ends_with("-- exit 4\n"),
        "{sick}"
    );

    let recovered = run(&["recover"]);
    assert!(recovered.starts_with("-- stdout\nRecovered "), "{recovered}");
    assert!(
        recovered.ends_with(" from 1 journal into FOLDER/.telemetry/provenance.db.\n-- exit 0\n"),
        "{recovered}"
    );
    assert!(run(&["recover"]).contains("Nothing to recover in FOLDER/.telemetry/journal.\n"));

    let counts = "select activity_id, status, count(*) as n from tasks group by 1, 2 order by 1";
    let rows = run(&["sql", counts, "--csv"]);
    assert_eq!(rows, "-- stdout\nactivity_id,status,n\nlast,FINISHED,300\nopen,INTERRUPTED,1\n-- exit 0\n");
    let well = run(&["doctor"]);
    assert!(well.contains("✓ counters  604 records offered = 604 persisted"), "{well}");
    assert!(well.ends_with("-- exit 0\n"), "{well}");
}

#[test]
fn files_that_others_may_read_are_found() {
    use std::os::unix::fs::PermissionsExt;
    let folder = killed();
    let database = folder.path().join(DATABASE);
    telemetry_on(&database, &["recover"]);
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let output = telemetry_on(&database, &["doctor"]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("✗ permissions  others may enter or read\n"), "{report}");
    assert!(report.contains("hint: chmod go= "), "{report}");
    assert_eq!(output.status.code(), Some(4));
}
