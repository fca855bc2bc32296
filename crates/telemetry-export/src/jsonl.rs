//! JSON lines: an object a line, of which `type` says what it is. What is written can be read in again, exactly.
//!
//! The first line is `{"type":"telemetry","format":1}`. The others are `machine`, `recorder`, `gap`, `workflow`, `site`,
//! `task`, `snapshot`, `left_out`, `event` and `session`, with the fields of the structs of the same names in `telemetry-store`; a line comes
//! after those that it refers to. Fields that are null are written, too, so that every line of a type has the same ones.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use telemetry_store::{Reader, Record, Store};

use crate::error::{ExportError, FirstError};

const FORMAT: u32 = 1;
/// So many records are read in with one transaction.
const BATCH: usize = 1_000;

#[derive(Deserialize)]
struct Head {
    r#type: String,
    format: Option<u32>,
}

/// Writes the first line.
pub fn begin(output: &mut impl Write) -> Result<(), ExportError> {
    Ok(writeln!(output, r#"{{"type":"telemetry","format":{FORMAT}}}"#)?)
}

/// Writes every record of a workflow; `progress` is told of each.
pub fn write(
    reader: &Reader,
    workflow_id: &str,
    output: &mut impl Write,
    mut progress: impl FnMut(),
) -> Result<(), ExportError> {
    let mut first = FirstError::default();
    reader.records(workflow_id, |record| {
        progress();
        first.keep(write_record(&record, output))
    })?;
    first.finish()
}

fn write_record(record: &Record, output: &mut impl Write) -> std::io::Result<()> {
    match record {
        Record::Machine(record) => write_line("machine", record, output),
        Record::Recorder(record) => write_line("recorder", record, output),
        Record::Gap(record) => write_line("gap", record, output),
        Record::Workflow(record) => write_line("workflow", record, output),
        Record::Site(record) => write_line("site", record, output),
        Record::Task(record) => write_line("task", record, output),
        Record::Snapshot(record) => write_line("snapshot", record, output),
        Record::LeftOut(record) => write_line("left_out", record, output),
        Record::Event(record) => write_line("event", record, output),
        Record::Session(record) => write_line("session", record, output),
        _ => Ok(()),
    }
}

/// The type is put in front by hand: a flattened value would not be passed on digit for digit.
fn write_line(name: &str, record: &impl Serialize, output: &mut impl Write) -> std::io::Result<()> {
    let object = serde_json::to_string(record)?;
    writeln!(output, r#"{{"type":"{name}",{}"#, &object[1..])
}

/// What was read in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Imported {
    /// Lines or records.
    pub records: u64,
    /// Of these, workflows.
    pub workflows: u64,
    /// Of these, tasks.
    pub tasks: u64,
    /// Of these, events.
    pub events: u64,
}

impl Imported {
    fn count(&mut self, record: &Record) {
        self.records += 1;
        self.workflows += u64::from(matches!(record, Record::Workflow(_)));
        self.tasks += u64::from(matches!(record, Record::Task(_)));
        self.events += u64::from(matches!(record, Record::Event(_)));
    }
}

/// Reads lines into a store, by id: what is there already stays. `progress` is told of each line's bytes.
pub fn read(
    input: impl BufRead,
    store: &mut Store,
    mut progress: impl FnMut(u64),
) -> Result<Imported, ExportError> {
    let mut imported = Imported::default();
    let mut batch = Vec::with_capacity(BATCH);
    for (number, line) in (1..).zip(input.lines()) {
        let line = line?;
        progress(line.len() as u64 + 1);
        let parsed = parse(&line, number == 1).map_err(|why| ExportError::Line { line: number, why })?;
        let Some(record) = parsed else { continue };
        imported.count(&record);
        batch.push(record);
        if batch.len() == BATCH {
            store.import(&batch)?;
            batch.clear();
        }
    }
    store.import(&batch)?;
    Ok(imported)
}

/// Copies the records of some workflows of another database, as if they were written to a file and read in.
pub fn copy(
    reader: &Reader,
    workflow_ids: &[String],
    store: &mut Store,
    mut progress: impl FnMut(),
) -> Result<Imported, ExportError> {
    let mut imported = Imported::default();
    for workflow_id in workflow_ids {
        let mut batch = Vec::with_capacity(BATCH);
        let mut outcome = Ok(());
        reader.records(workflow_id, |record| {
            progress();
            imported.count(&record);
            batch.push(record);
            if batch.len() < BATCH {
                return std::ops::ControlFlow::Continue(());
            }
            outcome = store.import(&batch);
            batch.clear();
            if outcome.is_ok() {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            }
        })?;
        outcome?;
        store.import(&batch)?;
    }
    Ok(imported)
}

fn parse(line: &str, is_first: bool) -> Result<Option<Record>, String> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    let head: Head =
        serde_json::from_str(line).map_err(|error| format!("not a line of an export: {error}"))?;
    match (is_first, &*head.r#type, head.format) {
        (true, "telemetry", Some(FORMAT)) => return Ok(None),
        (true, "telemetry", Some(newer)) => {
            return Err(format!("has format {newer}, this program knows format {FORMAT}"));
        }
        (true, ..) => return Err("not the first line of an export".to_owned()),
        _ => {}
    }
    let record = match &*head.r#type {
        "machine" => record(line, Record::Machine),
        "recorder" => record(line, |record| Record::Recorder(Box::new(record))),
        "gap" => record(line, Record::Gap),
        "workflow" => record(line, |record| Record::Workflow(Box::new(record))),
        "site" => record(line, Record::Site),
        "task" => record(line, |record| Record::Task(Box::new(record))),
        "snapshot" => record(line, Record::Snapshot),
        "left_out" => record(line, Record::LeftOut),
        "event" => record(line, |record| Record::Event(Box::new(record))),
        "session" => record(line, Record::Session),
        // Of a later version, which adds types; or the head of a file that was appended.
        _ => return Ok(None),
    };
    record.map(Some)
}

fn record<'a, T: Deserialize<'a>>(line: &'a str, make: fn(T) -> Record) -> Result<Record, String> {
    serde_json::from_str(line).map(make).map_err(|error| error.to_string())
}
