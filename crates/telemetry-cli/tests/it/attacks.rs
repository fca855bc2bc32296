//! `telemetry sql` against what must not be done with it: denied, or stopped in time, and not a byte changed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::fixture::command;
use crate::golden::unpack;

const DENIED: &[&str] = &[
    "attach 'stolen.db' as x",
    "attach database 'file:stolen.db?mode=rwc' as x",
    "detach main",
    "pragma user_version = 9",
    "pragma journal_mode = delete",
    "pragma writable_schema = on",
    "pragma wal_checkpoint(truncate)",
    "select * from pragma_table_info('task')",
    "vacuum",
    "vacuum into 'stolen.db'",
    "select load_extension('stolen.so')",
    "select fts3_tokenizer('simple', x'00')",
    "create temp table t (x)",
    "create temp view v as select 1",
    "create table t (x)",
    "create virtual table v using dbstat",
    "insert into task (task_id) values ('x')",
    "replace into task (task_id) values ('x')",
    "update task set status = 4",
    "delete from task",
    "delete from task returning *",
    "update workflow set name = 'x' returning name",
    "with x as (select 1) delete from task",
    "drop table task",
    "drop view tasks",
    "alter table task rename to t",
    "create trigger t after insert on task begin select 1; end",
    "reindex",
    "analyze",
    "begin immediate",
    "savepoint x",
    "explain delete from task",
    "select 1; delete from task",
    "select writefile('stolen.db', 'x')",
    "select edit('x')",
    "select readfile('/etc/passwd')",
    "select zeroblob(2000000000)",
    "select printf('%2000000000d', 1)",
    "select printf('%.*c', 2000000000, 'x')",
    "select randomblob(1000000000)",
];

/// One a line. Of some, a single step may take longer than all the time there is.
const ENDLESS: &str = include_str!("attacks/endless.sql");

/// The promise is 50 ms beyond it, which `cargo xtask torture sql` measures: starting a program on a machine that does
/// other things takes its time, too.
const LIMIT: Duration = Duration::from_millis(300);

fn bytes(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("golden.db")).unwrap()
}

fn ask(folder: &Path, query: &str) -> (Option<i32>, String, Duration) {
    let begun = Instant::now();
    let output = command(&["sql", query, "--timeout", "0.3", "--database", "golden.db"])
        .current_dir(folder)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), begun.elapsed())
}

#[test]
fn nothing_but_questions_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    unpack("golden-3.db.gz", &folder.path().join("golden.db"));
    let before = bytes(folder.path());
    for query in DENIED {
        let (code, talk, _) = ask(folder.path(), query);
        assert_eq!(code, Some(1), "{query}: {talk}");
        assert!(talk.starts_with("error: "), "{query}: {talk}");
    }
    assert_eq!(bytes(folder.path()), before);
    let mut files: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with("-shm") && !name.ends_with("-wal"))
        .collect();
    files.sort();
    assert_eq!(files, ["golden.db"]);
}

#[test]
fn nothing_lasts_longer_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    unpack("golden-3.db.gz", &folder.path().join("golden.db"));
    let before = bytes(folder.path());
    // What a program costs that asks for nothing, so that a busy machine is not taken for a slow query.
    let usual = (0..5).map(|_| ask(folder.path(), "select 1").2).max().unwrap();
    for query in ENDLESS.lines() {
        let mut fastest = Duration::MAX;
        for _ in 0..3 {
            let (code, talk, took) = ask(folder.path(), query);
            assert_eq!(code, Some(1), "{query}: {talk}");
            assert!(talk.contains("took longer than") || talk.contains("too big"), "{query}: {talk}");
            fastest = fastest.min(took);
            if fastest < LIMIT + usual * 2 {
                break;
            }
        }
        assert!(fastest < LIMIT * 4, "{query} took {fastest:?}, {usual:?} is usual");
    }
    assert_eq!(bytes(folder.path()), before);
}
