//! The campaign `shuttle`: a lane with its producer, its drain and two taps, in orders that are drawn, run after run.

use serde_json::json;

use super::options::Options;
use super::write_figures;
use crate::Outcome;
use crate::cargo::{cargo, target_folder};
use crate::terminal::say;

/// For each kind of schedules.
const SECONDS: u64 = 600;
const SECONDS_SHORT: u64 = 5;

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let seconds = if options.is_short { SECONDS_SHORT } else { SECONDS };
    let mut command = cargo();
    command.args(["test", "--release", "--package", "telemetry-journal", "--lib", "--target-dir"]);
    // Everything is built anew under this name, and would be again without it.
    command.arg(target_folder()?.join("shuttle")).env("RUSTFLAGS", "--cfg shuttle").arg("model::");
    command.args(["--", "--nocapture"]).env("TELEMETRY_TEST_SECONDS", seconds.to_string());
    say(&format!(
        "torture shuttle: a producer, a drain and two taps at one lane, {seconds} s for each kind of schedules"
    ));
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        return Err(format!("a schedule failed\n{text}").into());
    }
    let drawn = |kind: &str| {
        let lines = text
            .lines()
            .filter_map(|line| line.split_once(&format!("schedules {kind} "))?.1.parse::<u64>().ok());
        lines.sum::<u64>()
    };
    let (random, turns) = (drawn("random"), drawn("turns"));
    let figures = json!({"campaign": "shuttle", "random": random, "turns": turns, "failures": 0});
    let path = write_figures("shuttle", &figures)?;
    say(&format!(
        "torture shuttle: {random} schedules at random and {turns} by turns, 0 failures; figures in {}",
        path.display()
    ));
    if random == 0 || turns == 0 { Err("nothing was drawn".into()) } else { Ok(()) }
}
