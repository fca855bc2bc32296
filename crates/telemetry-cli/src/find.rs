//! What a person means by an id, and what to say when that is not clear.

use telemetry_store::{Found, Reader, StoreError};

use crate::failure::Failure;
use crate::text;

/// The workflow or task that is meant.
pub(crate) fn find(reader: &Reader, wanted: &str) -> Result<Found, Failure> {
    reader.resolve(wanted).map_err(|error| explain(reader, error))
}

/// The workflow that is meant.
pub(crate) fn find_workflow(reader: &Reader, wanted: &str) -> Result<String, Failure> {
    match find(reader, wanted)? {
        Found::Workflow(id) => Ok(id),
        _ => Err(Failure::Usage {
            message: format!("{wanted:?} is a task, and a workflow is needed"),
            hint: "telemetry show says which workflow a task belongs to",
        }),
    }
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
