//! The campaign `kill`: SIGKILL at random times under load, recovery, and a check against the ledger.
//!
//! Several folders are worked on at once, so that one is killed in while another is checked. Most lie in memory and one in
//! four on the disk: to a kill they are the same, since what a process has written is the kernel's.

mod folder;
mod sum;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Value, json};

use super::check::{Checkers, Findings};
use super::options::Options;
use super::places::Places;
use super::random::Random;
use super::round::Plan;
use super::side_by_side::{Progress, locked, processors, side_by_side};
use super::{own_host, write_figures};
use crate::Outcome;
use crate::terminal::say;
use folder::{KilledIn, complaints, whole};
use sum::Sum;

const KILLS: usize = 200;
const KILLS_SHORT: usize = 100;
const KILLS_PER_FOLDER: usize = 10;
/// Enough to see that losses would be seen.
const CONTROL_KILLS_MAX: usize = 40;
/// What must have been in the journal at the median kill, or the campaign proves little.
const RECOVERED_MEDIAN_MIN: u64 = 1_000;

/// Runs the campaign and its control.
pub(super) fn run(options: &Options) -> Outcome {
    let kills = options.kills.unwrap_or(if options.is_short { KILLS_SHORT } else { KILLS });
    let campaign = Campaign::new(options)?;
    say(&format!("torture kill: {kills} kills, --seed {}", options.seed));
    let begun = Instant::now();
    let control = campaign.control((kills / 5).clamp(3, CONTROL_KILLS_MAX))?;
    let outcome = if options.queue { Ok(()) } else { campaign.run(kills) };
    let sum = locked(&campaign.sum);
    let figures = json!({
        "campaign": "kill",
        "seed": options.seed,
        "seconds": begun.elapsed().as_secs(),
        "journal": sum.figures(),
        "queue": control,
        "failure": outcome.as_ref().err().map(ToString::to_string),
    });
    let path = write_figures("kill", &figures)?;
    say(&format!("torture kill: {}; figures in {}", sum.line(&control), path.display()));
    outcome?;
    fs::remove_dir_all(&campaign.places.disk)?;
    Ok(())
}

struct Campaign {
    options: Options,
    host: PathBuf,
    places: Places,
    checkers: Checkers,
    sum: Mutex<Sum>,
}

impl Campaign {
    fn new(options: &Options) -> Outcome<Self> {
        let places = Places::new("kill")?;
        let host = own_host(&places.disk)?;
        let checkers = Checkers::new(&places.disk)?;
        Ok(Self { options: *options, host, places, checkers, sum: Mutex::default() })
    }

    /// The dice of a part: the same for the same seed, whatever runs beside it.
    fn random(&self, part: usize) -> Random {
        Random::new(Random::new(self.options.seed.wrapping_add(part as u64)).below(u64::MAX))
    }

    fn run(&self, kills: usize) -> Outcome {
        let progress = Progress::new(kills);
        side_by_side(processors() + 1, kills.div_ceil(KILLS_PER_FOLDER), &self.options, |number| {
            let first = number * KILLS_PER_FOLDER;
            self.run_folder(number, first, KILLS_PER_FOLDER.min(kills - first))?;
            let sum = locked(&self.sum);
            progress.tell(sum.kills, &format!("{} accepted, {} lost", sum.accepted, sum.lost));
            Ok(())
        })?;
        if locked(&self.sum).median() <= RECOVERED_MEDIAN_MIN {
            return Err("the journal held too little at the median kill: the load is too light".into());
        }
        Ok(())
    }

    /// Some kills in one folder, and a look for what any of them has lost: what is gone once does not come back.
    fn run_folder(&self, number: usize, first: usize, kills: usize) -> Outcome {
        let run = |folder: &Path| {
            let killed = KilledIn::new(&self.host, folder, self.random(number)).kill(first, kills)?;
            let found = self.checkers.check(folder, &killed.told, kills, false)?;
            let is_on_disk = self.places.is_on_disk(number);
            locked(&self.sum).add(&killed, &found, is_on_disk);
            none_of(&failures(folder, &found)?)
        };
        let ran = self.places.within(number, &format!("kills-{first}"), run);
        ran.map_err(|error| format!("kills from {first} on: {error}").into())
    }

    /// The same kills with a plain queue, which must lose records: the harness can fail.
    fn control(&self, kills: usize) -> Outcome<Value> {
        let all = Mutex::new((0, 0, 0));
        side_by_side(processors() + 1, kills, &self.options, |number| {
            let (accepted, lost) = self
                .places
                .within(number, &format!("queue-{number}"), |folder| self.kill_queue(number, folder))?;
            let mut all = locked(&all);
            *all = (all.0 + 1, all.1 + accepted, all.2 + lost);
            Ok(())
        })?;
        let (kills, accepted, lost) = *locked(&all);
        if lost == 0 {
            return Err("a plain queue lost nothing: the harness does not see losses".into());
        }
        Ok(json!({"kills": kills, "accepted": accepted, "lost": lost}))
    }

    /// Kills one program with a queue; answers what was accepted and what is lost of it.
    fn kill_queue(&self, number: usize, folder: &Path) -> Outcome<(u64, u64)> {
        let plan = Plan::draw(&mut self.random(number)).under_load();
        let command = plan.queued(&self.host, folder);
        let told = whole(plan.run_and_kill(command, folder, complaints(folder)?)?.0);
        let found = self.checkers.check(folder, &told, 1, true)?;
        Ok((
            found.figure("starts") + found.figure("ends"),
            found.figure("lost_starts") + found.figure("lost_ends"),
        ))
    }
}

/// What is wrong in a folder.
fn failures(folder: &Path, found: &Findings) -> Outcome<Vec<String>> {
    let mut failures = found.failures.clone();
    let complaints = fs::read_to_string(folder.join("complaints"))?;
    if !complaints.is_empty() {
        failures.push(format!("the program complained: {complaints}"));
    }
    Ok(failures)
}

fn none_of(failures: &[String]) -> Outcome {
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}
