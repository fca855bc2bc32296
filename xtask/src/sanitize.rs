//! `cargo xtask sanitize [miri] [thread] [address] [--short]`: the journal under tools that watch every access to memory.
//!
//! They need a nightly compiler with `miri` and `rust-src`; without it this says so and does nothing. The journal's memory
//! is leaked by design, since threads may hold it to their end.

use std::process::Command;

use crate::Outcome;
use crate::cargo::{cargo, target_folder};
use crate::terminal::say;

/// All of them, in the order in which they run.
const TOOLS: &[&str] = &["miri", "thread", "address"];
/// Schedules that the interpreter tries.
const SEEDS: u32 = 64;

/// Runs the tools that are named, or all; the first that finds something ends it.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let is_short = arguments.contains(&"--short");
    let named: Vec<&str> = arguments.iter().copied().filter(|name| *name != "--short").collect();
    if let Some(unknown) = named.iter().find(|name| !TOOLS.contains(*name)) {
        return Err(format!("there is no tool {unknown}; there are {}", TOOLS.join(", ")).into());
    }
    if !Command::new("cargo").args(["+nightly", "miri", "--version"]).output()?.status.success() {
        say("sanitize: skipped, since there is no nightly compiler with miri \
             (rustup component add miri rust-src --toolchain nightly)");
        return Ok(());
    }
    TOOLS.iter().filter(|tool| named.is_empty() || named.contains(*tool)).try_for_each(|tool| {
        say(&format!("sanitize {tool}"));
        let status = if *tool == "miri" { interpret(is_short) } else { instrument(tool) }?.status()?;
        if status.success() { Ok(()) } else { Err(format!("{tool} found something").into()) }
    })
}

/// Interprets the tests of a journal on the heap.
fn interpret(is_short: bool) -> Outcome<Command> {
    let mut command = cargo();
    let seeds = if is_short { String::new() } else { format!(" -Zmiri-many-seeds=0..{SEEDS}") };
    command.env("MIRIFLAGS", format!("-Zmiri-disable-isolation -Zmiri-ignore-leaks{seeds}"));
    command.args([
        "+nightly",
        "miri",
        "test",
        "--package",
        "telemetry-journal",
        "--test",
        "heap",
        "--target-dir",
    ]);
    command.arg(target_folder()?.join("sanitize"));
    Ok(command)
}

/// Builds the journal, its tests and the standard library with a sanitizer, and runs the tests.
fn instrument(tool: &str) -> Outcome<Command> {
    let triple = crate::cargo::host()?;
    let mut command = cargo();
    command.env("CARGO_ENCODED_RUSTFLAGS", format!("-Zsanitizer={tool}"));
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    command.args(["+nightly", "test", "-Zbuild-std", "--target", &triple, "--package", "telemetry-journal"]);
    command
        .args(["--lib", "--test", "heap", "--test", "journal", "--test", "tap", "--target-dir"])
        .arg(target_folder()?.join("sanitize").join(tool));
    Ok(command)
}
