//! `telemetry recover`: brings in what killed processes had recorded.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use telemetry_export::session::complete_those_of_the_dead;
use telemetry_journal::find_journals;
use telemetry_store::{Reader, Recovery, Store, StoreError, StoreOptions, recover};

use crate::arguments::Recover;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::text::count;

pub(super) fn run(command: &Recover, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let folder = folder(command.dir.as_deref(), place);
    // Opening for writing would make an empty database.
    let recovery = if find_journals(&folder)?.is_empty() && !has_unwritten_sessions(place) {
        Recovery::default()
    } else {
        let mut store = open(&place.database)?;
        let mut recovery = watched(printer, "Recovering", || recover(&mut store, &folder))?;
        let completed = watched(printer, "Writing session files", || complete_those_of_the_dead(&mut store));
        if let Err(error) = completed {
            recovery.warnings.push(format!("session files: {error}"));
        }
        recovery
    };
    recovery.warnings.iter().for_each(|warning| printer.warn(warning));
    if command.json {
        printer.json(&recovery)?;
    } else {
        printer.data(&report(&recovery, &folder, place))?;
    }
    Ok(Outcome::Done)
}

/// Whether session files are to be completed; nothing is known of what cannot be read.
fn has_unwritten_sessions(place: &Place) -> bool {
    Reader::open(&place.database).is_ok_and(|reader| reader.has_unwritten_sessions().unwrap_or(false))
}

/// The folder that was named, or the one with the journals in it.
fn folder(named: Option<&Path>, place: &Place) -> PathBuf {
    let Some(named) = named else { return place.journals.clone() };
    let within = named.join("journal");
    if within.is_dir() { within } else { named.to_owned() }
}

/// Refuses what the store would move out of its way: a person is there to decide.
pub(super) fn open(database: &Path) -> Result<Store, StoreError> {
    // Closed before the store opens the same file, which watches over its own descriptors.
    match Reader::open(database).map(drop) {
        Ok(()) | Err(StoreError::Missing { .. } | StoreError::Empty { .. }) => {}
        Err(error) => return Err(error),
    }
    Store::open(database, StoreOptions::default())
}

fn report(recovery: &Recovery, folder: &Path, place: &Place) -> String {
    let mut text = match recovery.journals {
        0 => format!("Nothing to recover in {}.\n", folder.display()),
        journals => format!(
            "Recovered {} from {} into {}.\n",
            count(recovery.records, "record"),
            count(journals, "journal"),
            place.database.display()
        ),
    };
    if recovery.left_alone > 0 {
        let journals = count(recovery.left_alone, "journal");
        let _ = writeln!(text, "Left {journals} alone: in use by a living process, or of another host.");
    }
    text
}
