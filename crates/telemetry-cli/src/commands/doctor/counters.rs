//! The law: offered = persisted + pending + dropped + torn, for every recorder.

use std::path::Path;

use serde::Serialize;
use telemetry_store::{HealthRow, Reader};

use super::check::Check;
use super::journals::Journals;
use crate::ink::Ink;
use crate::table::{self, Side};
use crate::text::{count, visible};

const SHOWN_MAX: usize = 20;

/// The counters of a recorder, and whether they add up.
#[derive(Debug, Serialize)]
pub(super) struct Recorder {
    #[serde(flatten)]
    health: HealthRow,
    /// Whether its journal is there, in which pending records are.
    has_journal: bool,
    law_holds: bool,
}

/// The newest first.
pub(super) fn read(database: &Path, journals: &Journals) -> Vec<Recorder> {
    let health = Reader::open(database).and_then(|reader| reader.health()).unwrap_or_default();
    let judge = |health: HealthRow| {
        let has_journal = journals.has(&health.recorder);
        // What is neither committed nor dropped nor torn must be in a journal.
        let law_holds = unaccounted(&health) == 0 && (health.pending == 0 || has_journal);
        Recorder { health, has_journal, law_holds }
    };
    health.into_iter().rev().map(judge).collect()
}

pub(super) fn checks(recorders: &[Recorder]) -> Vec<Check> {
    let mut checks = vec![law(recorders)];
    let full: i64 = recorders.iter().map(|recorder| recorder.health.dropped_full).sum();
    if full > 0 {
        let remedy = "raise journal.lane_bytes, or capture less: capture.rules, capture.default_level";
        checks.push(Check::warn(
            "dropped",
            format!("{} did not fit into a full lane", count(full, "record")),
            remedy,
        ));
    }
    let oversize: i64 = recorders.iter().map(|recorder| recorder.health.dropped_oversize).sum();
    if oversize > 0 {
        let remedy = "lower capture.record_bytes_max, or make room for spill files beside the journal";
        checks.push(Check::warn("dropped", format!("{} were too large", count(oversize, "record")), remedy));
    }
    let warnings = recorders.iter().filter_map(|recorder| recorder.health.warnings.as_deref());
    let warnings: Vec<&str> = warnings.filter(|warnings| !warnings.is_empty()).collect();
    if !warnings.is_empty() {
        let remedy = "telemetry doctor --json says which process warned";
        checks.push(Check::warn("warnings", warnings.join("\n"), remedy));
    }
    checks
}

fn law(recorders: &[Recorder]) -> Check {
    let broken: Vec<String> =
        recorders.iter().filter(|recorder| !recorder.law_holds).map(complaint).collect();
    if !broken.is_empty() {
        let remedy = "look for the journal: journal.dir in the settings, or telemetry recover DIR";
        return Check::fail("counters", broken.join("\n"), remedy);
    }
    let sum = |counter: fn(&HealthRow) -> i64| -> i64 {
        recorders.iter().map(|recorder| counter(&recorder.health)).sum()
    };
    let (offered, persisted) = (sum(|row| row.offered), sum(|row| row.persisted));
    Check::ok(
        "counters",
        format!(
            "{} offered = {persisted} persisted + {} pending + {} dropped + {} torn, by {}",
            count(offered, "record"),
            sum(|row| row.pending),
            sum(dropped),
            sum(|row| row.torn),
            count(recorders.len(), "recorder"),
        ),
    )
}

fn complaint(recorder: &Recorder) -> String {
    let HealthRow { recorder: id, pending, pid, .. } = &recorder.health;
    let process = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
    let what = match unaccounted(&recorder.health) {
        0 => format!("has {} in a journal that is not there", count(*pending, "record")),
        missing if missing > 0 => format!("has {} without a verdict", count(missing, "record")),
        excess => format!("accounts for {} more than it was offered", count(-excess, "record")),
    };
    format!("recorder {id}{process} {what}")
}

/// What breaks the law: records that were offered and are neither persisted, pending, dropped nor torn.
fn unaccounted(health: &HealthRow) -> i64 {
    health.offered - health.persisted - health.pending - dropped(health) - health.torn
}

fn dropped(row: &HealthRow) -> i64 {
    row.dropped_full + row.dropped_oversize + row.dropped_nested + row.dropped_stopped
}

/// The recorders of which something else is to be said than that all is well.
pub(super) fn table(recorders: &[Recorder], ink: Ink, width: Option<usize>) -> String {
    let is_odd = |recorder: &&Recorder| {
        recorder.health.offered != recorder.health.persisted || recorder.health.recovered > 0
    };
    let odd: Vec<&Recorder> = recorders.iter().filter(is_odd).take(SHOWN_MAX).collect();
    if odd.is_empty() {
        return String::new();
    }
    let names = ["recorder", "process", "offered", "persisted", "pending", "dropped", "torn", "recovered"];
    let side = |index: usize| if index == 0 { Side::Left } else { Side::Right };
    let columns: Vec<(String, Side)> =
        names.iter().enumerate().map(|(index, name)| (ink.dim(name), side(index))).collect();
    let rows = odd.into_iter().map(|Recorder { health, law_holds, .. }| {
        let name = visible(&health.recorder);
        let numbers = [
            health.offered,
            health.persisted,
            health.pending,
            dropped(health),
            health.torn,
            health.recovered,
        ];
        let mut cells = vec![if *law_holds { name } else { ink.bad(&name) }];
        cells.push(health.pid.map(|pid| pid.to_string()).unwrap_or_default());
        cells.extend(numbers.map(|number| number.to_string()));
        cells
    });
    format!("\n{}", table::plain(&columns, rows.collect(), width))
}
