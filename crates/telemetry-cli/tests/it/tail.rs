//! `tail` and `drain`: programs that fill their journals, watched and drained from a shell.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use telemetry::{Recorder, Settings, Task, Workflow, event};

use crate::fixture::command;

/// Only in a folder with this file does the child record; the file says whether it waits for its end.
const MARK: &str = "record-here";

/// Not a test of its own: the program that is watched.
#[test]
fn records_where_it_is_told_to() {
    let Ok(mark) = fs::read_to_string(MARK) else { return };
    let mut settings = Settings::default();
    settings.store.path = Path::new(".telemetry/provenance.db").to_owned();
    settings.journal.name = Some("agent".to_owned());
    let external = Settings::from_yaml("journal: {drain: external}", "x".as_ref()).unwrap().settings;
    settings.journal.drain = external.journal.drain;
    let _recorder = Recorder::start(settings).unwrap();
    let workflow = Workflow::start("watched");
    let train = Task::start("train").used("seed", 7);
    train.run(|| {
        telemetry::current_task().tag("nightly");
        event!(TRANSFER, "tx_bytes", 1_048_576, unit = "B", device = "gpu_0");
        event!(PERFORMANCE, "time", 0.25, kind = histogram, unit = "s");
        Task::start("step").fail("out of\nmemory");
    });
    train.generated("loss", 0.5).end();
    workflow.end();
    if mark == "wait" {
        writeln!(std::io::stdout(), "\nready").unwrap();
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }
}

struct Recorded {
    folder: tempfile::TempDir,
    child: Option<Child>,
    /// Kept, so that the child may go on printing.
    _output: Option<BufReader<ChildStdout>>,
}

impl Recorded {
    fn new(waits: bool) -> Self {
        Self::within(tempfile::tempdir().unwrap(), waits)
    }

    fn within(folder: tempfile::TempDir, waits: bool) -> Self {
        fs::write(folder.path().join(MARK), if waits { "wait" } else { "" }).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tail::records_where_it_is_told_to", "--nocapture"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        if waits {
            let mut output = BufReader::new(child.stdout.take().unwrap());
            assert!(output.by_ref().lines().map_while(Result::ok).any(|line| line == "ready"));
            return Self { folder, child: Some(child), _output: Some(output) };
        }
        assert!(child.wait().unwrap().success());
        Self { folder, child: None, _output: None }
    }

    fn journal(&self) -> PathBuf {
        let mut found = fs::read_dir(self.folder.path().join(".telemetry/journal")).unwrap();
        found
            .find_map(|entry| {
                Some(entry.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == "journal"))
            })
            .unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        command(arguments).current_dir(self.folder.path()).output().unwrap()
    }

    /// What it prints, with ids and times masked.
    fn lines(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(masked).collect()
    }

    fn end(mut self) {
        let mut child = self.child.take().unwrap();
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
}

/// Without the time in front and ids, and with a mark for a duration.
fn masked(line: &str) -> String {
    let Some((_, rest)) = line.split_once(' ').filter(|(time, _)| time.len() == 15) else {
        return line.to_owned();
    };
    let (took, rest) = rest.split_at(rest.char_indices().nth(9).unwrap().0);
    let words =
        rest.split(' ').map(|word| if word.len() == 36 && word.starts_with("01") { "ID" } else { word });
    let took = if took.trim().is_empty() { "     " } else { "TIME " };
    format!("{took}{}", words.collect::<Vec<_>>().join(" "))
}

#[test]
fn a_line_a_record_with_tasks_below_their_callers() {
    let recorded = Recorded::new(true);
    let expected = [
        "     ═ workflow watched  ID",
        "     ▶ train",
        "     + train  seed=7",
        "       • TRANSFER tx_bytes  1048576 B  device=gpu_0",
        "       • PERFORMANCE time  0.25 s",
        "       ▶ step",
        "TIME   ✗ step  ERROR  out of⏎memory",
        "     + train  → loss=0.5",
        "TIME ✓ train",
        "TIME ✓ workflow watched FINISHED  ID",
    ];
    assert_eq!(recorded.lines(&["tail"]), expected);
    let journal = recorded.journal();
    for wanted in [".telemetry", ".telemetry/journal", journal.to_str().unwrap(), "agent"] {
        assert_eq!(recorded.lines(&["tail", wanted]), expected, "{wanted}");
    }
    assert_eq!(recorded.lines(&["tail", "--category", "transfer"]), expected[3..4]);
    assert_eq!(recorded.lines(&["tail", "--name", "t*e"]), expected[4..5]);
    assert_eq!(recorded.lines(&["tail", "--status", "error"]), expected[6..7]);
    assert_eq!(recorded.lines(&["tail", "--activity", "tr*", "--category", "memory"]).len(), 4);
    assert_eq!(recorded.lines(&["tail", "--since", "0s"]), [""; 0]);
    assert_eq!(recorded.lines(&["tail", "--since", "1h"]), expected);
    recorded.end();
}

#[test]
fn blocks_and_json_say_the_same() {
    let recorded = Recorded::new(false);
    let journal = recorded.journal();
    let journal = journal.to_str().unwrap();
    let output = recorded.run(&["tail", journal, "--block", "--category", "transfer"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("=== Telemetry Event ===\nTimestamp: 20"), "{text}");
    let rest = "\nCategory: TRANSFER\nEvent: tx_bytes\nValue: 1048576\nUnit: B\ndevice: gpu_0\n";
    assert!(text.ends_with(&format!("{rest}===========================\n\n")), "{text}");
    let output = recorded.run(&["tail", journal, "--jsonl"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let types: Vec<String> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(types.len(), 11);
    assert_eq!(types[..3], ["workflow_start", "task_start", "task_update"]);
    assert!(String::from_utf8(output.stderr).unwrap().ends_with(" has ended.\n"));
}

#[test]
fn what_cannot_be_watched_is_said_with_its_exit_code() {
    let recorded = Recorded::new(false);
    let check = |arguments: &[&str], code: i32, message: &str| {
        let output = recorded.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(message), "{said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{said}");
    };
    check(&["tail", "nobody"], 3, "is called nobody");
    check(&["tail", "no/such/file"], 3, "error: there is no no/such/file");
    check(&["tail"], 3, "error: no program records in ");
    check(&["tail", "--since", "yesterday"], 2, "write a number and its unit");
    check(&["tail", "--category", "noise"], 2, "known are memory, transfer,");
    let journal = recorded.journal();
    let whole = fs::read(&journal).unwrap();
    let file = journal.to_str().unwrap();
    fs::write(&journal, &whole[..whole.len() / 2]).unwrap();
    check(&["tail", file], 1, "is truncated");
    fs::write(&journal, b"#!/bin/sh\n").unwrap();
    check(&["tail", file], 1, "is not a journal, or its header is damaged");
    let mut newer = whole.clone();
    newer[8] = 7;
    fs::write(&journal, &newer).unwrap();
    check(&["tail", file], 1, "is a journal of version 7; this program reads version 1");
}

#[test]
fn following_ends_with_the_program() {
    let recorded = Recorded::new(true);
    let mut tail = command(&["tail", "--follow", "agent", "--category", "transfer"]);
    tail.current_dir(recorded.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tail = tail.spawn().unwrap();
    let mut output = BufReader::new(tail.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(masked(line.trim_end()), "       • TRANSFER tx_bytes  1048576 B  device=gpu_0");
    recorded.end();
    assert!(tail.wait().unwrap().success());
}

#[test]
fn a_recorder_that_is_still_to_come_is_waited_for_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut tail = command(&["tail", "--follow", "agent", "--category", "transfer"]);
    tail.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tail = tail.spawn().unwrap();
    let mut talk = BufReader::new(tail.stderr.take().unwrap());
    let mut line = String::new();
    talk.read_line(&mut line).unwrap();
    assert_eq!(line, "Waiting for a recorder in .telemetry/journal that is called agent.\n");
    let recorded = Recorded::within(folder, true);
    let mut output = BufReader::new(tail.stdout.take().unwrap());
    line.clear();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("• TRANSFER tx_bytes"), "{line}");
    recorded.end();
    assert!(tail.wait().unwrap().success());
}

#[test]
fn what_programs_left_to_others_is_drained_once() {
    let recorded = Recorded::new(true);
    let drain = |arguments: &[&str]| {
        let output = recorded.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = drain(&["drain", "--once"]);
    assert!(said.starts_with("Wrote ") && !said.starts_with("Wrote 0"), "{said}");
    assert_eq!(drain(&["drain", "--once", ".telemetry"]), "Wrote 0 records.\n");
    let rows = recorded.lines(&["sql", "select name, value from events order by name", "--csv"]);
    assert_eq!(rows, ["name,value", "time,0.25", "tx_bytes,1048576"]);
    // One that drains, and one that leaves it to it.
    let mut standing = command(&["drain"]);
    let mut standing = standing.current_dir(recorded.folder.path()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(standing.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("Draining "), "{said}");
    let expected = format!("Process {} drains ", standing.id());
    assert!(drain(&["drain", "--once"]).starts_with(&expected));
    standing.kill().unwrap();
    standing.wait().unwrap();
    recorded.end();
}
