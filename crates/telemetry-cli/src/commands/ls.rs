//! `telemetry ls`: the workflows, a line each.

use serde_json::{Value, json};
use telemetry_core::status::Status;
use telemetry_store::{Order, Reader, StoreError, TaskCount, WorkflowFilter, WorkflowRow};

use crate::arguments::{Format, Ls, LsSort};
use crate::failure::{Failure, Outcome};
use crate::grid::Grid;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::table::{self, Side};
use crate::text;

const COLUMNS: [&str; 9] = [
    "workflow_id",
    "name",
    "campaign_id",
    "status",
    "started_at",
    "ended_at",
    "duration_ns",
    "tasks",
    "errors",
];
/// Where an id may be cut: after its time, and after each group of digits behind that.
const ID_LENGTHS: [usize; 4] = [13, 18, 23, 36];

/// A workflow with what is counted in it.
struct Counted {
    row: WorkflowRow,
    tasks: i64,
    errors: i64,
}

pub(super) fn run(command: &Ls, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut workflows = match Reader::open(&place.database) {
        Ok(reader) => watched(printer, "Counting", || read(&reader, command))?,
        Err(StoreError::Empty { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let limit = command.limit as usize;
    let is_cut = limit > 0 && workflows.len() > limit;
    if is_cut {
        workflows.truncate(limit);
    }
    match command.format.format(printer.is_terminal()) {
        Format::Table => show(&workflows, printer)?,
        format => printer.data(&grid(&workflows).write(format))?,
    }
    if is_cut {
        let which =
            if (command.sort, command.reverse) == (LsSort::Started, false) { "newest" } else { "first" };
        printer.talk_quietly(&format!("The {which} {limit} are shown; --limit 0 shows all."));
    } else if workflows.is_empty() {
        printer.talk_quietly(&format!("No such workflows in {}.", place.database.display()));
    }
    Ok(Outcome::Done)
}

/// Sorted by time, the database cuts: one more than is shown, to know whether there are more.
fn read(reader: &Reader, command: &Ls) -> Result<Vec<Counted>, StoreError> {
    let is_cut_there = command.sort == LsSort::Started;
    let filter = WorkflowFilter {
        name: command.name.clone(),
        campaign_id: command.campaign.clone(),
        status: command.status.map(|status| status.to_string()),
        since_s: command.since.map(|age_s| text::now_s() - age_s as f64),
        order: if command.reverse && is_cut_there { Order::OldestFirst } else { Order::NewestFirst },
        limit: (command.limit > 0 && is_cut_there).then(|| command.limit.saturating_add(1)),
    };
    let rows = reader.workflows(&filter)?;
    let mut counted: Vec<Counted> =
        rows.into_iter().map(|row| count(reader, row)).collect::<Result<_, StoreError>>()?;
    match command.sort {
        LsSort::Started => return Ok(counted),
        LsSort::Duration => counted.sort_by_key(|workflow| std::cmp::Reverse(workflow.row.duration_ns)),
        LsSort::Tasks => counted.sort_by_key(|workflow| std::cmp::Reverse(workflow.tasks)),
        LsSort::Errors => counted.sort_by_key(|workflow| std::cmp::Reverse(workflow.errors)),
        LsSort::Name => counted.sort_by(|one, other| one.row.name.cmp(&other.row.name)),
    }
    if command.reverse {
        counted.reverse();
    }
    Ok(counted)
}

fn count(reader: &Reader, row: WorkflowRow) -> Result<Counted, StoreError> {
    let TaskCount { tasks, errors, .. } = reader.task_count(&row.workflow_id)?;
    Ok(Counted { row, tasks, errors })
}

fn grid(workflows: &[Counted]) -> Grid {
    let row = |Counted { row, tasks, errors }: &Counted| -> Vec<Value> {
        vec![
            json!(row.workflow_id),
            json!(row.name),
            json!(row.campaign_id),
            json!(row.status),
            json!(row.started_at),
            json!(row.ended_at),
            json!(row.duration_ns),
            json!(tasks),
            json!(errors),
        ]
    };
    Grid::new(COLUMNS, workflows.iter().map(row).collect())
}

fn show(workflows: &[Counted], printer: &mut Printer) -> Result<(), Failure> {
    if workflows.is_empty() {
        return Ok(());
    }
    let ink = printer.ink;
    let has_campaign = workflows.iter().any(|workflow| workflow.row.campaign_id.is_some());
    let mut columns = vec![("id", Side::Left), ("name", Side::Left)];
    columns.extend(has_campaign.then_some(("campaign", Side::Left)));
    columns.extend([("status", Side::Left), ("started", Side::Left), ("took", Side::Right)]);
    columns.extend([("tasks", Side::Right), ("errors", Side::Right)]);
    let columns: Vec<(String, Side)> =
        columns.into_iter().map(|(name, side)| (ink.dim(name), side)).collect();
    let id_length = id_length(workflows);
    let row = |Counted { row, tasks, errors }: &Counted| {
        let id = row.workflow_id.get(..id_length).unwrap_or(&row.workflow_id);
        let mut cells = vec![ink.dim(id), ink.bold(&text::visible(row.name.as_deref().unwrap_or("–")))];
        cells.extend(has_campaign.then(|| text::visible(row.campaign_id.as_deref().unwrap_or_default())));
        cells.extend([ink.status(&row.status), row.started_at.map(text::ago).unwrap_or_default(), took(row)]);
        let errors = if *errors > 0 { ink.bad(&errors.to_string()) } else { ink.dim("0") };
        cells.extend([tasks.to_string(), errors]);
        cells
    };
    let table = table::plain(&columns, workflows.iter().map(row).collect(), printer.width());
    printer.data(&table)
}

/// Of a workflow that runs, how long it has been doing so.
pub(super) fn took(row: &WorkflowRow) -> String {
    match (row.duration_ns, row.started_at) {
        (None, Some(started_at)) if row.status == Status::Running.as_str() => {
            let ns = text::age_s(started_at).max(0.0) * 1e9;
            format!("{} …", telemetry_export::duration(ns as u64))
        }
        (duration_ns, _) => text::duration(duration_ns),
    }
}

/// The shortest length at which the ids that are shown differ.
fn id_length(workflows: &[Counted]) -> usize {
    let is_enough = |length: &usize| {
        let mut ids: Vec<_> =
            workflows.iter().map(|counted| counted.row.workflow_id.get(..*length)).collect();
        ids.sort_unstable();
        ids.windows(2).all(|pair| pair[0] != pair[1])
    };
    ID_LENGTHS.into_iter().find(is_enough).unwrap_or(36)
}
