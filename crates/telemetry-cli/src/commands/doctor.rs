//! `telemetry doctor`: is everything that was recorded there, and safe?

mod check;
mod clock;
mod counters;
mod database;
mod files;
mod gpu;
mod journals;
mod orphans;

use serde::Serialize;
use telemetry_core::settings::Settings;

use crate::arguments::Doctor;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use check::{Check, State};
use counters::Recorder;
use journals::Journals;

/// All that was checked.
#[derive(Debug, Default, Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Check>,
    recorders: Vec<Recorder>,
}

pub(super) fn run(
    command: &Doctor,
    place: Result<Place, Failure>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let report = watched(printer, "Checking", || examine(place));
    if command.json {
        printer.json(&report)?;
    } else {
        let mut text: String = report.checks.iter().map(|check| check.lines(printer.ink)).collect();
        text += &counters::table(&report.recorders, printer.ink, printer.width());
        printer.data(&text)?;
    }
    Ok(if report.ok { Outcome::Done } else { Outcome::CheckFailed })
}

fn examine(place: Result<Place, Failure>) -> Report {
    let mut report = Report::default();
    let (place, settings) = settle(place);
    report.checks.push(settings);
    let journals = Journals::find(&place.journals);
    database::check(&place.database, &mut report.checks);
    report.checks.extend(journals.checks());
    report.recorders = counters::read(&place.database, &journals);
    report.checks.extend(counters::checks(&report.recorders));
    report.checks.extend(orphans::check(&place.database));
    report.checks.extend(files::checks(&place));
    report.checks.push(gpu::check());
    report.checks.extend(clock::checks(&place.database));
    report.ok = report.checks.iter().all(|check| check.state != State::Fail);
    report
}

/// Where to look; with broken settings, where a program with them records.
fn settle(place: Result<Place, Failure>) -> (Place, Check) {
    match place {
        Ok(place) => {
            let check = Check::ok("settings", place.origin.clone());
            (place, check)
        }
        Err(failure) => (
            Place::beside(Settings::default().store.path, String::new()),
            Check::fail(
                "settings",
                failure.to_string(),
                "mend the settings; until then programs record at level lightweight",
            ),
        ),
    }
}
