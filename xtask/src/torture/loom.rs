//! The campaign `loom`: a lane with its producer, its drain and a tap, in every order that the memory model
//! allows. The short form allows a thread to be interrupted once.

use super::options::Options;
use crate::Outcome;
use crate::cargo::{cargo, target_folder};
use crate::terminal::say;

const PREEMPTIONS_SHORT: &str = "1";

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let mut command = cargo();
    command.args(["test", "--release", "--package", "telemetry-journal", "--lib", "--target-dir"]);
    // Everything is built anew under this name, and would be again without it.
    command.arg(target_folder()?.join("loom")).env("RUSTFLAGS", "--cfg loom").arg("model::");
    if options.is_short {
        command.env("LOOM_MAX_PREEMPTIONS", PREEMPTIONS_SHORT);
    }
    say("torture loom: a producer, a drain and a tap at one lane");
    if command.status()?.success() { Ok(()) } else { Err("the model of a lane failed".into()) }
}
