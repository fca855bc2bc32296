//! Files of every version so far: readable, brought up to date, and refused where they are newer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use telemetry_store::{SCHEMA_VERSION, Store, StoreError, StoreOptions, inspect};

use crate::fixture::command;
use crate::golden::{fixtures, unpack};

/// Where the header of a database has its `user_version`.
const USER_VERSION_AT: usize = 60;

/// The versions of which there is a golden file: from the first on, without a gap.
fn versions() -> std::ops::RangeInclusive<i32> {
    let is_there = |version: &i32| fixtures().join(format!("golden-{version}.db.gz")).exists();
    let last = (1..=SCHEMA_VERSION).take_while(is_there).last().unwrap();
    assert!(last >= 3);
    1..=last
}

fn fixture(version: i32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join(".telemetry/provenance.db");
    unpack(&format!("golden-{version}.db.gz"), &database);
    (folder, database)
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output = command(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?} {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn every_version_is_brought_up_to_date() {
    for version in versions() {
        let (folder, database) = fixture(version);
        assert_eq!(inspect(&database).unwrap().schema_version, version);
        let before = run(folder.path(), &["ls", "--csv"]).stdout;
        drop(Store::open(&database, StoreOptions::default()).unwrap());
        let inspection = inspect(&database).unwrap();
        assert_eq!((inspection.schema_version, inspection.problems), (SCHEMA_VERSION, vec![]));
        assert_eq!(run(folder.path(), &["ls", "--csv"]).stdout, before);
        // The same questions as of a database of this version: numbers from Python, from base tables.
        let nightly: Value =
            serde_json::from_slice(&run(folder.path(), &["show", "nightly", "--json"]).stdout).unwrap();
        assert_eq!(nightly["activities"].as_array().unwrap().len(), 4, "version {version}");
        assert_eq!(nightly["failures"][0]["message"], "loss is not a number");
        let lineage = run(folder.path(), &["lineage", "pipeline", "--jsonl"]).stdout;
        assert_eq!(String::from_utf8(lineage).unwrap().lines().count(), 12, "version {version}");
        assert!(run(folder.path(), &["doctor"]).status.success());
    }
}

#[test]
fn an_older_database_can_be_imported_and_stays_as_it_is() {
    for version in versions() {
        let (folder, database) = fixture(version);
        let before = fs::read(&database).unwrap();
        let target = tempfile::tempdir().unwrap();
        run(target.path(), &["import", database.to_str().unwrap()]);
        let tasks = run(target.path(), &["sql", "select count(*) as n from tasks", "--jsonl"]).stdout;
        assert_eq!(String::from_utf8(tasks).unwrap(), "{\"n\":64}\n");
        assert_eq!(fs::read(&database).unwrap(), before);
        drop(folder);
    }
}

#[test]
fn the_first_journal_is_still_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let journals = folder.path().join(".telemetry/journal");
    let journal = journals.join("01a1eeb800000000000000000000000a.journal");
    unpack("golden-1.journal.gz", &journal);
    let elsewhere = run(folder.path(), &["recover"]).stdout;
    assert!(String::from_utf8(elsewhere).unwrap().contains("Left 1 journal alone"), "it is of another host");
    telemetry_journal::adopt(&journal).unwrap();
    let recovered = String::from_utf8(run(folder.path(), &["recover"]).stdout).unwrap();
    assert!(
        recovered.starts_with("Recovered ") && recovered.contains(" from 1 journal into "),
        "{recovered}"
    );
    let query = "select activity_id, status, count(*) as n from tasks group by 1, 2 order by 1";
    let rows = run(folder.path(), &["sql", query, "--csv"]).stdout;
    let rows = String::from_utf8(rows).unwrap();
    assert!(rows.contains("last,FINISHED,200\n"), "{rows}");
    assert!(!journal.exists());
}

#[test]
fn a_newer_file_is_refused_by_readers_and_writers() {
    let (folder, database) = fixture(*versions().end());
    // What the next version will have done: one more step.
    let mut bytes = fs::read(&database).unwrap();
    bytes[USER_VERSION_AT..USER_VERSION_AT + 4].copy_from_slice(&(SCHEMA_VERSION + 1).to_be_bytes());
    fs::write(&database, &bytes).unwrap();
    for arguments in [
        &["ls"][..],
        &["show"],
        &["sql", "select 1"],
        &["export", "jsonl"],
        &["snapshot", "x.db"],
        &["import", ".telemetry/provenance.db"],
    ] {
        let output = command(arguments).current_dir(folder.path()).output().unwrap();
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?} {talk}");
        let versions = format!(
            "has schema version {}, this program knows versions up to {SCHEMA_VERSION}",
            SCHEMA_VERSION + 1
        );
        assert!(talk.contains(&versions) && talk.contains("hint: update telemetry"), "{talk}");
    }
    let opened = Store::open(&database, StoreOptions::default());
    assert!(matches!(opened, Err(StoreError::Newer { .. })), "{opened:?}");
    assert_eq!(fs::read(&database).unwrap(), bytes);
}
