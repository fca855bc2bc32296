//! Calls of cargo, and the folders that it uses.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Outcome;

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The folder that cargo builds into.
pub(crate) fn target_folder() -> Outcome<PathBuf> {
    let output = cargo().args(["metadata", "--format-version=1", "--no-deps", "--offline"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    Ok(metadata["target_directory"].as_str().ok_or("cargo names no target folder")?.into())
}

/// Builds the program of a package for release and answers its path.
pub(crate) fn build_program(package: &str) -> Outcome<PathBuf> {
    build(package, &["build", "--release", "--package", package])
}

/// Builds an example that needs a feature for release and answers its path.
pub(crate) fn build_example(example: &str, feature: &str) -> Outcome<PathBuf> {
    build(example, &["build", "--release", "--example", example, "--features", feature])
}

/// Builds a bench of the package and answers its path.
pub(crate) fn build_bench(bench: &str) -> Outcome<PathBuf> {
    build(bench, &["bench", "--no-run", "--package", "telemetry", "--bench", bench])
}

/// Builds the host program with places that can be told to panic, and answers its path.
pub(crate) fn build_with_failpoints() -> Outcome<PathBuf> {
    let package = "telemetry-torture-host";
    build(package, &["build", "--package", package, "--features", "failpoints"])
}

/// Builds the program of a package as the tests do, and answers its path.
pub(crate) fn build_for_tests(package: &str) -> Outcome<PathBuf> {
    build(package, &["build", "--package", package])
}

fn build(what: &str, arguments: &[&str]) -> Outcome<PathBuf> {
    let output = cargo()
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{what} does not build").into());
    }
    let messages = String::from_utf8(output.stdout)?;
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().ok_or_else(|| format!("{what} has no program").into())
}

/// A call of cargo in the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(workspace());
    command
}

/// The target that the compiler builds for.
pub(crate) fn host() -> Outcome<String> {
    let output = Command::new("rustc").args(["--version", "--verbose"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let triple = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(triple.ok_or("rustc names no host")?.to_owned())
}
