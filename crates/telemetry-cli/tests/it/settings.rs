//! Where the program looks without being told.

use std::fs;

use crate::fixture::{check, command, database};

#[test]
fn the_database_of_this_folder_is_the_default() {
    let folder = database().parent().unwrap().parent().unwrap();
    let output =
        command(&["sql", "select count(*) as n from workflows"]).current_dir(folder).output().unwrap();
    check(&output, "-- stdout\nn\n2\n-- exit 0\n");
}

#[test]
fn settings_and_the_environment_name_another() {
    let folder = tempfile::tempdir().unwrap();
    let settings = format!("store: {{path: {:?}}}\n", database().to_str().unwrap());
    fs::write(folder.path().join("settings.yaml"), settings).unwrap();
    let run = |name: &str, value: &str| {
        command(&["ls", "--json"]).current_dir(folder.path()).env(name, value).output().unwrap().status.code()
    };
    assert_eq!(run("UNUSED", ""), Some(0));
    assert_eq!(run("TELEMETRY_STORE__PATH", "elsewhere.db"), Some(3));
}

#[test]
fn a_file_without_any_section_of_ours_is_said_to_be_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("settings.yaml"), "captur: {default_level: off}\n").unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    for arguments in [&["config", "show"][..], &["config", "check"]] {
        let talk = String::from_utf8(run(arguments).stderr).unwrap();
        assert!(talk.starts_with("warning: settings.yaml is passed over: "), "{talk}");
    }
    let report = String::from_utf8(run(&["doctor"]).stdout).unwrap();
    assert!(report.contains("settings.yaml is passed over"), "{report}");
    let named = run(&["config", "check", "settings.yaml"]);
    assert_eq!(named.status.code(), Some(4));
    assert!(String::from_utf8(named.stdout).unwrap().contains("did you mean `capture`?"));
}

#[test]
fn wrong_settings_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("settings.yaml"), "store: {pth: x.db}\n").unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    let failed = run(&["ls"]);
    let talk = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert!(talk.contains("settings.yaml:1: ") && talk.contains("did you mean `store.path`?"), "{talk}");
    let doctor = run(&["doctor"]);
    let report = String::from_utf8(doctor.stdout).unwrap();
    assert_eq!(doctor.status.code(), Some(4));
    assert!(report.starts_with("✗ settings "), "{report}");
}
