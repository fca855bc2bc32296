//! Events and sessions from elsewhere.

use rusqlite::{Connection, OptionalExtension};

use super::{recorder_key, run, workflow_key};
use crate::exchange::records::{EventRecord, ExactJson, SessionRecord};

/// The lane and the place in it are the event, so that it is there once however often it comes.
pub(super) fn event(connection: &Connection, record: &EventRecord) -> rusqlite::Result<()> {
    let recorder = recorder_key(connection, Some(&record.recorder_id))?;
    let workflow = workflow_key(connection, record.workflow_id.as_ref())?;
    let series = series_key(connection, record)?;
    run(
        connection,
        "insert into measured (workflow, series) values (?1, ?2) on conflict do nothing",
        (workflow, series),
    )?;
    run(
        connection,
        "insert into event (recorder, lane, sequence, series, at_ns, value, task_id, workflow)
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) on conflict do nothing",
        (
            recorder,
            record.lane,
            record.sequence,
            series,
            record.at_ns,
            record.value,
            &record.task_id,
            workflow,
        ),
    )
}

fn series_key(connection: &Connection, record: &EventRecord) -> rusqlite::Result<i64> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let labels = record.labels.as_ref().map_or("{}", ExactJson::as_str);
    let series = (text(&record.category), text(&record.name), text(&record.kind), text(&record.unit), labels);
    let find = "select key from series where name = ?2 and category = ?1 and kind = ?3 and unit = ?4 and labels = ?5";
    let found = connection.prepare_cached(find)?.query_row(series.clone(), |row| row.get(0)).optional()?;
    if let Some(key) = found {
        return Ok(key);
    }
    let make = "insert into series (category, name, kind, unit, labels) values (?1, ?2, ?3, ?4, ?5)";
    run(connection, make, series)?;
    Ok(connection.last_insert_rowid())
}

/// The files are elsewhere, and complete or not the business of whoever writes them: nobody here is to make them.
pub(super) fn session(connection: &Connection, record: &SessionRecord) -> rusqlite::Result<()> {
    let workflow = workflow_key(connection, Some(&record.workflow_id))?;
    run(
        connection,
        "insert into session (workflow, folder, name, is_written) values (?1, ?2, ?3, 1)
        on conflict (workflow) do update set folder = coalesce(folder, excluded.folder),
            name = coalesce(name, excluded.name)",
        (workflow, &record.folder, &record.name),
    )
}
