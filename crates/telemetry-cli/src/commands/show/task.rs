//! A task: all of it, who called it, what it called, and whose outputs it used.

use telemetry_store::{DerivationRow, JsonText, Reader, RelatedTask, TaskDetail, TaskRow};

use super::page::Page;
use super::workflow::when;
use crate::arguments::Show;
use crate::failure::Failure;
use crate::ink::Ink;
use crate::printer::Printer;
use crate::table::{self, Side};
use crate::text::{self, count};

const ROWS_SHOWN_MAX: usize = 30;

pub(super) fn show(reader: &Reader, id: &str, command: &Show, printer: &mut Printer) -> Result<(), Failure> {
    let detail = reader.task(id)?;
    if command.json {
        return printer.json(&detail);
    }
    let workflow = detail.task.workflow_id.as_deref().map(|id| workflow(reader, id));
    printer.data(&page(&detail, workflow, printer.ink, printer.width()))
}

/// All about a task as text, as wide as it is.
pub(in crate::commands) fn text(reader: &Reader, id: &str, ink: Ink) -> Result<String, Failure> {
    let detail = reader.task(id)?;
    let workflow = detail.task.workflow_id.as_deref().map(|id| workflow(reader, id));
    Ok(page(&detail, workflow, ink, None))
}

/// The workflow by name and id.
fn workflow(reader: &Reader, id: &str) -> String {
    match reader.workflow(id).ok().and_then(|row| row.name) {
        Some(name) => format!("{name}, {id}"),
        None => id.to_owned(),
    }
}

fn page(detail: &TaskDetail, workflow: Option<String>, ink: Ink, width: Option<usize>) -> String {
    let task = &detail.task;
    let mut page = Page::new(ink, task.activity_id.as_deref().unwrap_or("(no name)"), &task.status);
    summary(&mut page, task, workflow);
    if let Some(message) = &task.stderr {
        page.heading(if task.error_kind.as_deref() == Some("panic") { "Panic" } else { "Error" });
        page.quote(message);
    }
    if let Some(output) = &task.stdout {
        page.heading("Printed");
        page.quote(output);
    }
    page.values("Used", task.used.as_ref());
    page.values("Generated", task.generated.as_ref());
    let width = width.map(|width| width.saturating_sub(2));
    related(&mut page, "Called by", &detail.ancestors, ink, width);
    let children: Vec<RelatedTask> =
        detail.descendants.iter().filter(|task| task.depth == 1).cloned().collect();
    related(&mut page, "Called", &children, ink, width);
    let deeper = detail.descendants.len() - children.len();
    if deeper > 0 {
        page.block(&ink.dim(&format!("and through these {}", count(deeper, "more task"))));
    }
    derived(&mut page, "Derived from", &detail.derived_from, ink, width, |row| {
        [row.name.clone(), row.source_name.clone(), Some(row.source_task_id.clone())]
    });
    derived(&mut page, "Used by", &detail.derived_into, ink, width, |row| {
        [row.source_name.clone(), row.name.clone(), Some(row.task_id.clone())]
    });
    page.finish()
}

fn summary(page: &mut Page, task: &TaskRow, workflow: Option<String>) {
    page.field("id", Some(&task.task_id));
    page.field("workflow", workflow);
    page.field("campaign", task.campaign_id.as_ref());
    page.field("kind", task.subtype.as_ref());
    page.field("group", task.group_id.as_ref());
    page.field("submitted", task.submitted_at.map(when));
    page.field("started", task.started_at.map(when));
    page.field("took", task.duration_ns.map(|ns| text::duration(Some(ns))));
    page.field("tags", task.tags.as_ref().map(JsonText::as_str));
    page.field("metadata", task.custom_metadata.as_ref().map(JsonText::as_str));
    page.field("agent", task.agent_id.as_ref());
    page.field("asked by", task.source_agent_id.as_ref());
    page.field("where", place(task));
    page.field("level", task.level.as_ref());
    page.field("telemetry", telemetry(task));
    page.field("source", task.source.as_ref());
}

fn place(task: &TaskRow) -> Option<String> {
    let host = task.hostname.as_deref()?;
    let process = task.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
    let thread = task.thread.as_ref().map(|thread| format!(", thread {thread}")).unwrap_or_default();
    Some(format!("{host}{process}{thread}"))
}

fn telemetry(task: &TaskRow) -> Option<String> {
    let snapshot = |telemetry: &Option<JsonText>, when: &str, age_ms: Option<i64>| {
        let age = age_ms.filter(|age_ms| *age_ms > 0).map(|age_ms| format!(" ({age_ms} ms old)"));
        telemetry.as_ref().map(|_| format!("at its {when}{}", age.unwrap_or_default()))
    };
    let start = snapshot(&task.telemetry_at_start, "start", task.snapshot_age_start_ms);
    let end = snapshot(&task.telemetry_at_end, "end", task.snapshot_age_end_ms);
    let snapshots: Vec<String> = start.into_iter().chain(end).collect();
    (!snapshots.is_empty()).then(|| format!("{}; --json shows it", snapshots.join(" and ")))
}

pub(super) fn related(page: &mut Page, heading: &str, tasks: &[RelatedTask], ink: Ink, width: Option<usize>) {
    if tasks.is_empty() {
        return;
    }
    page.heading(heading);
    let columns = columns(
        ink,
        &[("activity", Side::Left), ("status", Side::Left), ("took", Side::Right), ("task", Side::Left)],
    );
    let row = |task: &RelatedTask| {
        vec![
            text::visible(task.activity_id.as_deref().unwrap_or("(not recorded)")),
            ink.status(task.status.as_deref().unwrap_or_default()),
            text::duration(task.duration_ns),
            ink.dim(&task.task_id),
        ]
    };
    page.block(&table::plain(&columns, tasks.iter().take(ROWS_SHOWN_MAX).map(row).collect(), width));
    more(page, ink, tasks.len());
}

fn derived(
    page: &mut Page,
    heading: &str,
    rows: &[DerivationRow],
    ink: Ink,
    width: Option<usize>,
    ends: fn(&DerivationRow) -> [Option<String>; 3],
) {
    if rows.is_empty() {
        return;
    }
    page.heading(heading);
    let columns = columns(
        ink,
        &[("here", Side::Left), ("there", Side::Left), ("task", Side::Left), ("evidence", Side::Left)],
    );
    let row = |row: &DerivationRow| {
        let mut cells: Vec<String> = ends(row)
            .into_iter()
            .map(|end| end.map_or_else(|| "–".to_owned(), |name| text::visible(&name)))
            .collect();
        cells.push(row.evidence.clone());
        cells
    };
    page.block(&table::plain(&columns, rows.iter().take(ROWS_SHOWN_MAX).map(row).collect(), width));
    more(page, ink, rows.len());
}

fn columns(ink: Ink, names: &[(&str, Side)]) -> Vec<(String, Side)> {
    names.iter().map(|(name, side)| (ink.dim(name), *side)).collect()
}

fn more(page: &mut Page, ink: Ink, all: usize) {
    if all > ROWS_SHOWN_MAX {
        page.block(&ink.dim(&format!("… and {} more; --json shows all", all - ROWS_SHOWN_MAX)));
    }
}
