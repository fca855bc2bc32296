//! What goes wrong: exit codes, messages, hints.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use telemetry_store::{Store, StoreOptions};

use crate::fixture::{check, command, database, masked, telemetry, telemetry_on};

#[test]
fn a_missing_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    for arguments in [&["ls"][..], &["show"], &["sql", "select 1"]] {
        let output = masked(&telemetry_on(&path, arguments)).replace(path.to_str().unwrap(), "PATH");
        assert_eq!(
            output,
            "-- stderr\nerror: PATH: no such file\n\
            hint: go to the folder in which the program ran, or name the file with --database PATH\n-- exit 3\n"
        );
    }
    assert_eq!(telemetry_on(&path, &["doctor"]).status.code(), Some(4));
    assert_eq!(telemetry_on(&path, &["recover"]).status.code(), Some(0));
    assert!(!path.exists(), "nothing was to be recovered, so nothing is made");
}

#[test]
fn a_database_without_workflows() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    let fresh = folder.path().join("fresh.db");
    drop(Store::open(&fresh, StoreOptions::default()).unwrap());
    for path in [&empty, &fresh] {
        assert_eq!(telemetry_on(path, &["ls", "--json"]).stdout, b"[]\n");
        assert_eq!(telemetry_on(path, &["ls"]).status.code(), Some(0));
        assert_eq!(telemetry_on(path, &["show"]).status.code(), Some(3));
    }
    check(
        &telemetry_on(&fresh, &["show"]),
        "-- stderr\nerror: nothing is called \"@last\"\nhint: run a program that records, then ask again\n-- exit 3\n",
    );
}

#[test]
fn a_file_that_is_no_database_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "not a database, but long enough to look at: ".repeat(100)).unwrap();
    let before = fs::read(&path).unwrap();
    fs::create_dir(folder.path().join("journal")).unwrap();
    fs::write(folder.path().join("journal/0.journal"), "no journal").unwrap();
    for arguments in [&["ls"][..], &["show"], &["sql", "select 1"], &["recover"]] {
        let output = telemetry_on(&path, arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("hint: "), "{output:?}");
    }
    assert_eq!(telemetry_on(&path, &["doctor"]).status.code(), Some(4));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_unknown_id() {
    check(
        &telemetry(&["show", "nobody"]),
        "-- stderr\nerror: nothing is called \"nobody\"\nhint: telemetry ls lists the workflows\n-- exit 3\n",
    );
}

#[test]
fn a_run_before_the_first_one() {
    check(
        &telemetry(&["diff", "@last~900", "@last"]),
        "
-- stderr
error: nothing is called \"@last~900\"
hint: there are not so many runs; telemetry ls lists them
-- exit 3
",
    );
}

#[test]
fn a_comparison_of_a_run_with_itself_is_said() {
    let output = telemetry(&["diff", "@last"]);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(talk.starts_with("warning: A and B are the same; "), "{talk}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_file_with_something_else_in_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "only words\n").unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    let import = run(&["import", "notes.txt", "--database", "new.db"]);
    let talk = String::from_utf8_lossy(&import.stderr);
    assert!(talk.starts_with("error: notes.txt: line 1: not a line of an export: "), "{talk}");
    assert!(
        talk.ends_with("hint: telemetry import reads databases and what telemetry export jsonl writes\n")
    );
    let analyze = run(&["analyze", "notes.txt"]);
    let talk = String::from_utf8_lossy(&analyze.stderr);
    assert!(talk.starts_with("error: notes.txt: line 1: there is no column "), "{talk}");
    assert!(
        talk.ends_with("hint: the packets of a session are in the .csv of .telemetry/sessions/\n"),
        "{talk}"
    );
    assert_eq!([import.status.code(), analyze.status.code()], [Some(1); 2]);
}

#[test]
fn a_file_that_is_not_there_is_said_in_the_same_words_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["config", "check", "no.yaml"][..], &["import", "no.jsonl"], &["analyze", "no.csv"]] {
        let output = command(arguments).current_dir(folder.path()).output().unwrap();
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(talk.ends_with(": cannot be read: No such file or directory (os error 2)\n"), "{talk}");
        assert_eq!(output.status.code(), Some(3));
    }
}

#[test]
fn an_ambiguous_id_lists_what_it_could_be() {
    check(
        &telemetry(&["show", "0"]),
        "
-- stderr
error: \"0\" could be any of
  ID  plain, FINISHED, AGO
  ID  nightly, ERROR, AGO
hint: write more of the id
-- exit 1
",
    );
}

#[test]
fn a_query_that_writes_is_denied() {
    let before = fs::read(database()).unwrap();
    check(
        &telemetry(&["sql", "delete from task"]),
        "
-- stderr
error: only queries that read are allowed: not authorized
hint: this program never changes what was recorded
-- exit 1
",
    );
    for query in ["drop view tasks", "attach 'x' as y", "pragma user_version = 9", "vacuum into 'x'"] {
        assert_eq!(telemetry(&["sql", query]).status.code(), Some(1), "{query}");
    }
    assert_eq!(fs::read(database()).unwrap(), before);
}

#[test]
fn a_query_without_end_is_stopped() {
    let endless = "with recursive n (x) as (select 1 union all select x + 1 from n) select count(*) from n";
    check(
        &telemetry(&["sql", endless, "--timeout", "0.05"]),
        "
-- stderr
error: the query took longer than TIME
hint: ask for less, or allow more time with --timeout SECONDS
-- exit 1
",
    );
}

#[test]
fn a_wrong_query_says_where() {
    check(
        &telemetry(&["sql", "select colour from tasks"]),
        "
-- stderr
error: the query cannot be run: no such column: colour in select colour from tasks at offset 7
hint: telemetry sql --help lists the views
-- exit 1
",
    );
}

#[test]
fn no_question_at_all() {
    let nothing = "
-- stderr
error: there is no question
hint: telemetry sql --help has examples, and lists the views
-- exit 2
";
    check(&telemetry(&["sql", " "]), nothing);
}

#[test]
fn a_folder_is_no_database_and_an_option_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    check(
        &run(&["ls", "--database", "."]),
        "-- stderr\nerror: . is a folder\nhint: --database names a file, as .telemetry/provenance.db\n-- exit 2\n",
    );
    check(
        &run(&["run", "--nmae", "x", "--", "true"]),
        "
-- stderr
error: --nmae is neither an option nor a program
hint: telemetry run --help has the options; the program comes behind --
-- exit 2
",
    );
    assert!(!folder.path().join(".telemetry").exists(), "nothing was recorded");
}

#[test]
fn wrong_usage() {
    for arguments in [&[][..], &["sing"], &["ls", "--status", "tired"], &["ls", "--json", "--csv"], &["run"]]
    {
        assert_eq!(command(arguments).output().unwrap().status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(command(&["--version"]).output().unwrap().stdout, b"telemetry 0.1.0\n");
}

#[test]
fn help_has_examples() {
    let commands =
        "init run ls show tree lineage sql export import snapshot gc recover doctor config completions man";
    for name in std::iter::once("").chain(commands.split(' ')) {
        let arguments: Vec<&str> = [name, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let output = command(&arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("Examples:\n  telemetry "), "{text}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let many = "with recursive n (x) as (select 1 union all select x + 1 from n limit 90000) select x from n";
    let mut child = command(&["sql", many, "--database"])
        .arg(database())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut talk = String::new();
    child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    assert_eq!((&*line, &*talk, child.wait().unwrap().code()), ("x\n", "", Some(0)));
}
