//! The campaign `snapshots`: a million of them, and not one descriptor more than at the beginning.

use std::process::Stdio;
use std::time::Instant;

use serde_json::json;

use super::options::Options;
use super::write_figures;
use crate::Outcome;
use crate::cargo::cargo;
use crate::terminal::say;

const SNAPSHOTS: u64 = 1_000_000;
const SNAPSHOTS_SHORT: u64 = 50_000;

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let wanted = if options.is_short { SNAPSHOTS_SHORT } else { SNAPSHOTS };
    say(&format!("torture snapshots: {wanted} with all host types, none of them shared"));
    let begun = Instant::now();
    let output = cargo()
        .args([
            "run",
            "--release",
            "--quiet",
            "--package",
            "telemetry-sensors",
            "--example",
            "descriptors",
            "--",
        ])
        .arg(wanted.to_string())
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    let [taken, before, after] = numbers[..] else { return Err("the program says nothing".into()) };
    let figures = json!({
        "campaign": "snapshots",
        "snapshots": taken,
        "descriptors_before": before,
        "descriptors_after": after,
        "seconds": begun.elapsed().as_secs(),
    });
    let path = write_figures("snapshots", &figures)?;
    let line = format!("{taken} snapshots, {before} descriptors before, {after} after");
    say(&format!("torture snapshots: {line}; figures in {}", path.display()));
    if taken == wanted && before == after { Ok(()) } else { Err("descriptors must stay the same".into()) }
}
