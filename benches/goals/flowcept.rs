//! The peer Flowcept: Python processes beside us that run a burst of bare tasks, take snapshots, or describe
//! the machine, when asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::options::Options;

const BURST: &str = include_str!("flowcept_burst.py");
const SNAPSHOTS: &str = include_str!("flowcept_snapshots.py");
const MACHINE: &str = include_str!("flowcept_machine.py");

/// What a burst is measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Time,
    Cpu,
}

/// A Flowcept that records.
pub(crate) struct Flowcept {
    script: Script,
}

impl Flowcept {
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        Script::start(options, BURST).map(|script| Self { script })
    }

    /// Nanoseconds a bare task.
    pub(crate) fn burst(&mut self, cost: Cost) -> f64 {
        self.script.ask(match cost {
            Cost::Time => "time",
            Cost::Cpu => "cpu",
        })
    }
}

/// A Flowcept that takes snapshots with psutil.
pub(crate) struct Snapshots {
    script: Script,
}

impl Snapshots {
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        Script::start(options, SNAPSHOTS).map(|script| Self { script })
    }

    /// Nanoseconds of processor time a snapshot.
    pub(crate) fn each_cpu_ns(&mut self) -> f64 {
        self.script.ask("snapshots")
    }
}

/// A Flowcept that describes the machine.
pub(crate) struct Machine {
    script: Script,
}

impl Machine {
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        Script::start(options, MACHINE).map(|script| Self { script })
    }

    /// Milliseconds that a description takes.
    pub(crate) fn describe_ms(&mut self) -> f64 {
        self.script.ask("machine")
    }
}

/// A running script: it says a number when it is ready, and one to every question.
struct Script {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it dumps at its end goes here.
    _folder: TempDir,
}

impl Script {
    fn start(options: &Options, text: &str) -> Result<Self, String> {
        let python = options.python.as_ref().ok_or("Flowcept could not be had here: no Python given")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let script = folder.path().join("script.py");
        fs::write(&script, text).map_err(|error| error.to_string())?;
        let mut child = Command::new(python)
            .arg(script)
            .current_dir(folder.path())
            .env("FLOWCEPT_USE_DEFAULT", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("Flowcept could not be had here: {error}"))?;
        let (requests, answers) = child.stdin.take().zip(child.stdout.take()).ok_or("it has no pipes")?;
        let mut running = Self { child, requests, answers: BufReader::new(answers), _folder: folder };
        match running.answer() {
            Some(_) => Ok(running),
            None => Err("Flowcept could not be had here: it did not start".to_owned()),
        }
    }

    fn ask(&mut self, question: &str) -> f64 {
        writeln!(self.requests, "{question}").expect("Flowcept listens");
        self.answer().expect("Flowcept answers with a number")
    }

    fn answer(&mut self) -> Option<f64> {
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // It has nothing to say any more; that it is gone already is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
