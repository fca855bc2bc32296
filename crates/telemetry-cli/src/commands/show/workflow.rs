//! A workflow: summary, activities, call tree, failures.

use serde::Serialize;
use serde_json::Value;
use telemetry_store::{
    ActivityRow, CallNode, FailureGroup, Found, JsonText, Reader, RelatedTask, Resources, StatusCount,
    StoreError, TreeLimits, WorkflowRow,
};

use super::page::Page;
use super::task::related;
use crate::arguments::Show;
use crate::calls::{Drawing, draw_calls};
use crate::commands::ls::took;
use crate::failure::Failure;
use crate::ink::Ink;
use crate::printer::Printer;
use crate::progress::watched;
use crate::table::{self, Side};
use crate::text::{self, count};

const FAILURES_SHOWN_MAX: usize = 10;
const ACTIVITIES_SHOWN_MAX: usize = 20;
const CALLS_SHOWN_MAX: usize = 60;
const MESSAGE_CHARACTERS_MAX: usize = 1000;
const SLOWEST_SHOWN: usize = 5;
/// How many failed tasks are looked at.
const FAILED_MAX: usize = 500;

/// What is shown of a workflow.
#[derive(Debug, Serialize)]
struct View {
    workflow: WorkflowRow,
    tasks: Vec<StatusCount>,
    activities: Vec<ActivityRow>,
    calls: Vec<CallNode>,
    failures: Vec<FailureGroup>,
    slowest: Vec<RelatedTask>,
    resources: Resources,
    nested: Vec<WorkflowRow>,
}

pub(super) fn show(reader: &Reader, id: &str, command: &Show, printer: &mut Printer) -> Result<(), Failure> {
    let view = watched(printer, "Reading", || read(reader, id, command.depth))?;
    if command.json {
        return printer.json(&view);
    }
    printer.data(&page(&view, printer.ink, printer.width()))
}

fn read(reader: &Reader, id: &str, depth: usize) -> Result<View, StoreError> {
    let calls = reader.calls(&Found::Workflow(id.to_owned()))?;
    Ok(View {
        workflow: reader.workflow(id)?,
        tasks: calls.statuses(),
        activities: reader.activities(id)?,
        calls: calls.tree(TreeLimits { depth_max: depth, ..TreeLimits::default() })?,
        failures: calls.failures(FAILED_MAX)?,
        slowest: calls.slowest(SLOWEST_SHOWN)?,
        resources: reader.resources(id)?,
        nested: reader.nested(id)?,
    })
}

fn page(view: &View, ink: Ink, width: Option<usize>) -> String {
    let workflow = &view.workflow;
    let mut page = Page::new(ink, workflow.name.as_deref().unwrap_or("(no name)"), &workflow.status);
    summary(&mut page, view);
    page.values("Used", workflow.used.as_ref());
    page.values("Generated", workflow.generated.as_ref());
    if !view.activities.is_empty() {
        page.heading("Activities");
        page.block(&activities(&view.activities, ink, width.map(|width| width.saturating_sub(2))));
        more(&mut page, ink, view.activities.len(), ACTIVITIES_SHOWN_MAX);
        page.heading("Calls");
        let shown = &view.calls[..view.calls.len().min(CALLS_SHOWN_MAX)];
        page.block(&draw_calls(shown, Drawing { ink, whole_ns: None }));
        more(&mut page, ink, view.calls.len(), CALLS_SHOWN_MAX);
        related(&mut page, "Slowest", &view.slowest, ink, width.map(|width| width.saturating_sub(2)));
    }
    nested(&mut page, &view.nested, ink);
    resources(&mut page, &view.resources);
    failed(&mut page, &view.failures, ink);
    page.finish()
}

fn summary(page: &mut Page, view: &View) {
    let workflow = &view.workflow;
    page.field("id", Some(&workflow.workflow_id));
    page.field("campaign", workflow.campaign_id.as_ref());
    page.field("kind", workflow.subtype.as_ref());
    page.field("within", workflow.parent_workflow_id.as_ref());
    page.field("called by", workflow.parent_task_id.as_ref());
    page.field("started", workflow.started_at.map(when));
    page.field("took", Some(took(workflow)));
    page.field("tasks", Some(tasks(&view.tasks)));
    page.field("command", workflow.cmd_line.as_ref().map(command_line).or_else(|| workflow.exe.clone()));
    page.field("code", workflow.code_repository.as_ref().map(code));
    page.field("where", place(workflow));
    page.field("agent", workflow.agent_id.as_ref());
    page.field("metadata", workflow.custom_metadata.as_ref().map(JsonText::as_str));
    page.field("recorder", workflow.recorder_version.as_ref());
}

pub(super) fn when(unix_s: f64) -> String {
    let (moment, ago) = (text::moment(unix_s), text::ago(unix_s));
    if moment == ago { moment } else { format!("{moment} ({ago})") }
}

fn tasks(counts: &[StatusCount]) -> String {
    let all: i64 = counts.iter().map(|count| count.tasks).sum();
    let parts: Vec<String> =
        counts.iter().map(|count| format!("{} {}", count.tasks, count.status.to_lowercase())).collect();
    if parts.is_empty() { "none".to_owned() } else { format!("{all}: {}", parts.join(", ")) }
}

fn command_line(command_line: &JsonText) -> String {
    match command_line.to_value() {
        Value::Array(words) => words.iter().map(crate::grid::plain).collect::<Vec<_>>().join(" "),
        other => crate::grid::plain(&other),
    }
}

fn code(repository: &JsonText) -> String {
    let repository = repository.to_value();
    let parts = ["branch", "short_sha"].map(|name| repository.get(name).map(crate::grid::plain));
    let dirty = (repository.get("dirty") == Some(&Value::Bool(true))).then(|| "changed".to_owned());
    parts.into_iter().flatten().chain(dirty).collect::<Vec<_>>().join(" ")
}

fn place(workflow: &WorkflowRow) -> Option<String> {
    let user = workflow.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
    let host = workflow.hostname.as_deref()?;
    let process = workflow.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
    Some(format!("{user}{host}{process}"))
}

fn activities(rows: &[ActivityRow], ink: Ink, width: Option<usize>) -> String {
    let names = ["activity", "calls", "errors", "total", "mean", "median", "95 %", "max"];
    let side = |index: usize| if index == 0 { Side::Left } else { Side::Right };
    let columns: Vec<(String, Side)> =
        names.iter().enumerate().map(|(index, name)| (ink.dim(name), side(index))).collect();
    let row = |row: &ActivityRow| {
        let errors = if row.errors > 0 { ink.bad(&row.errors.to_string()) } else { ink.dim("0") };
        vec![
            text::visible(row.activity_id.as_deref().unwrap_or("–")),
            row.calls.to_string(),
            errors,
            text::duration(row.total_ns),
            text::duration(row.mean_ns.map(|ns| ns as i64)),
            text::duration(within(row.p50_ns, row.min_ns, row.max_ns)),
            text::duration(within(row.p95_ns, row.min_ns, row.max_ns)),
            text::duration(row.max_ns),
        ]
    };
    table::plain(&columns, rows.iter().take(ACTIVITIES_SHOWN_MAX).map(row).collect(), width)
}

/// A percentile is known within some per cent only, but never beyond the shortest and the longest call.
fn within(percentile_ns: Option<i64>, min_ns: Option<i64>, max_ns: Option<i64>) -> Option<i64> {
    percentile_ns.map(|ns| ns.min(max_ns.unwrap_or(i64::MAX)).max(min_ns.unwrap_or(i64::MIN)))
}

fn nested(page: &mut Page, workflows: &[WorkflowRow], ink: Ink) {
    if workflows.is_empty() {
        return;
    }
    page.heading("Workflows within");
    for row in workflows {
        let name = ink.bold(&text::visible(row.name.as_deref().unwrap_or("–")));
        page.block(&[name, ink.status(&row.status), took(row), ink.dim(&row.workflow_id)].join("  "));
    }
}

/// What is known of the process and the machine, between the first and the last snapshot.
fn resources(page: &mut Page, resources: &Resources) {
    if resources.snapshots == 0 {
        return;
    }
    page.heading("Resources");
    let size = |bytes: Option<i64>| bytes.and_then(|bytes| u64::try_from(bytes).ok()).map(text::bytes);
    let seconds = |s: f64| telemetry_export::duration((s.max(0.0) * 1e9) as u64);
    page.field("cpu", resources.process_cpu_s.map(|s| format!("{} of processor time", seconds(s))));
    page.field("memory", size(resources.process_rss_peak_bytes).map(|size| format!("{size} at most")));
    page.field("read", size(resources.process_read_bytes));
    page.field("written", size(resources.process_write_bytes));
    page.field("machine", machine(resources));
    page.field("snapshots", Some(resources.snapshots.to_string()));
}

fn machine(resources: &Resources) -> Option<String> {
    let cpu = resources.machine_cpu_percent.map(|percent| format!("{percent:.0} % of its processors"));
    let memory = resources.machine_memory_peak_bytes.and_then(|bytes| u64::try_from(bytes).ok());
    let memory = memory.map(|bytes| format!("{} of memory at most", text::bytes(bytes)));
    let parts: Vec<String> = cpu.into_iter().chain(memory).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn failed(page: &mut Page, failures: &[FailureGroup], ink: Ink) {
    if failures.is_empty() {
        return;
    }
    page.heading("Failures");
    for failure in failures.iter().take(FAILURES_SHOWN_MAX) {
        let mut path: Vec<String> = failure.path.iter().map(|name| ink.dim(&text::visible(name))).collect();
        path.push(ink.bold(&text::visible(failure.activity_id.as_deref().unwrap_or("–"))));
        let repeated = if failure.tasks > 1 { format!(" ×{}", failure.tasks) } else { String::new() };
        let kind = ink.bad(failure.error_kind.as_deref().unwrap_or("error"));
        page.block(&format!("{kind}  {}{repeated}", path.join(&ink.dim(" › "))));
        let message = failure.message.as_deref().unwrap_or("(no message)");
        let message = text::visible_lines(&text::cut(message, MESSAGE_CHARACTERS_MAX));
        message.lines().for_each(|line| page.block(&format!("  {line}")));
        page.block(&ink.dim(&format!("  {}", failure.task_id)));
    }
    more(page, ink, failures.len(), FAILURES_SHOWN_MAX);
}

fn more(page: &mut Page, ink: Ink, all: usize, shown: usize) {
    if all > shown {
        page.block(&ink.dim(&format!("… and {} more; --json shows all", count(all - shown, "line"))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_not_beyond_the_calls() {
        let medians = [Some(95), Some(105), Some(120), None].map(|ns| within(ns, Some(100), Some(110)));
        assert_eq!(medians, [Some(100), Some(105), Some(110), None]);
    }
}
