//! The peer Flowcept: a Python process beside us that runs a burst of bare tasks when asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::options::Options;

const SCRIPT: &str = include_str!("flowcept_burst.py");

/// What a burst is measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Time,
    Cpu,
}

/// A running Flowcept.
pub(crate) struct Flowcept {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it dumps at its end goes here.
    _folder: TempDir,
}

impl Flowcept {
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        let python = options.python.as_ref().ok_or("Flowcept could not be had here: no Python given")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let script = folder.path().join("burst.py");
        fs::write(&script, SCRIPT).map_err(|error| error.to_string())?;
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
        let mut flowcept = Self { child, requests, answers: BufReader::new(answers), _folder: folder };
        match flowcept.answer() {
            Some(_) => Ok(flowcept),
            None => Err("Flowcept could not be had here: it did not start".to_owned()),
        }
    }

    /// Nanoseconds a bare task.
    pub(crate) fn burst(&mut self, cost: Cost) -> f64 {
        let word = match cost {
            Cost::Time => "time",
            Cost::Cpu => "cpu",
        };
        writeln!(self.requests, "{word}").expect("Flowcept listens");
        self.answer().expect("Flowcept answers with a number")
    }

    fn answer(&mut self) -> Option<f64> {
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }
}

impl Drop for Flowcept {
    fn drop(&mut self) {
        // It has nothing to say any more; that it is gone already is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
