//! `cargo xtask bench [NAME…] [--markdown FILE] [--without-python]`: the goals of performance beside peers.
//!
//! Writes `bench-results.json`. Peers in Python live in a virtual environment under `target`, which is
//! made here; where that fails, the run goes on without them and says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::terminal::complain;

const RESULTS: &str = "bench-results.json";
const PEERS: &[&str] = &["flowcept==1.0.3"];

pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let root = root();
    let (without_python, rest): (Vec<_>, Vec<_>) =
        arguments.partition(|argument| argument == "--without-python");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&root).args(["bench", "--package", "telemetry", "--bench", "goals", "--"]);
    cargo.args(rest).arg("--json").arg(root.join(RESULTS));
    if without_python.is_empty() {
        match python(&root.join("target/bench-venv")) {
            Ok(python) => {
                cargo.arg("--python").arg(python);
            }
            Err(why) => complain(&format!("no peers in Python: {why}")),
        }
    }
    succeed(&mut cargo)
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// A Python that can import the peers, made unless it is there.
fn python(folder: &Path) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    let is_made = folder.join("made");
    if !is_made.exists() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PEERS))?;
        std::fs::write(&is_made, "").map_err(|error| format!("{}: {error}", is_made.display()))?;
    }
    Ok(python)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {status}")) }
}
