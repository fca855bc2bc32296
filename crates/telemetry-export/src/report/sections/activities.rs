//! The activities: times, what was used meanwhile, values, outliers.

use super::super::Report;
use super::super::activity::{ActivityReport, EXAMPLES_MAX};
use super::super::document::{Block, Document};
use super::super::observations::insights;
use super::super::values::ValueSummary;
use super::{NONE, duration, picture, size};
use crate::error::ExportError;
use crate::plot::bars;

const SHOWN_MAX: usize = 40;
const DESCRIBED_MAX: usize = 20;
const BARS_MAX: usize = 15;

pub(super) fn write(page: &mut Document, report: &Report) -> Result<(), ExportError> {
    if report.activities.is_empty() {
        return Ok(());
    }
    page.heading(2, "Activities");
    let bar = |activity: &ActivityReport| (activity.activity_id.clone(), activity.total_ns as f64);
    let items: Vec<(String, f64)> = report.activities.iter().take(BARS_MAX).map(bar).collect();
    let label = "Time of all calls of each activity together".to_owned();
    picture(page, bars(label, &items, |ns| crate::duration(ns as u64)))?;
    times(page, report);
    slowest(page, report);
    used(page, report);
    for activity in report.activities.iter().take(DESCRIBED_MAX) {
        describe(page, activity);
    }
    if report.activities.len() > DESCRIBED_MAX {
        let more = report.activities.len() - DESCRIBED_MAX;
        page.paragraph(format!(
            "{more} more activities are not described; telemetry report --json has all of them."
        ));
    }
    Ok(())
}

fn times(page: &mut Document, report: &Report) {
    let columns = [
        "activity",
        "calls",
        "errors",
        "total",
        "mean",
        "median",
        "95 %",
        "shortest",
        "longest",
        "outliers",
        "first at",
        "last until",
    ];
    let begun = report.workflow.started_at.unwrap_or_default();
    let since = |moment: f64| duration(Some(((moment - begun) * 1e9).max(0.0)));
    let row = |activity: &ActivityReport| {
        vec![
            activity.activity_id.clone(),
            activity.calls.to_string(),
            activity.errors.to_string(),
            duration(Some(activity.total_ns as f64)),
            duration(activity.mean_ns),
            duration(activity.median_ns),
            duration(activity.p95_ns),
            duration(activity.min_ns),
            duration(activity.max_ns),
            activity.outliers.to_string(),
            since(activity.first_started_at),
            activity.last_ended_at.map_or_else(|| NONE.to_owned(), since),
        ]
    };
    page.table(&columns, &report.activities.iter().take(SHOWN_MAX).map(row).collect::<Vec<_>>());
}

fn slowest(page: &mut Document, report: &Report) {
    page.heading(3, "Slowest calls");
    let row = |task: &telemetry_store::RelatedTask| {
        vec![
            task.activity_id.clone().unwrap_or_else(|| NONE.to_owned()),
            duration(task.duration_ns.map(|ns| ns as f64)),
            task.status.clone().unwrap_or_else(|| NONE.to_owned()),
            task.task_id.clone(),
        ]
    };
    page.table(&["activity", "took", "status", "task"], &report.slowest.iter().map(row).collect::<Vec<_>>());
}

fn used(page: &mut Document, report: &Report) {
    let measured: Vec<&ActivityReport> =
        report.activities.iter().filter(|activity| activity.resources.measured > 0).take(SHOWN_MAX).collect();
    if measured.is_empty() {
        return;
    }
    page.heading(3, "Used meanwhile");
    let columns = [
        "activity",
        "measured",
        "cpu",
        "memory",
        "read",
        "written",
        "disks read",
        "disks written",
        "sent",
        "received",
    ];
    let row = |activity: &&ActivityReport| {
        let used = &activity.resources;
        vec![
            activity.activity_id.clone(),
            used.measured.to_string(),
            duration(used.process_cpu_s.map(|s| s * 1e9)),
            size(used.process_rss_diff_bytes),
            size(used.process_read_bytes),
            size(used.process_write_bytes),
            size(used.machine_disk_read_bytes),
            size(used.machine_disk_write_bytes),
            size(used.machine_net_sent_bytes),
            size(used.machine_net_recv_bytes),
        ]
    };
    page.table(&columns, &measured.iter().map(row).collect::<Vec<_>>());
}

fn describe(page: &mut Document, activity: &ActivityReport) {
    page.heading(3, &activity.activity_id);
    let outliers: Vec<String> = activity
        .outliers_longest
        .iter()
        .map(|outlier| {
            format!("{} ({})", crate::duration(outlier.duration_ns.max(0) as u64), outlier.task_id)
        })
        .collect();
    page.fields(vec![
        ("calls", Some(activity.calls.to_string())),
        ("hosts", Some(activity.hosts.join(", "))),
        ("kind", Some(activity.subtypes.join(", "))),
        ("tags", Some(activity.tags.join(", "))),
        ("longest outliers", Some(outliers.join(", "))),
    ]);
    let insights = insights(activity);
    if !insights.is_empty() {
        page.blocks.push(Block::List(insights));
    }
    let row = |kind: &'static str| {
        move |value: &ValueSummary| {
            vec![value.name.clone(), kind.to_owned(), value.calls.to_string(), value.text()]
        }
    };
    let inputs = activity.inputs.iter().map(row("used"));
    let rows: Vec<Vec<String>> = inputs.chain(activity.outputs.iter().map(row("generated"))).collect();
    let looked_at =
        if activity.calls > u64::from(EXAMPLES_MAX) { "of the first 1,000 calls" } else { "calls" };
    page.table(&["value", "direction", looked_at, "what"], &rows);
}
