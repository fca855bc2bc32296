//! `telemetry import`: another database, or an export, merged in by id.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use serde::Serialize;
use telemetry_export::ExportError;
use telemetry_export::jsonl::{self, Imported};
use telemetry_store::{Reader, SCHEMA_VERSION, Store, StoreOptions, WorkflowFilter, inspect};

use crate::arguments::Import;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::text::count;

/// How every database begins.
const DATABASE_MARK: &[u8] = b"SQLite format 3\0";

/// What came out of a file.
#[derive(Debug, Serialize)]
struct Report {
    file: PathBuf,
    #[serde(flatten)]
    imported: Imported,
}

pub(super) fn run(command: &Import, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    // Before a database is made for nothing.
    for file in command.files.iter().filter(|file| *file != Path::new("-")) {
        File::open(file).map_err(|source| unreadable(file, source))?;
    }
    let mut store = super::recover::open(&place.database)?;
    let mut reports = Vec::new();
    for file in &command.files {
        let imported = import(file, &mut store, printer)?;
        reports.push(Report { file: file.clone(), imported });
    }
    if command.json {
        printer.json(&reports)?;
        return Ok(Outcome::Done);
    }
    for Report { file, imported } in &reports {
        let (workflows, tasks) = (count(imported.workflows, "workflow"), count(imported.tasks, "task"));
        let events = match imported.events {
            0 => String::new(),
            events => format!(" and {}", count(events, "event")),
        };
        printer.data(&format!("{}: {workflows} with {tasks}{events}.\n", file.display()))?;
    }
    Ok(Outcome::Done)
}

fn import(path: &Path, store: &mut Store, printer: &Printer) -> Result<Imported, Failure> {
    if path == Path::new("-") {
        return jsonl::read(std::io::stdin().lock(), store, |_| {})
            .map_err(|error| wrong("stdin".as_ref(), error));
    }
    let unreadable = |source| unreadable(path, source);
    let mut file = File::open(path).map_err(unreadable)?;
    let mut mark = Vec::new();
    (&mut file).take(DATABASE_MARK.len() as u64).read_to_end(&mut mark).map_err(unreadable)?;
    if mark == DATABASE_MARK {
        drop(file);
        return import_database(path, store, printer);
    }
    file.rewind().map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let mut progress = Progress::new(printer, "Importing", bytes);
    jsonl::read(BufReader::new(file), store, |bytes| progress.add(bytes)).map_err(|error| wrong(path, error))
}

/// Says of which file a line is wrong.
fn wrong(path: &Path, error: ExportError) -> Failure {
    let hint = "telemetry import reads databases and what telemetry export jsonl writes";
    match error {
        error @ ExportError::Line { .. } => Failure::content(path, &error, hint),
        other => other.into(),
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> Failure {
    Failure::File { path: path.to_owned(), doing: "read", source }
}

fn import_database(path: &Path, store: &mut Store, printer: &Printer) -> Result<Imported, Failure> {
    if same_file(path, store.path()) {
        return Err(Failure::Usage {
            message: format!("{} is the database itself", path.display()),
            hint: "--database PATH names the database to import into",
        });
    }
    let (_copy, path) = current_version(path)?;
    let reader = Reader::open(&path)?;
    let workflows = reader.workflows(&WorkflowFilter::default())?;
    let ids: Vec<String> = workflows.into_iter().map(|row| row.workflow_id).collect();
    let parts = ids.iter().map(|id| reader.record_count(id)).sum::<Result<u64, _>>()?;
    let mut progress = Progress::new(printer, "Importing", parts);
    Ok(jsonl::copy(&reader, &ids, store, || progress.add(1))?)
}

/// An older database is read from a copy that is brought up to date: it may be somebody's only one.
fn current_version(path: &Path) -> Result<(Option<Copy>, PathBuf), Failure> {
    let reader = Reader::open(path)?;
    if inspect(path)?.schema_version == SCHEMA_VERSION {
        return Ok((None, path.to_owned()));
    }
    let copy = Copy::new();
    reader.copy_to(&copy.0)?;
    drop(reader);
    drop(Store::open(&copy.0, StoreOptions::default())?);
    let path = copy.0.clone();
    Ok((Some(copy), path))
}

/// A database that goes when it has been read.
struct Copy(PathBuf);

impl Copy {
    fn new() -> Self {
        let name = telemetry_core::id::RecorderId::generate().to_string();
        Self(std::env::temp_dir().join(format!("telemetry-import-{name}.db")))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = self.0.as_os_str().to_owned();
            name.push(suffix);
            let _ = std::fs::remove_file(name);
        }
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::canonicalize(one), std::fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
