//! `telemetry run`: exit codes, signals, what is recorded, and that the program notices nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use telemetry::{Task, Workflow};

use crate::fixture::command;
use crate::terminal::at_terminal;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    runner(arguments).current_dir(folder).output().unwrap()
}

/// Signals that the tests inherit as ignored, from a shell that runs them in the background, would stay so.
fn runner(arguments: &[&str]) -> Command {
    let program = command(&[&["run"], arguments].concat());
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("PATH", "/usr/bin:/bin");
    command
}

/// The last workflow.
fn shown(folder: &Path) -> Value {
    let output = command(&["show", "--json"]).current_dir(folder).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn exit_codes_and_output_are_those_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    for code in [0, 1, 3, 42, 255] {
        let output =
            run(folder.path(), &["--", "sh", "-c", &format!("printf out; printf err >&2; exit {code}")]);
        assert_eq!(
            (output.status.code(), &*output.stdout, &*output.stderr),
            (Some(code), &b"out"[..], &b"err"[..])
        );
        let shown = shown(folder.path());
        let status = if code == 0 { "FINISHED" } else { "ERROR" };
        assert_eq!(
            (&shown["workflow"]["status"], &shown["workflow"]["generated"]["exit_code"]),
            (&status.into(), &code.into())
        );
        assert_eq!(shown["workflow"]["name"], "sh");
    }
}

#[test]
fn what_cannot_be_started_is_told_as_a_shell_does() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("no-program"), "text").unwrap();
    let missing = run(folder.path(), &["--", "no-such-program"]);
    assert_eq!(missing.status.code(), Some(127), "{missing:?}");
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("error: no-such-program: No such file"),
        "{missing:?}"
    );
    let shown = shown(folder.path());
    assert_eq!(
        (&shown["workflow"]["status"], &shown["failures"][0]["message"]),
        (&"ERROR".into(), &"not found".into())
    );
    let forbidden = run(folder.path(), &["--", "./no-program"]);
    assert_eq!(forbidden.status.code(), Some(126), "{forbidden:?}");
    assert_eq!(command(&["run"]).output().unwrap().status.code(), Some(2));
}

/// Starts the program and waits until it says that it is ready.
fn started(folder: &Path, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child =
        runner(&["--", "sh", "-c", script]).current_dir(folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, stdout)
}

#[test]
fn signals_reach_the_program_and_its_end_is_ours() {
    let folder = tempfile::tempdir().unwrap();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1] {
        // It has its own way with the signal.
        let name = &signal.as_str()[3..];
        let script =
            format!("trap 'echo got {name}; exit 9' {name}; echo ready; while :; do sleep 0.01; done");
        let (mut child, mut stdout) = started(folder.path(), &script);
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!((line, child.wait().unwrap().code()), (format!("got {name}\n"), Some(9)));
        // It dies of it.
        let (mut child, _stdout) = started(folder.path(), "echo ready; exec sleep 60");
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal as i32));
        assert_eq!(shown(folder.path())["workflow"]["generated"]["signal"], signal.as_str());
    }
    for signal in ["KILL", "SEGV", "ABRT"] {
        let output = run(folder.path(), &["--", "sh", "-c", &format!("kill -{signal} $$")]);
        let expected = format!("SIG{signal}").parse::<Signal>().unwrap();
        assert_eq!(output.status.signal(), Some(expected as i32), "{signal}");
    }
}

#[test]
fn a_terminal_interrupts_the_program_once() {
    let folder = tempfile::tempdir().unwrap();
    let script = "n=0; trap 'n=$((n+1))' INT; echo ready; i=0; while [ $i -lt 30 ]; do sleep 0.01; i=$((i+1)); done; echo interrupted $n times";
    let mut words = vec!["-w", "-c"];
    // A session of its own, so that the terminal is in control of it.
    let program = env!("CARGO_BIN_EXE_telemetry");
    words.extend(["env", "--default-signal", program, "run", "--", "sh", "-c", script]);
    let seen = crate::terminal::at_terminal_with(folder.path(), "setsid", &words, &[("ready", "\u{3}")]);
    assert!(seen.text.contains("interrupted 1 times"), "{}", seen.text);
}

#[test]
fn what_is_printed_is_kept_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["--keep-output", "--", "sh", "-c", "printf 'a\\0b'; printf c >&2"]);
    assert_eq!((&*output.stdout, &*output.stderr), (&b"a\0b"[..], &b"c"[..]));
    let shown = shown(folder.path());
    let task = shown["slowest"][0]["task_id"].as_str().unwrap();
    let task = command(&["show", task, "--json"]).current_dir(folder.path()).output().unwrap();
    let task: Value = serde_json::from_slice(&task.stdout).unwrap();
    let path = task["task"]["generated"]["stdout"]["$file"]["path"].as_str().unwrap();
    assert_eq!(fs::read(path).unwrap(), b"a\0b");
    assert!(task["task"]["generated"]["stderr"]["$file"]["sha256"].is_string(), "{task}");
}

/// What was recorded by mistake can be taken back: not a byte of it stays in free pages or in the log.
#[test]
fn what_is_deleted_is_gone_from_the_files() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["--name", "canary-of-a-name", "--", "true", "canary-of-an-argument"]);
    let hits = || -> usize {
        let files =
            fs::read_dir(folder.path().join(".telemetry")).unwrap().map(|entry| entry.unwrap().path());
        let texts = files.filter(|path| path.is_file()).map(|path| fs::read(path).unwrap());
        texts.map(|bytes| bytes.windows(9).filter(|window| window == b"canary-of").count()).sum()
    };
    assert!(hits() >= 2);
    let gc = command(&["gc", "--keep", "0", "--yes"]).current_dir(folder.path()).output().unwrap();
    assert!(gc.status.success(), "{gc:?}");
    assert_eq!(hits(), 0);
}

#[test]
fn a_database_that_cannot_be_used_does_not_stop_the_program() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.db"), "not a database").unwrap();
    fs::create_dir(folder.path().join("x.db-not")).unwrap();
    let output = run(folder.path(), &["--database", "x.db-not", "--", "sh", "-c", "echo works; exit 5"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(5), &b"works\n"[..]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("warning: nothing is recorded: "), "{output:?}");
}

/// Not a test of its own: the program that `nested` runs.
#[test]
fn records_where_it_is_told_to() {
    if !Path::new("record-here").exists() {
        return;
    }
    let settings = telemetry::Settings::load().unwrap().settings;
    let recorder = telemetry::Recorder::start(settings).unwrap();
    let workflow = Workflow::start("inner");
    for _ in 0..10 {
        Task::start("step").end();
    }
    workflow.end();
    recorder.stop(std::time::Duration::from_secs(10));
}

#[test]
fn what_the_program_records_is_nested_in_the_workflow() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("record-here"), "").unwrap();
    let program = std::env::current_exe().unwrap();
    let words = ["--name", "outer", "--campaign", "c1", "--", program.to_str().unwrap()];
    let output = run(folder.path(), &[&words[..], &["--exact", "run::records_where_it_is_told_to"]].concat());
    assert!(output.status.success(), "{output:?}");
    let shown = command(&["show", "outer", "--json"]).current_dir(folder.path()).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(
        (&shown["nested"][0]["name"], &shown["nested"][0]["campaign_id"]),
        (&"inner".into(), &"c1".into())
    );
    assert_eq!(shown["nested"][0]["parent_task_id"], shown["slowest"][0]["task_id"]);
    // On a terminal, the last word says how much that was.
    let words = ["run", "--", program.to_str().unwrap(), "--exact", "run::records_where_it_is_told_to"];
    let seen = at_terminal(folder.path(), &words, &[]);
    assert!(seen.text.contains(", 10 tasks; telemetry show "), "{}", seen.text);
    let seen = at_terminal(folder.path(), &["run", "--quiet", "--", "true"], &[]);
    assert_eq!((seen.text.as_str(), seen.code), ("", Some(0)));
}
