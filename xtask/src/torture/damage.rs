//! The campaign `damage`: bits flipped, files cut, filled with garbage and turned round, and then recovered.
//!
//! What a program left that aborted in the middle of its work, database, log, journal and spill files, is damaged in one
//! place, opened and recovered, in memory-backed files, case after case within one process: a panic, a signal or a
//! file that does not become usable again fails the campaign.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::options::Options;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::build_program;
use crate::terminal::say;

const CASES: usize = 100_000;
const CASES_SHORT: usize = 2_000;

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let cases = options.cases.unwrap_or(if options.is_short { CASES_SHORT } else { CASES });
    let host = build_program("telemetry-torture-host")?;
    let folder = empty_folder("damage")?;
    say(&format!("torture damage: {cases} cases, --seed {}", options.seed));
    let begun = Instant::now();
    let template = template(&host, &folder)?;
    let scratch = scratch(&folder)?;
    let mut program = Command::new(&host);
    program.arg("damage").arg(&template).arg(&scratch).args([cases.to_string(), options.seed.to_string()]);
    let output = program.stderr(Stdio::inherit()).output()?;
    let outcome = if output.status.success() {
        Ok(serde_json::from_slice::<Value>(&output.stdout)?)
    } else {
        Err(format!("the recovery ended with {}; the files are in {}", output.status, scratch.display()))
    };
    let figures = json!({
        "campaign": "damage",
        "seed": options.seed,
        "seconds": begun.elapsed().as_secs(),
        "found": outcome.as_ref().ok(),
        "failure": outcome.as_ref().err(),
    });
    let path = write_figures("damage", &figures)?;
    let found = outcome?;
    fs::remove_dir_all(scratch)?;
    say(&format!(
        "torture damage: {cases} cases, 0 panics, {}; figures in {}",
        found["outcomes"],
        path.display()
    ));
    Ok(())
}

/// What a program left that aborted: a database with a log, a journal with records in it, and spill files.
fn template(host: &Path, folder: &Path) -> Outcome<PathBuf> {
    let status = Command::new(host)
        .args(["work", "--end", "inside"])
        .current_dir(folder)
        .env("TELEMETRY_STORE__PATH", folder.join("store/provenance.db"))
        .env("TELEMETRY_JOURNAL__LANE_BYTES", "16384")
        .env("TELEMETRY_JOURNAL__LANES_MAX", "2")
        .env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data")
        .env("TELEMETRY_JOURNAL__DRAIN_INTERVAL_MS", "25")
        .stdout(Stdio::null())
        .status()?;
    let store = folder.join("store");
    let is_good =
        !status.success() && store.join("provenance.db-wal").exists() && store.join("journal").exists();
    if is_good { Ok(store) } else { Err(format!("the program ended with {status} and left no work").into()) }
}

/// A folder in memory, if there is one: a case takes a tenth of the time there.
fn scratch(folder: &Path) -> Outcome<PathBuf> {
    let memory = Path::new("/dev/shm");
    let name = format!("telemetry-damage-{}", std::process::id());
    let scratch = if memory.is_dir() { memory.join(name) } else { folder.join("scratch") };
    fs::create_dir_all(&scratch)?;
    Ok(scratch)
}
