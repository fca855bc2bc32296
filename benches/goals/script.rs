//! A peer in a process beside us: it says a number when it is ready, and one to every question.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::cores;
use crate::options::Options;

/// A peer that runs.
pub(crate) struct Script {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it writes goes here.
    _folder: TempDir,
}

impl Script {
    /// Starts a script of Python; why not, where it cannot be had.
    pub(crate) fn python(options: &Options, text: &str, argument: &str) -> Result<Self, String> {
        let python = options.python.as_ref().ok_or("not to be had here: no Python packages")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let script = folder.path().join("script.py");
        fs::write(&script, text).map_err(|error| error.to_string())?;
        let mut command = Command::new(python);
        command.arg(script).arg(argument).env("FLOWCEPT_USE_DEFAULT", "true");
        Self::start(command, folder)
    }

    /// Starts one of the peers in Rust; why not, where it cannot be had.
    pub(crate) fn peer(options: &Options, name: &str) -> Result<Self, String> {
        let program = options.peers.as_ref().ok_or("not to be had here: no program of the peers")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.arg(name);
        Self::start(command, folder)
    }

    fn start(mut command: Command, folder: TempDir) -> Result<Self, String> {
        command.current_dir(folder.path()).stderr(Stdio::null());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = cores::everywhere(|| command.spawn());
        let mut child = child.map_err(|error| format!("not to be had here: {error}"))?;
        let (requests, answers) = child.stdin.take().zip(child.stdout.take()).ok_or("it has no pipes")?;
        let mut running = Self { child, requests, answers: BufReader::new(answers), _folder: folder };
        match running.answer() {
            Some(_) => Ok(running),
            None => Err("not to be had here: it did not start".to_owned()),
        }
    }

    pub(crate) fn ask(&mut self, question: &str) -> f64 {
        writeln!(self.requests, "{question}").expect("a peer listens");
        self.answer().expect("a peer answers with a number")
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
