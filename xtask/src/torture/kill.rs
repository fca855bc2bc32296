//! The campaign `kill`: SIGKILL at random times under load, recovery, and a check against the ledger.
//!
//! Up to four programs record into a folder at once, and several rounds share it, so that databases grow and
//! journals pile up. After a round the folder is recovered by hand, or by hand after a recovery that was killed too, or
//! by the next start.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::check::{Findings, check};
use super::options::Options;
use super::random::Random;
use super::round::{Doing, Plan};
use super::{empty_folder, own_host, write_figures};
use crate::Outcome;
use crate::terminal::say;

const KILLS: usize = 200;
const KILLS_SHORT: usize = 100;
const KILLS_PER_FOLDER: usize = 10;
/// Enough to see that losses would be seen.
const CONTROL_KILLS_MAX: usize = 40;
/// Programs at once.
const PROCESSES_MAX: usize = 4;
/// What must have been in the journal at the median kill, or the campaign proves little.
const RECOVERED_MEDIAN_MIN: u64 = 1_000;

/// Runs the campaign and its control.
pub(super) fn run(options: &Options) -> Outcome {
    let kills = options.kills.unwrap_or(if options.is_short { KILLS_SHORT } else { KILLS });
    let folder = empty_folder("kill")?;
    let host = own_host(&folder)?;
    say(&format!("torture kill: {kills} kills, --seed {}", options.seed));
    let begun = Instant::now();
    let mut campaign = Campaign { host, folder, random: Random::new(options.seed), sum: Sum::default() };
    let control = campaign.control((kills / 5).clamp(3, CONTROL_KILLS_MAX))?;
    let outcome = if options.queue { Ok(()) } else { campaign.run(kills, options) };
    let figures = json!({
        "campaign": "kill",
        "seed": options.seed,
        "seconds": begun.elapsed().as_secs(),
        "journal": campaign.sum.figures(),
        "queue": control,
        "failure": outcome.as_ref().err().map(ToString::to_string),
    });
    let path = write_figures("kill", &figures)?;
    say(&format!("torture kill: {}; figures in {}", campaign.sum.line(&control), path.display()));
    outcome?;
    fs::remove_dir_all(&campaign.folder)?;
    Ok(())
}

struct Campaign {
    host: PathBuf,
    folder: PathBuf,
    random: Random,
    sum: Sum,
}

impl Campaign {
    fn run(&mut self, kills: usize, options: &Options) -> Outcome {
        for first in (0..kills).step_by(KILLS_PER_FOLDER).take_while(|_| !options.is_over()) {
            self.run_folder(first, KILLS_PER_FOLDER.min(kills - first))?;
        }
        if self.sum.median() <= RECOVERED_MEDIAN_MIN {
            return Err("the journal held too little at the median kill: the load is too light".into());
        }
        Ok(())
    }

    /// Some kills in one folder.
    fn run_folder(&mut self, first: usize, kills: usize) -> Outcome {
        let folder = self.new_folder(&format!("kills-{first}"))?;
        let mut told = Vec::new();
        let mut kill = 0;
        while kill < kills {
            let processes = (1 + self.random.below(PROCESSES_MAX as u64) as usize).min(kills - kill);
            let plans: Vec<Plan> = (0..processes).map(|_| Plan::draw(&mut self.random)).collect();
            kill += processes;
            let fail = |what: &str| format!("kill {} ({plans:?}): {what}", first + kill);
            for (ledger, doing) in self.kill_at_once(&plans, &folder)? {
                told.extend(whole(ledger));
                self.sum.note(doing);
            }
            if kill < kills && self.random.one_in(4) {
                // The next start finds this journal.
                continue;
            }
            if self.random.one_in(4) {
                self.kill_recovery(&folder)?;
            }
            recover(&self.host, &folder).map_err(|error| fail(&error.to_string()))?;
        }
        self.check_folder(&folder, &told, kills)
            .map_err(|error| format!("kills from {first} on: {error}"))?;
        fs::remove_dir_all(folder)?;
        Ok(())
    }

    /// Looks for what any of the kills in a folder has lost: what is gone once does not come back.
    fn check_folder(&mut self, folder: &Path, told: &[u8], kills: usize) -> Outcome {
        let found = check(folder, told, kills, false)?;
        self.sum.add(kills, &found);
        if let Some(failure) = failure(folder, &found)? {
            return Err(failure.into());
        }
        say(&format!("  {} kills: {} accepted, 0 lost", self.sum.kills, self.sum.accepted));
        Ok(())
    }

    /// Starts these programs together and kills each at its time.
    fn kill_at_once(&self, plans: &[Plan], folder: &Path) -> Outcome<Vec<(Vec<u8>, Doing)>> {
        let kill = |plan: &Plan| {
            let complaints = complaints(folder).map_err(|error| error.to_string())?;
            let command = plan.recorded(&self.host, folder);
            plan.run_and_kill(command, folder, complaints).map_err(|error| error.to_string())
        };
        thread::scope(|scope| {
            let running: Vec<_> = plans.iter().map(|plan| scope.spawn(move || kill(plan))).collect();
            let killed = running
                .into_iter()
                .map(|program| program.join().map_err(|_| "a thread panicked".to_owned())?);
            Ok(killed.collect::<Result<Vec<_>, String>>()?)
        })
    }

    /// Starts a recovery and kills it, too.
    fn kill_recovery(&mut self, folder: &Path) -> Outcome {
        let mut recovery = recovery(&self.host, folder).stdout(Stdio::null()).spawn()?;
        thread::sleep(Duration::from_micros(self.random.below(60_000)));
        recovery.kill()?;
        if !recovery.wait()?.success() {
            self.sum.recoveries_killed += 1;
        }
        Ok(())
    }

    /// The same kills with a plain queue, which must lose records: the harness can fail.
    fn control(&mut self, kills: usize) -> Outcome<Value> {
        let (mut accepted, mut lost) = (0, 0);
        for kill in 0..kills {
            let folder = self.new_folder(&format!("queue-{kill}"))?;
            let plan = Plan::draw(&mut self.random).under_load();
            let command = plan.queued(&self.host, &folder);
            let told = whole(plan.run_and_kill(command, &folder, complaints(&folder)?)?.0);
            let found = check(&folder, &told, 1, true)?;
            accepted += found.figure("starts") + found.figure("ends");
            lost += found.figure("lost_starts") + found.figure("lost_ends");
            fs::remove_dir_all(folder)?;
        }
        if lost == 0 {
            return Err("a plain queue lost nothing: the harness does not see losses".into());
        }
        Ok(json!({"kills": kills, "accepted": accepted, "lost": lost}))
    }

    fn new_folder(&self, name: &str) -> Outcome<PathBuf> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// What is wrong, and where the evidence lies.
fn failure(folder: &Path, found: &Findings) -> Outcome<Option<String>> {
    let mut failures = found.failures.clone();
    let complaints = fs::read_to_string(folder.join("complaints"))?;
    if !complaints.is_empty() {
        failures.push(format!("the program complained: {complaints}"));
    }
    let evidence = || format!("{}\nthe evidence is in {}", failures.join("\n"), folder.display());
    Ok((!failures.is_empty()).then(evidence))
}

/// Whole acknowledgements.
fn whole(mut told: Vec<u8>) -> Vec<u8> {
    told.truncate(told.len() / 24 * 24);
    told
}

fn complaints(folder: &Path) -> std::io::Result<File> {
    File::options().create(true).append(true).open(folder.join("complaints"))
}

fn recovery(host: &Path, folder: &Path) -> Command {
    let mut command = Command::new(host);
    command.arg("recover").arg(folder);
    command
}

/// Recovers; nothing may be left in the folder, and nothing may be strange.
pub(super) fn recover(host: &Path, folder: &Path) -> Outcome {
    let output = recovery(host, folder).output()?;
    if !output.status.success() {
        return Err(format!("recovery failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    if answer["left_alone"] != 0 || answer["warnings"] != json!([]) {
        return Err(format!("recovery says {answer}").into());
    }
    let left = files_left(&folder.join("journal"))?;
    if left.is_empty() { Ok(()) } else { Err(format!("recovery leaves {left:?}").into()) }
}

/// What is left of the journals; not the files that were about to become one, which a recovery cannot
/// tell from those of a program that starts.
fn files_left(folder: &Path) -> Outcome<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Outcome<Vec<_>>>()?;
    Ok(files.into_iter().filter(|path| path.extension().is_none_or(|extension| extension != "new")).collect())
}

/// The figures of all kills so far.
#[derive(Debug, Default)]
struct Sum {
    kills: usize,
    accepted: u64,
    lost: u64,
    duplicates: u64,
    integrity_errors: u64,
    interrupted: u64,
    torn: u64,
    recoveries_killed: usize,
    in_start: usize,
    in_commit: usize,
    with_spill: usize,
    in_hand_over: usize,
    /// Of each kill, the records that came out of the journal.
    recovered: Vec<u64>,
}

impl Sum {
    fn note(&mut self, doing: Doing) {
        self.in_start += usize::from(doing.start);
        self.in_commit += usize::from(doing.commit);
        self.with_spill += usize::from(doing.spill);
        self.in_hand_over += usize::from(doing.hand_over);
    }

    fn add(&mut self, kills: usize, found: &Findings) {
        self.kills += kills;
        self.accepted += found.figure("starts") + found.figure("ends");
        self.lost += found.figure("lost_starts") + found.figure("lost_ends");
        self.duplicates += found.figure("duplicates");
        self.integrity_errors += found.figure("integrity_errors");
        self.interrupted += found.figure("interrupted");
        self.torn += found.figure("torn");
        self.recovered.extend(found.recovered());
        // A program that was killed before it recorded has no recorder.
        self.recovered.resize(self.kills, 0);
        self.recovered.sort_unstable();
    }

    fn median(&self) -> u64 {
        self.recovered.get(self.recovered.len() / 2).copied().unwrap_or(0)
    }

    fn figures(&self) -> Value {
        json!({
            "kills": self.kills,
            "recoveries_killed": self.recoveries_killed,
            "kills_in_start": self.in_start,
            "kills_in_commit": self.in_commit,
            "kills_with_spill": self.with_spill,
            "kills_in_hand_over": self.in_hand_over,
            "accepted": self.accepted,
            "lost": self.lost,
            "duplicates": self.duplicates,
            "integrity_errors": self.integrity_errors,
            "interrupted_tasks": self.interrupted,
            "torn": self.torn,
            "recovered_sum": self.recovered.iter().sum::<u64>(),
            "recovered_min": self.recovered.first(),
            "recovered_median": self.median(),
            "recovered_max": self.recovered.last(),
        })
    }

    fn line(&self, control: &Value) -> String {
        format!(
            "{} kills ({} in a commit, {} with spilled records, {} in a hand-over of lanes, {} in a start) and {} of \
             recoveries, {} accepted, {} lost, {} duplicates, {} integrity errors, {} recovered at \
             the median kill; a plain queue lost {} of {} in {} kills",
            self.kills,
            self.in_commit,
            self.with_spill,
            self.in_hand_over,
            self.in_start,
            self.recoveries_killed,
            self.accepted,
            self.lost,
            self.duplicates,
            self.integrity_errors,
            self.median(),
            control["lost"],
            control["accepted"],
            control["kills"],
        )
    }
}
