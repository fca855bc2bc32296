//! The check after a kill, by a reader that shares no code with the library.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::round::THREADS;
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

/// Compares the database in `folder` with the acknowledgements of `rounds` rounds.
pub(super) fn check(folder: &Path, told: &[u8], rounds: usize, is_queue: bool) -> Outcome<Findings> {
    let (script, ledger) = (folder.join("check.py"), folder.join("ledger"));
    fs::write(&script, SCRIPT)?;
    fs::write(&ledger, told)?;
    let mut command = Command::new("python3");
    command.arg(&script).arg(folder.join("provenance.db")).arg(&ledger);
    command.arg((THREADS * rounds as u64).to_string()).args(is_queue.then_some("queue"));
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("the check failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let failures = answer["failures"].as_array().into_iter().flatten();
    let failures = failures.filter_map(|failure| failure.as_str().map(str::to_owned)).collect();
    Ok(Findings { figures: answer["figures"].clone(), failures })
}
