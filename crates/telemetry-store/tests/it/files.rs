//! Files that are missing, damaged, somebody else's, too new, or taken away.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use telemetry_store::{Drain, Reader, SCHEMA_VERSION, Store, StoreError, StoreOptions};

use crate::harness::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn sqlite(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// A bad file is refused for reading, and put aside untouched when it is opened for writing.
fn check_put_aside(path: &Path, refusal: &str) {
    let before = fs::read(path).unwrap();
    let error = Reader::open(path).unwrap_err();
    assert!(error.to_string().contains(refusal), "{error}");
    let store = open(path);
    assert!(store.integrity().unwrap().is_empty());
    let aside = names(path.parent().unwrap()).into_iter().find(|name| name.contains(".damaged-")).unwrap();
    assert_eq!(fs::read(path.with_file_name(aside)).unwrap(), before);
    Reader::open(path).unwrap();
}

#[test]
fn a_file_that_is_no_database_is_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    fs::write(&path, "this is not a database, and it is longer than a header of one hundred bytes".repeat(3))
        .unwrap();
    check_put_aside(&path, "is damaged or not a database");
}

#[test]
fn a_damaged_database_is_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    drop(open(&path));
    let mut bytes = fs::read(&path).unwrap();
    bytes[100..3000].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    check_put_aside(&path, "is damaged or not a database");
}

#[test]
fn a_database_of_something_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    sqlite(&path, "create table cats (name); pragma application_id = 7");
    let before = fs::read(&path).unwrap();
    for error in [Reader::open(&path).unwrap_err(), Store::open(&path, StoreOptions::default()).unwrap_err()]
    {
        assert!(error.to_string().contains("is not a telemetry store (application id 0x7)"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    drop(open(&path));
    sqlite(&path, "pragma user_version = 999");
    let expected = format!("has schema version 999, this program knows versions up to {SCHEMA_VERSION}");
    for error in [
        telemetry_store::Store::open(&path, StoreOptions::default()).unwrap_err(),
        Reader::open(&path).unwrap_err(),
    ] {
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
    assert!(!names(folder.path()).iter().any(|name| name.contains("damaged")));
}

#[test]
fn an_empty_file_becomes_a_store_and_a_missing_one_is_said_to_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/provenance.db");
    assert!(matches!(Reader::open(&path).unwrap_err(), StoreError::Missing { .. }));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    assert!(matches!(Reader::open(&path).unwrap_err(), StoreError::Empty { .. }));
    drop(open(&path));
    Reader::open(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".telemetry/provenance.db");
    let _store = open(&path);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for name in names(path.parent().unwrap()) {
        assert_eq!(mode(&path.with_file_name(&name)), 0o600, "{name}");
    }
}

#[test]
fn settings_of_the_file_are_as_promised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let _store = open(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let pragma = |name| {
        connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0)).unwrap()
    };
    assert_eq!(pragma("page_size"), rusqlite::types::Value::Integer(16384));
    assert_eq!(pragma("journal_mode"), rusqlite::types::Value::Text("wal".into()));
}

#[test]
fn a_file_that_is_taken_away_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let mut store = open(&path);
    for name in names(folder.path()) {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    store.apply(&Journal::default(), &batch_of(&[start(started(1, 1), &[])])).unwrap();
    assert_eq!(lines(&Reader::open(&path).unwrap(), "select count(*) from tasks"), ["1"]);
}

/// The store says once that the file is another one.
fn check_begun_again(store: &mut Store, path: &Path, tasks: &str) {
    store.apply(&Journal::default(), &batch_of(&[start(started(2, 1), &[])])).unwrap();
    let warnings = store.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("deleted or replaced"), "{warnings:?}");
    assert_eq!(lines(&Reader::open(path).unwrap(), "select count(*) from tasks"), [tasks]);
    assert!(store.integrity().unwrap().is_empty());
}

#[test]
fn a_log_that_is_taken_away_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let mut store = open(&path);
    store.apply(&Journal::default(), &batch_of(&[start(started(1, 1), &[])])).unwrap();
    fs::remove_file(folder.path().join("provenance.db-wal")).unwrap();
    check_begun_again(&mut store, &path, "2");
}

#[test]
fn a_database_that_is_moved_keeps_what_was_in_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let (path, moved) = (folder.path().join("provenance.db"), folder.path().join("moved.db"));
    let mut store = open(&path);
    store.apply(&Journal::default(), &batch_of(&[start(started(1, 1), &[])])).unwrap();
    fs::rename(&path, &moved).unwrap();
    check_begun_again(&mut store, &path, "1");
    assert_eq!(lines(&Reader::open(&moved).unwrap(), "select count(*) from tasks"), ["1"]);
}

#[test]
fn a_database_that_is_replaced_is_written_to_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("provenance.db"), folder.path().join("other.db"));
    let mut store = open(&path);
    store.apply(&Journal::default(), &batch_of(&[start(started(1, 1), &[])])).unwrap();
    let mut others = open(&other);
    others.apply(&Journal::default(), &batch_of(&[start(started(7, 1), &[])])).unwrap();
    drop(others);
    fs::rename(&other, &path).unwrap();
    check_begun_again(&mut store, &path, "2");
    assert_eq!(lines(&Reader::open(&path).unwrap(), "select count(*) from health"), ["1"]);
}

#[test]
fn a_reader_that_stays_lets_the_log_grow_and_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let options = StoreOptions { log_bytes_max: 1 << 20, ..StoreOptions::default() };
    let mut store = Store::open(&path, options).unwrap();
    let log_bytes = || fs::metadata(folder.path().join("provenance.db-wal")).unwrap().len();
    let mut number = 0;
    let mut write_past = |store: &mut Store, bytes: u64| {
        while log_bytes() < bytes {
            let records: Vec<_> = (0..200).map(|at| start(started(number + at, 1), &[])).collect();
            store.apply(&Journal::default(), &batch_of(&records)).unwrap();
            number += 200;
            if number > 100_000 {
                break;
            }
        }
    };
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("begin; select count(*) from tasks").unwrap();
    write_past(&mut store, 3 << 20);
    assert!(log_bytes() >= 3 << 20);
    let warnings = store.take_warnings();
    assert!(warnings.iter().all(|warning| warning.contains("reading it for long")) && !warnings.is_empty());
    store.note_warnings(Journal::default().id, &warnings[..1]).unwrap();
    reader.execute_batch("commit").unwrap();
    // The next look finds nobody.
    write_past(&mut store, 16 << 20);
    assert!(log_bytes() < 2 << 20, "{}", log_bytes());
    let noted = lines(&Reader::open(&path).unwrap(), "select warnings from health");
    assert!(noted.len() == 1 && noted[0].contains("reading it for long"), "{noted:?}");
}

#[test]
fn a_drain_releases_only_what_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let journal = Arc::new(Journal::default());
    let mut drain = Drain::new(open(&path), journal.clone());
    journal.offer([start(started(1, 1), &[]), end(ended(1, 2), &[])]);

    // Somebody else holds the file: nothing is lost, and the next pass does it.
    let blocker = rusqlite::Connection::open(&path).unwrap();
    blocker
        .execute_batch("begin; drop view health; create view health as select * from no_such_table; commit")
        .unwrap();
    blocker.execute_batch("drop table step").unwrap();
    assert!(drain.pass().is_err());
    assert_eq!(journal.waiting.lock().unwrap().len(), 2);
    blocker
        .execute_batch("create table step (workflow, activity, primary key (workflow, activity))")
        .unwrap();
    let pass = drain.pass().unwrap();
    assert_eq!((pass.records, journal.waiting.lock().unwrap().len()), (2, 0));
    assert_eq!(drain.pass().unwrap().records, 0);
}

#[test]
fn health_shows_the_counters_of_the_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let journal = Arc::new(Journal::default());
    journal.offer([start(started(1, 1), &[]), end(ended(1, 2), &[])]);
    let store = open(&path);
    let mut drain = Drain::recovery(store, journal.clone());
    drain.finish().unwrap();
    journal.counters.lock().unwrap().offered += 3;
    journal.counters.lock().unwrap().dropped[0] = 3;
    drain.pass().unwrap();
    let reader = Reader::open(&path).unwrap();
    let sql = "select pid, offered, persisted, pending, dropped_full, recovered, torn from health";
    assert_eq!(lines(&reader, sql), ["4242 | 5 | 2 | 0 | 3 | 2 | 0"]);
}

#[test]
fn many_writers_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let path_of = &path;
    let write = |writer: u64| {
        let journal = Journal { id: u128::from(writer) + 1, ..Journal::default() };
        let mut store = open(path_of);
        for number in (0..40).map(|number| writer * 1000 + number) {
            let records = [start(started(number, 1), &[]), end(ended(number, 2), &[])];
            store.apply(&journal, &batch_of(&records)).unwrap();
        }
    };
    let write = &write;
    std::thread::scope(|scope| (0..4).for_each(|writer| drop(scope.spawn(move || write(writer)))));
    let reader = Reader::open(&path).unwrap();
    let sql = "select count(*), count(distinct task_id), count(distinct workflow_id), min(status) from tasks";
    assert_eq!(lines(&reader, sql), ["160 | 160 | 1 | FINISHED"]);
    assert_eq!(lines(&reader, "select count(*) from health"), ["4"]);
    assert_eq!(open(&path).integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn a_file_that_others_are_making_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("begin immediate; pragma user_version = 0").unwrap();
    let (opened, is_opened) = std::sync::mpsc::channel::<()>();
    let reading = std::thread::spawn(move || {
        let _ = is_opened.recv_timeout(std::time::Duration::from_millis(100));
        drop(other);
    });
    assert!(open(&path).integrity().unwrap().is_empty());
    drop(opened);
    reading.join().unwrap();
}
