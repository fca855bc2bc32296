//! `cargo xtask bench instructions [--write]`: the processor's instructions of one recorded call, by callgrind.
//!
//! A count does not depend on what else the machine does, so it can be compared with the one that is committed in
//! `benches/instructions.json`: more than three per cent above it fails. `--write` replaces the committed ones.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use crate::Outcome;
use crate::cargo::{build_program, workspace};
use crate::terminal::say;

/// How the function is called: without a recorder, and at each level that costs something else.
const WAYS: &[&str] = &["disabled", "lightweight", "data", "full"];
/// The difference of two runs leaves out what does not depend on the number of calls.
const CALLS: [u32; 2] = [200, 600];
const TOLERANCE: f64 = 1.03;

pub(super) fn run(arguments: &[&str]) -> Outcome {
    let is_writing = match arguments {
        [] => false,
        ["--write"] => true,
        _ => return Err("bench instructions takes nothing but --write".into()),
    };
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err("valgrind is missing\nhint: apt-get install valgrind".into());
    }
    let host = build_program("telemetry-torture-host")?;
    let counts = WAYS.iter().map(|way| Ok((*way, count(&host, way)?))).collect::<Outcome<Vec<_>>>()?;
    if is_writing { write(&counts) } else { compare(&counts) }
}

/// Instructions of one call.
fn count(host: &Path, way: &str) -> Outcome<f64> {
    let [few, many] = [collected(host, way, CALLS[0])?, collected(host, way, CALLS[1])?];
    Ok((many - few) / f64::from(CALLS[1] - CALLS[0]))
}

fn collected(host: &Path, way: &str, calls: u32) -> Outcome<f64> {
    let folder = tempfile::tempdir()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted_calls*")
        .arg(host)
        .args(["calls", way, &calls.to_string()])
        .current_dir(folder.path())
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = count.ok_or_else(|| format!("callgrind counts nothing:\n{text}"))?;
    Ok(count.trim().replace(',', "").parse()?)
}

fn baseline() -> PathBuf {
    workspace().join("benches/instructions.json")
}

fn write(counts: &[(&str, f64)]) -> Outcome {
    let counts: Map<String, Value> =
        counts.iter().map(|(way, count)| ((*way).to_owned(), Value::from(count.round()))).collect();
    std::fs::write(baseline(), format!("{:#}\n", Value::from(counts)))?;
    say(&format!("written to {}", baseline().display()));
    Ok(())
}

fn compare(counts: &[(&str, f64)]) -> Outcome {
    let committed: Value = serde_json::from_slice(&std::fs::read(baseline())?)?;
    let mut more = Vec::new();
    for (way, count) in counts {
        let before = committed[way].as_f64().ok_or_else(|| format!("no count of {way} is committed"))?;
        say(&format!("{way}: {count:.0} instructions a call, {before:.0} committed"));
        if *count > before * TOLERANCE {
            more.push(*way);
        }
    }
    match more.as_slice() {
        [] => Ok(()),
        more => Err(format!(
            "more instructions than before: {}\nhint: if that is meant, cargo xtask bench instructions --write",
            more.join(", ")
        )
        .into()),
    }
}
