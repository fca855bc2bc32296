//! The campaign `failpoints`: code of ours panics at each of its places, once and each time.
//!
//! A run lists the places that it reaches. Then the same program runs with a panic at each of them, in a folder where a
//! process that was killed has left its journal. What it prints and its exit code must be those of the program
//! without a recorder, and after a recovery everything that was accepted must be there: the counters add up, nothing is
//! pending, and what the dead process had left is whole. Where the panic is in a thread of ours, nothing may be missing
//! at all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde_json::json;

use super::options::Options;
use super::recovery::recover;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::build_with_failpoints;
use crate::terminal::say;

/// A run that takes longer hangs.
const SECONDS_MAX: &str = "60";
/// What the process that was killed had done.
const TASKS_LEFT: u64 = 240;
/// Code that runs on the host's threads: a panic there may cost the record that it was about.
const ON_HOSTS_THREADS: &[&str] = &[
    "telemetry-core/",
    "telemetry-journal/src/journal.rs",
    "telemetry-journal/src/spill.rs",
    "src/recorder.rs",
    "src/fork.rs",
];

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let folder = empty_folder("failpoints")?;
    let host = folder.join("host");
    fs::copy(build_with_failpoints()?, &host)?;
    let campaign = Campaign { host, folder };
    let begun = Instant::now();
    let bare = campaign.bare()?;
    let (sites, whole) = campaign.list(&bare)?;
    let how: &[&str] = if options.is_short { &["--once"] } else { &["--once", "--always"] };
    say(&format!("torture failpoints: {} places × {how:?}", sites.len()));
    let mut runs = 0;
    for (site, how) in sites.iter().flat_map(|site| how.iter().map(move |how| (site, *how))) {
        campaign.fail(site, how, &bare, whole).map_err(|error| format!("{how} {site}: {error}"))?;
        runs += 1;
    }
    let figures = json!({
        "campaign": "failpoints",
        "places": sites,
        "runs": runs,
        "tasks_and_events_of_a_run": whole,
        "lost": 0,
        "seconds": begun.elapsed().as_secs(),
    });
    let path = write_figures("failpoints", &figures)?;
    say(&format!(
        "torture failpoints: {} places, {runs} runs, each ended as without a recorder, 0 accepted lost; figures in {}",
        sites.len(),
        path.display()
    ));
    fs::remove_dir_all(&campaign.folder)?;
    Ok(())
}

struct Campaign {
    host: PathBuf,
    folder: PathBuf,
}

impl Campaign {
    /// What the program prints without a recorder.
    fn bare(&self) -> Outcome<Output> {
        let place = self.place(false)?;
        let output = self.command(&place).env("TELEMETRY_INSTRUMENTATION__ENABLED", "false").output()?;
        let is_good =
            output.status.code() == Some(7) && output.stderr.is_empty() && !output.stdout.is_empty();
        if is_good { Ok(output) } else { Err(format!("without a recorder: {output:?}").into()) }
    }

    /// The places that a run reaches, and how many tasks and events it records.
    fn list(&self, bare: &Output) -> Outcome<(BTreeSet<String>, u64)> {
        let place = self.place(true)?;
        let list = self.folder.join("places");
        let output = self.command(&place).arg("--list").arg(&list).output()?;
        same(&output, bare)?;
        let whole = self.check(&place)?;
        Ok((fs::read_to_string(list)?.lines().map(str::to_owned).collect(), whole))
    }

    /// One run with a panic.
    fn fail(&self, site: &str, how: &str, bare: &Output, whole: u64) -> Outcome {
        let place = self.place(true)?;
        let output = self.command(&place).args([how, site]).output()?;
        same(&output, bare)?;
        let told = String::from_utf8_lossy(&output.stderr);
        if !told.contains(&format!("failpoint {site}")) {
            return Err("the place was not reached".into());
        }
        let recorded = self.check(&place).map_err(|error| format!("{error}\n{told}"))?;
        let may_miss = ON_HOSTS_THREADS.iter().any(|path| site.contains(path));
        if recorded != whole && !may_miss {
            return Err(format!("{recorded} tasks and events of {whole}\n{told}").into());
        }
        Ok(())
    }

    /// A new folder, in which a process that was killed has left its journal.
    fn place(&self, is_left: bool) -> Outcome<PathBuf> {
        let place = self.folder.join("run");
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::create_dir_all(&place)?;
        if is_left {
            let mut dead = self.prepared(&place);
            // Nothing is written before it ends, so that all of it is left.
            dead.env("TELEMETRY_JOURNAL__DRAIN", "external").args(["work", "--end", "abort"]).status()?;
        }
        Ok(place)
    }

    fn command(&self, place: &Path) -> Command {
        let mut command = self.prepared(place);
        command.arg("everything").stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn prepared(&self, place: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", SECONDS_MAX]).arg(&self.host).current_dir(place);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("TELEMETRY_STORE__PATH", place.join("provenance.db"));
        command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "full");
        command.env("TELEMETRY_JOURNAL__LANE_BYTES", "65536").env("RUST_BACKTRACE", "0");
        command.env("TELEMETRY_JOURNAL__DRAIN_INTERVAL_MS", "5");
        command.env("TELEMETRY_TELEMETRY_CAPTURE__SAMPLE_EVERY_MS", "10");
        command
    }

    /// Recovers, and looks for what is missing; answers how many tasks that have ended and events there are.
    fn check(&self, place: &Path) -> Outcome<u64> {
        recover(&self.host, place)?;
        let query = "select (select count(*) from tasks where activity_id in ('small', 'large')
                and workflow_id in (select workflow_id from workflows where name = 'work') and status = 'FINISHED'),
            (select count(*) from health where offered <> persisted + dropped_full + dropped_oversize
                + dropped_nested + dropped_stopped + torn or pending <> 0),
            (select count(*) from tasks where ended_at is not null) + (select count(*) from events),
            (select count(*) from unreadable),
            (select count(*) - count(distinct task_id) from tasks);
            pragma integrity_check";
        let output =
            Command::new("sqlite3").arg("-readonly").arg(place.join("provenance.db")).arg(query).output()?;
        let text = String::from_utf8(output.stdout)?;
        let numbers = text.strip_suffix("\nok\n").unwrap_or_default().split('|').map(str::parse);
        match numbers.collect::<Result<Vec<u64>, _>>().as_deref() {
            Ok(&[left, 0, ended, 0, 0]) if left == TASKS_LEFT => Ok(ended),
            _ => Err(format!(
                "the database says {text}{}; the evidence is in {}",
                String::from_utf8_lossy(&output.stderr),
                place.display()
            )
            .into()),
        }
    }
}

/// What the host prints and how it ends must not change.
fn same(output: &Output, bare: &Output) -> Outcome {
    if output.stdout == bare.stdout && output.status == bare.status {
        return Ok(());
    }
    Err(format!("the host ended otherwise: {output:?}").into())
}
