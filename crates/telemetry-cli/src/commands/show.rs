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
    let found = reader.resolve(&command.id).map_err(|error| explain(&reader, error))?;
    match found {
        Found::Workflow(id) => workflow::show(&reader, &id, command, printer)?,
        Found::Task(id) => task::show(&reader, &id, command, printer)?,
        _ => return Err(StoreError::NotFound { wanted: command.id.clone() }.into()),
    }
    Ok(Outcome::Done)
}

/// Says what each of the ids is that a short one could mean.
fn explain(reader: &Reader, error: StoreError) -> Failure {
    let StoreError::Ambiguous { wanted, found } = error else { return error.into() };
    let candidates = found.iter().map(|id| format!("  {id}  {}", describe(reader, id))).collect();
    Failure::Ambiguous { wanted, candidates }
}

fn describe(reader: &Reader, id: &str) -> String {
    let Ok(row) = reader.workflow(id) else { return "task".to_owned() };
    let name = text::visible(row.name.as_deref().unwrap_or("workflow"));
    format!("{name}, {}, {}", row.status, row.started_at.map(text::ago).unwrap_or_default())
}
