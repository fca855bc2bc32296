//! The peers: those in Rust in a package of their own, those in Python in a virtual environment under `target`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Outcome;
use crate::cargo::{cargo, target_folder, workspace};

/// MLflow's database needs what the second line names.
const PYTHON_PACKAGES: &[&str] =
    &["flowcept[telemetry]==1.0.3", "mlflow-skinny==3.17.2", "sqlalchemy", "alembic"];

/// Builds the program of the peers and answers its path. It has a folder of its own to build into: its packages are
/// resolved apart from ours.
pub(super) fn rust() -> Outcome<PathBuf> {
    let folder = target_folder()?.join("bench-peers");
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--manifest-path"]);
    build.arg(workspace().join("benches/peers/Cargo.toml")).arg("--target-dir").arg(&folder);
    succeed(&mut build)?;
    Ok(folder.join("release/telemetry-bench-peers"))
}

/// A Python that can import the peers, made unless it is there.
pub(super) fn python() -> Outcome<PathBuf> {
    let folder = target_folder()?.join("bench-venv");
    let python = folder.join("bin/python");
    let mark = folder.join("is-complete");
    let peers = PYTHON_PACKAGES.join("\n");
    if fs::read_to_string(&mark).ok().as_ref() != Some(&peers) {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut install = Command::new(&python);
        succeed(install.args(["-m", "pip", "install", "--quiet"]).args(PYTHON_PACKAGES))?;
        fs::write(&mark, peers)?;
    }
    Ok(python)
}

/// Runs a command whose failure is an error.
pub(super) fn succeed(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {status}").into()) }
}
