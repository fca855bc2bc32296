//! `cargo xtask bench [NAME…] [--markdown FILE] [--without-python]`: the goals of performance beside peers.
//!
//! Writes `bench-results.json`. Peers in Python live in a virtual environment under `target`, which is
//! made here; where that fails, the run goes on without them and says so.

mod instructions;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::cargo::{build_program, cargo, workspace};
use crate::terminal::complain;

const RESULTS: &str = "bench-results.json";
const PEERS: &[&str] = &["flowcept[telemetry]==1.0.3"];

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    if let ["instructions", rest @ ..] = arguments {
        return instructions::run(rest);
    }
    let (without_python, rest): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|argument| **argument == "--without-python");
    let mut bench = cargo();
    bench.args(["bench", "--package", "telemetry", "--bench", "goals", "--"]).args(&rest);
    bench.arg("--json").arg(workspace().join(RESULTS));
    if is_wanted("cli", &rest) {
        bench.arg("--program").arg(build_program("telemetry-cli")?);
    }
    if without_python.is_empty() {
        match python(&workspace().join("target/bench-venv")) {
            Ok(python) => {
                bench.arg("--python").arg(python);
            }
            Err(why) => complain(&format!("warning: no peers in Python: {why}")),
        }
    }
    succeed(&mut bench)
}

/// Whether a goal is among those that were named, or none was.
fn is_wanted(name: &str, arguments: &[&str]) -> bool {
    let is_option =
        |index: usize| arguments[index].starts_with('-') || index > 0 && arguments[index - 1] == "--markdown";
    arguments.contains(&name) || (0..arguments.len()).all(is_option)
}

/// A Python that can import the peers, made unless it is there.
fn python(folder: &Path) -> Outcome<PathBuf> {
    let python = folder.join("bin/python");
    let mark = folder.join("is-complete");
    let peers = PEERS.join("\n");
    if fs::read_to_string(&mark).ok().as_ref() != Some(&peers) {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PEERS))?;
        fs::write(&mark, peers)?;
    }
    Ok(python)
}

fn succeed(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {status}").into()) }
}
