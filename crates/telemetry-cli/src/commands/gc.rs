//! `telemetry gc`: old workflows go, and their space with them.

use serde_json::{Value, json};
use telemetry_core::settings::Settings;
use telemetry_journal::clock;
use telemetry_store::{Expired, Reader, Retention, RetentionPlan, Store, StoreError, StoreOptions};

use crate::arguments::{Format, Gc};
use crate::failure::{Failure, Outcome};
use crate::grid::Grid;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::{Progress, watched};
use crate::table::{self, Side};
use crate::text::{self, bytes, count};

const COLUMNS: [&str; 5] = ["workflow_id", "name", "started_at", "tasks", "bytes"];

pub(super) fn run(command: &Gc, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let retention = retention(command)?;
    let now_ns = clock::unix_ms() as i64 * 1_000_000;
    // Closed before the store opens the same file, which watches over its own descriptors.
    let plan = {
        let reader = Reader::open(&place.database)?;
        watched(printer, "Counting", || reader.plan_retention(&retention, now_ns))?
    };
    match command.format.format(printer.is_terminal()) {
        Format::Table => show(&plan, printer)?,
        format => printer.data(&grid(&plan).write(format))?,
    }
    if plan.expired.is_empty() {
        printer.talk_quietly(&format!("Nothing to delete; {} kept.", count(plan.kept, "workflow")));
        return Ok(Outcome::Done);
    }
    let freed: u64 = plan.expired.iter().map(|expired| expired.bytes).sum();
    let what =
        format!("{}, about {} of {}", count(plan.expired.len(), "workflow"), bytes(freed), bytes(plan.bytes));
    if command.dry_run {
        printer.talk_quietly(&format!("Would delete {what}, and keep {}.", count(plan.kept, "workflow")));
        return Ok(Outcome::Done);
    }
    if !command.yes && !printer.ask(&format!("Delete {what}?"))? {
        return Err(Failure::Declined);
    }
    delete(&plan, place, printer)?;
    Ok(Outcome::Done)
}

/// What the command line says, or else the settings.
fn retention(command: &Gc) -> Result<Retention, Failure> {
    let asked =
        Retention { age_s_max: command.older_than, workflows_max: command.keep, bytes_max: command.max_size };
    if asked != Retention::default() {
        return Ok(asked);
    }
    let hint = "--older-than, --keep or --max-size; or store.retention in the settings";
    let missing = || Failure::Usage { message: "how much may stay?".to_owned(), hint };
    let written = Settings::load()?.settings.store.retention.ok_or_else(missing)?;
    written.parse().map_err(|message| Failure::Usage { message, hint })
}

fn delete(plan: &RetentionPlan, place: &Place, printer: &mut Printer) -> Result<(), Failure> {
    let before = size(place);
    let mut store = Store::open(&place.database, StoreOptions::default())?;
    let mut progress = Progress::new(printer, "Deleting", plan.expired.len() as u64);
    // The oldest first, so that an interrupted deletion keeps the newest.
    for expired in plan.expired.iter().rev() {
        while store.delete_some(expired)? {
            // A single one may last.
            progress.add(0);
        }
        progress.add(1);
    }
    drop(progress);
    match watched(printer, "Vacuuming", || store.vacuum()) {
        Err(StoreError::Sqlite { .. }) => {
            printer.warn("programs are writing, so the file keeps its size; new records fill the room");
        }
        other => other?,
    }
    drop(store);
    let deleted = count(plan.expired.len(), "workflow");
    printer.talk_quietly(&format!("Deleted {deleted}: {} became {}.", bytes(before), bytes(size(place))));
    Ok(())
}

fn size(place: &Place) -> u64 {
    std::fs::metadata(&place.database).map_or(0, |metadata| metadata.len())
}

fn grid(plan: &RetentionPlan) -> Grid {
    let row = |expired: &Expired| -> Vec<Value> {
        vec![
            json!(expired.workflow_id),
            json!(expired.name),
            json!(expired.started_at),
            json!(expired.tasks),
            json!(expired.bytes),
        ]
    };
    Grid::new(COLUMNS, plan.expired.iter().map(row).collect())
}

fn show(plan: &RetentionPlan, printer: &mut Printer) -> Result<(), Failure> {
    if plan.expired.is_empty() {
        return Ok(());
    }
    let ink = printer.ink;
    let names = [
        ("id", Side::Left),
        ("name", Side::Left),
        ("started", Side::Left),
        ("tasks", Side::Right),
        ("about", Side::Right),
    ];
    let columns: Vec<(String, Side)> = names.iter().map(|(name, side)| (ink.dim(name), *side)).collect();
    let row = |expired: &Expired| {
        vec![
            ink.dim(&expired.workflow_id),
            ink.bold(&text::visible(expired.name.as_deref().unwrap_or("–"))),
            expired.started_at.map(text::ago).unwrap_or_default(),
            expired.tasks.to_string(),
            bytes(expired.bytes),
        ]
    };
    let table = table::plain(&columns, plan.expired.iter().map(row).collect(), printer.width());
    printer.data(&table)
}
