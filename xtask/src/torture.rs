//! Campaigns of faults: each prints its seed, writes a file of figures and fails if anything was lost.

mod check;
mod copies;
mod crowd;
mod damage;
mod ends;
mod failpoints;
mod fork;
mod ids;
mod kill;
mod loom;
mod options;
mod places;
mod power;
mod random;
mod recovery;
mod round;
mod sampling;
mod session;
mod shuttle;
mod side_by_side;
mod snapshots;
mod sql;
mod syscalls;
mod tap;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Outcome;
use crate::cargo::{build_program, target_folder};
use options::Options;

/// Runs the campaign that the arguments name.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let Some((campaign, rest)) = arguments.split_first() else { return Err(crate::USAGE.into()) };
    let options = Options::parse(rest)?;
    match *campaign {
        "copies" => copies::run(&options),
        "crowd" => crowd::run(&options),
        "damage" => damage::run(&options),
        "ends" => ends::run(&options),
        "failpoints" => failpoints::run(&options),
        "fork" => fork::run(&options),
        "kill" => kill::run(&options),
        "ids" => ids::run(&options),
        "power" => power::run(&options),
        "loom" => loom::run(&options),
        "sampling" => sampling::run(&options),
        "session" => session::run(&options),
        "shuttle" => shuttle::run(&options),
        "snapshots" => snapshots::run(&options),
        "sql" => sql::run(&options),
        "syscalls" => syscalls::run(&options),
        "tap" => tap::run(&options),
        other => Err(format!("there is no campaign {other}\n\n{}", crate::USAGE).into()),
    }
}

/// The folder of a campaign, empty.
fn empty_folder(campaign: &str) -> Outcome<PathBuf> {
    let folder = target_folder()?.join("torture").join(campaign);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The host program, copied to the campaign's folder: a build that comes later does not change it while it runs.
fn own_host(folder: &Path) -> Outcome<PathBuf> {
    let own = folder.join("host");
    fs::copy(build_program("telemetry-torture-host")?, &own)?;
    Ok(own)
}

/// Writes the figures of a campaign beside its folder and answers where.
fn write_figures(campaign: &str, figures: &Value) -> Outcome<PathBuf> {
    let folder = target_folder()?.join("torture");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{campaign}.json"));
    fs::write(&path, format!("{figures:#}\n"))?;
    Ok(path)
}
