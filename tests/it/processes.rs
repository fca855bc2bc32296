//! Several processes at one database: writers, readers, and one that walks away.

use std::process::{Command, Stdio};

use crate::bodies::MANY;
use crate::programs::{Place, sqlite3, succeed};

/// The views that are the public surface.
const VIEWS: &[&str] = &[
    "workflows",
    "tasks",
    "task_telemetry",
    "task_gpus",
    "snapshots",
    "activities",
    "ancestors",
    "descendants",
    "derivations",
    "events",
    "machines",
    "health",
    "packets",
    "expert_selection",
    "session_summary",
];

/// How often a test looks for something that is about to happen.
const LOOKS_MAX: usize = 10_000;

#[test]
fn several_processes_write_one_database_at_once() {
    let place = Place::new();
    let start = |_| place.program("many").stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let programs: Vec<_> = (0..4).map(start).collect();
    for program in programs {
        succeed(program.and_then(std::process::Child::wait_with_output));
    }
    place.recover();
    let tasks = "select count(distinct pid), count(*), sum(status = 'FINISHED') from tasks";
    let expected = 4 * 2 * MANY;
    assert_eq!(place.table(tasks), format!("4|{expected}|{expected}\n"));
    assert_eq!(place.table("select status, count(*) from workflows group by 1"), "FINISHED|4\n");
    let law = "select count(*), sum(pending), sum(dropped_full + dropped_oversize + dropped_nested + dropped_stopped),
        sum(torn), sum(persisted = offered) from health";
    assert_eq!(place.table(law), "4|0|0|0|4\n");
    assert_eq!(place.table("pragma integrity_check"), "ok\n");
}

#[test]
fn every_view_is_read_while_a_program_writes() {
    let place = Place::new();
    let program = place.start("writer");
    let count = || -> u64 { place.table("select count(*) from tasks").trim().parse().expect("a number") };
    let before = (0..LOOKS_MAX).map(|_| count()).find(|count| *count > 0).expect("the program writes");
    for view in VIEWS {
        let query = format!("select * from {view} limit 5");
        succeed(sqlite3(&place.database()).arg(&query).output());
        let script = "import sqlite3, sys\n\
            connection = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)\n\
            print(len(connection.execute(sys.argv[2]).fetchall()))";
        succeed(Command::new("python3").args(["-c", script]).arg(place.database()).arg(&query).output());
    }
    (0..LOOKS_MAX).map(|_| count()).find(|count| *count > before).expect("the program still writes");
    assert!(place.table("select status from workflows").starts_with("RUNNING"));
    program.end();
    assert_eq!(place.table("select status, count(*) from workflows group by 1"), "FINISHED|1\n");
    assert_eq!(place.table("select count(*) from tasks where status <> 'FINISHED'"), "0\n");
}

#[test]
fn a_program_that_changes_its_folder_leaves_everything_in_the_first() {
    let place = Place::new();
    place.run("wanderer");
    assert_eq!(place.table("select activity_id, status from tasks"), "double|FINISHED\n");
    let left: Vec<_> = place.path(".telemetry/journal").read_dir().expect("the folder is there").collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(place.path("elsewhere").read_dir().expect("the folder is there").count(), 0);
}
