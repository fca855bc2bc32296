//! The check after a kill, by a reader that shares no code with the library.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::round::THREADS;
use super::side_by_side::locked;
use crate::Outcome;

const SCRIPT: &str = include_str!("check.py");

/// What a check found.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    figures: Value,
    /// What is wrong, in words.
    pub(super) failures: Vec<String>,
}

impl Findings {
    /// A figure of the check.
    pub(super) fn figure(&self, name: &str) -> u64 {
        self.figures[name].as_u64().unwrap_or(0)
    }

    /// How many records each recorder left in its journal.
    pub(super) fn recovered(&self) -> Vec<u64> {
        let counts = self.figures["recovered"].as_array();
        counts.into_iter().flatten().filter_map(Value::as_u64).collect()
    }
}

/// Processes of Python that check one folder after the other, as many as are asked at once.
#[derive(Debug)]
pub(super) struct Checkers {
    script: PathBuf,
    idle: Mutex<Vec<Checker>>,
}

impl Checkers {
    pub(super) fn new(folder: &Path) -> Outcome<Self> {
        let script = folder.join("check.py");
        fs::write(&script, SCRIPT)?;
        Ok(Self { script, idle: Mutex::default() })
    }

    /// Compares the database in `folder` with the acknowledgements of `rounds` rounds.
    pub(super) fn check(
        &self,
        folder: &Path,
        told: &[u8],
        rounds: usize,
        is_queue: bool,
    ) -> Outcome<Findings> {
        let ledger = folder.join("ledger");
        fs::write(&ledger, told)?;
        let question = json!({
            "database": folder.join("provenance.db"),
            "ledger": ledger,
            "threads": THREADS * rounds as u64,
            "is_queue": is_queue,
        });
        let idle = locked(&self.idle).pop();
        let mut checker = idle.map_or_else(|| Checker::start(&self.script), Ok)?;
        let answer = checker.ask(&question)?;
        locked(&self.idle).push(checker);
        let failures = answer["failures"].as_array().ok_or("the check says nothing of failures")?;
        let failures =
            failures.iter().map(|failure| failure.as_str().unwrap_or_default().to_owned()).collect();
        Ok(Findings { figures: answer["figures"].clone(), failures })
    }
}

/// A process that answers each line with a line.
#[derive(Debug)]
struct Checker {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Checker {
    fn start(script: &Path) -> Outcome<Self> {
        let mut command = Command::new("python3");
        let mut process = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = process.stdin.take().ok_or("a pipe")?;
        let answers = BufReader::new(process.stdout.take().ok_or("a pipe")?);
        Ok(Self { process, questions, answers })
    }

    fn ask(&mut self, question: &Value) -> Outcome<Value> {
        writeln!(self.questions, "{question}")?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            return Err("the check failed: what it said is above".into());
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
