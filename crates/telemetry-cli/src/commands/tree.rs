//! `telemetry tree`: who called whom, how often, and what it took.

use serde_json::{Value, json};
use telemetry_core::status::Status;
use telemetry_store::{CallNode, Reader, TreeLimits};

use crate::arguments::{Format, Tree};
use crate::calls::{Drawing, draw_calls};
use crate::failure::{Failure, Outcome};
use crate::find::find;
use crate::grid::Grid;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::text;

const COLUMNS: [&str; 9] =
    ["depth", "activity_id", "calls", "errors", "total_ns", "mean_ns", "max_ns", "below", "task_id"];
/// More lines than this nobody reads on a screen; the other formats have all.
const LINES_SHOWN_MAX: usize = 2_000;

pub(super) fn run(command: &Tree, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let found = find(&reader, &command.id)?;
    let limits =
        TreeLimits { depth_max: command.depth, duration_ns_min: command.min_duration, is_each: command.each };
    let nodes = watched(printer, "Reading", || reader.calls(&found)?.tree(limits))?;
    match command.format.format(printer.is_terminal()) {
        Format::Table => show(&nodes, printer)?,
        format => printer.data(&grid(&nodes).write(format))?,
    }
    if nodes.is_empty() {
        printer.talk_quietly("No calls, or none that took as long.");
    }
    Ok(Outcome::Done)
}

fn show(nodes: &[CallNode], printer: &mut Printer) -> Result<(), Failure> {
    let whole_ns = nodes.iter().filter(|node| node.depth == 0).map(|node| node.total_ns).sum();
    let shown = &nodes[..nodes.len().min(LINES_SHOWN_MAX)];
    printer.data(&draw_calls(shown, Drawing { ink: printer.ink, whole_ns: Some(whole_ns) }))?;
    if nodes.len() > shown.len() {
        let left_out = text::count(nodes.len() - shown.len(), "line");
        printer.talk_quietly(&format!("{left_out} more; --depth and --min-duration show less, --csv all."));
    }
    Ok(())
}

fn grid(nodes: &[CallNode]) -> Grid {
    let row = |node: &CallNode| -> Vec<Value> {
        let errors = node.statuses.get(Status::Error.as_str()).copied().unwrap_or(0);
        vec![
            json!(node.depth),
            json!(node.activity_id),
            json!(node.calls),
            json!(errors),
            json!(node.total_ns),
            json!(node.total_ns / node.calls.max(1)),
            json!(node.max_ns),
            json!(node.below),
            json!(node.task_id),
        ]
    };
    Grid::new(COLUMNS, nodes.iter().map(row).collect())
}
