//! `telemetry report`: the card of a workflow, as Markdown and as one HTML file.

use telemetry_export::report::Report;
use telemetry_store::Reader;

use crate::arguments::ReportArguments;
use crate::failure::{Failure, Outcome};
use crate::files::write;
use crate::find::find_workflow;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::text::visible_lines;

pub(super) fn run(
    command: &ReportArguments,
    place: &Place,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let id = find_workflow(&reader, &command.id)?;
    let report = watched(printer, "Gathering", || Report::read(&reader, &id))?;
    if command.json {
        printer.json(&report)?;
    }
    let document = report.document()?;
    if let Some(path) = &command.html {
        write(path, &document.html(), printer)?;
    }
    if let Some(path) = &command.markdown {
        write(path, &document.markdown(), printer)?;
    }
    if command.html.is_none() && command.markdown.is_none() && !command.json {
        printer.data(&(visible_lines(&document.markdown()) + "\n"))?;
    }
    Ok(Outcome::Done)
}
