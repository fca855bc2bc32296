//! `telemetry show`: all about a workflow or a task.

pub(super) mod page;
mod task;
mod workflow;

pub(super) use task::text as task_text;

use telemetry_store::{Found, Reader, StoreError};

use crate::arguments::Show;
use crate::failure::{Failure, Outcome};
use crate::find::find;
use crate::place::Place;
use crate::printer::Printer;

pub(super) fn run(command: &Show, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    match find(&reader, &command.id)? {
        Found::Workflow(id) => workflow::show(&reader, &id, command, printer)?,
        Found::Task(id) => task::show(&reader, &id, command, printer)?,
        _ => return Err(StoreError::NotFound { wanted: command.id.clone() }.into()),
    }
    Ok(Outcome::Done)
}
