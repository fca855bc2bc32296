//! `telemetry export`: workflows for other programs, written as they are read.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use telemetry_export::{chrome, csv, jsonl};
use telemetry_store::{Order, Reader, View, WorkflowFilter};

use crate::arguments::{Export, ExportFormat, ExportView};
use crate::failure::{Failure, Outcome};
use crate::find::find_workflow;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::text;

pub(super) fn run(command: &Export, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let ids = workflows(&reader, command)?;
    let parts = ids.iter().map(|id| reader.record_count(id)).sum::<Result<u64, _>>()?;
    let mut progress = Progress::new(printer, "Exporting", parts);
    match &command.output {
        None => write(&reader, &ids, command, &mut Printer::stream(), &mut progress)?,
        Some(path) => {
            let mut output = BufWriter::new(create(path)?);
            write(&reader, &ids, command, &mut output, &mut progress).map_err(|failure| match failure {
                Failure::Output { source } => file_failure(path, source),
                other => other,
            })?;
            drop(progress);
            printer.talk_quietly(&format!(
                "{} written to {}.",
                text::count(ids.len(), "workflow"),
                path.display()
            ));
        }
    }
    Ok(Outcome::Done)
}

fn create(path: &Path) -> Result<File, Failure> {
    use std::os::unix::fs::OpenOptionsExt;
    // What was recorded may be secret.
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path).map_err(|source| file_failure(path, source))
}

fn file_failure(path: &Path, source: std::io::Error) -> Failure {
    Failure::File { path: path.to_owned(), doing: "written", source }
}

/// Those that were named, each once, or all.
fn workflows(reader: &Reader, command: &Export) -> Result<Vec<String>, Failure> {
    if command.all {
        let filter = WorkflowFilter { order: Order::OldestFirst, ..WorkflowFilter::default() };
        return Ok(reader.workflows(&filter)?.into_iter().map(|row| row.workflow_id).collect());
    }
    let last = ["@last".to_owned()];
    let wanted = if command.ids.is_empty() { &last[..] } else { &command.ids };
    let mut ids = Vec::new();
    for wanted in wanted {
        let id = find_workflow(reader, wanted)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn write(
    reader: &Reader,
    ids: &[String],
    command: &Export,
    output: &mut impl Write,
    progress: &mut Progress,
) -> Result<(), Failure> {
    match command.format {
        ExportFormat::Jsonl => {
            jsonl::begin(output)?;
            for id in ids {
                jsonl::write(reader, id, output, || progress.add(1))?;
            }
        }
        ExportFormat::Csv => {
            for (number, id) in ids.iter().enumerate() {
                csv::write(reader, view(command.view), id, number == 0, output, || progress.add(1))?;
            }
        }
        ExportFormat::ChromeTrace => chrome::write(reader, ids, output, || progress.add(1))?,
    }
    Ok(output.flush()?)
}

fn view(view: ExportView) -> View {
    match view {
        ExportView::Workflows => View::Workflows,
        ExportView::Tasks => View::Tasks,
        ExportView::Activities => View::Activities,
        ExportView::Snapshots => View::Snapshots,
        ExportView::Derivations => View::Derivations,
        ExportView::TaskTelemetry => View::TaskTelemetry,
        ExportView::Events => View::Events,
        ExportView::EventSeries => View::EventSeries,
    }
}
