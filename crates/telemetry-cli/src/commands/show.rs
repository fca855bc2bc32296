//! `telemetry show`: all about a workflow or a task.

mod calls;
mod failures;
mod page;
mod task;
mod workflow;

use telemetry_store::{Found, Reader, StoreError};

use crate::arguments::Show;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;
use crate::text;

pub(super) fn run(command: &Show, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let found = reader.resolve(&command.id).inspect_err(|error| list_candidates(&reader, error, printer))?;
    match found {
        Found::Workflow(id) => workflow::show(&reader, &id, command, printer)?,
        Found::Task(id) => task::show(&reader, &id, command, printer)?,
        _ => return Err(StoreError::NotFound { wanted: command.id.clone() }.into()),
    }
    Ok(Outcome::Done)
}

/// Says what each of the ids is that a short one could mean.
fn list_candidates(reader: &Reader, error: &StoreError, printer: &mut Printer) {
    let StoreError::Ambiguous { found, .. } = error else { return };
    for id in found {
        let what = match reader.workflow(id) {
            Ok(row) => format!(
                "{}, {}, {}",
                text::visible(row.name.as_deref().unwrap_or("workflow")),
                row.status,
                row.started_at.map(text::ago).unwrap_or_default()
            ),
            Err(_) => "task".to_owned(),
        };
        printer.talk(&format!("  {id}  {what}"));
    }
}
