//! The run as a whole: counts, structure, time, resources, what stands out.

use serde_json::Value;
use telemetry_store::{JsonText, Reading};

use super::super::Report;
use super::super::document::{Block, Document};
use super::{NONE, bytes, duration, percent, picture, size};
use crate::comparison::plain;
use crate::error::ExportError;
use crate::plot::{Series, curves, curves_of_bytes, gantt};

pub(super) fn write(page: &mut Document, report: &Report) -> Result<(), ExportError> {
    page.heading(2, "Overview");
    let workflow = &report.workflow;
    let calls: u64 = report.activities.iter().map(|activity| activity.calls).sum();
    let statuses: Vec<String> = report
        .statuses
        .iter()
        .map(|count| format!("{} {}", count.tasks, count.status.to_lowercase()))
        .collect();
    page.fields(vec![
        ("activities", Some(report.activities.len().to_string())),
        ("calls", Some(format!("{calls}: {}", statuses.join(", ")))),
        ("took", workflow.duration_ns.map(|ns| duration(Some(ns as f64)))),
        ("arguments", values(workflow.used.as_ref())),
        ("results", values(workflow.generated.as_ref())),
        (
            "workflows within",
            Some(report.nested.iter().filter_map(|row| row.name.clone()).collect::<Vec<_>>().join(", ")),
        ),
    ]);
    if !report.observations.is_empty() {
        page.heading(3, "Observations");
        page.blocks.push(Block::List(report.observations.clone()));
    }
    if !report.tree.is_empty() {
        page.heading(3, "Structure");
        page.blocks.push(Block::Preformatted(report.tree.clone()));
    }
    time(page, report)
}

/// The timeline, and the curves below it on the same axis.
fn time(page: &mut Document, report: &Report) -> Result<(), ExportError> {
    let Some(timeline) = report.timeline.as_ref().filter(|timeline| !timeline.rows.is_empty()) else {
        return Ok(());
    };
    page.heading(3, "Timeline");
    picture(page, gantt(timeline))?;
    if timeline.left_out > 0 {
        page.paragraph(format!("{} more rows are not shown.", timeline.left_out));
    }
    let span_s = (timeline.ended_ns - timeline.started_ns) as f64 / 1e9;
    let series = |name: &str, value: fn(&Reading) -> Option<f64>| {
        let second = |ns: i64| (ns - timeline.started_ns) as f64 / 1e9;
        let point = |reading: &Reading| Some((second(reading.taken_ns?).clamp(0.0, span_s), value(reading)?));
        Series { name: name.to_owned(), points: report.readings.iter().filter_map(point).collect() }
    };
    let load = [
        series("process", |reading| reading.process_cpu_percent),
        series("machine", |reading| reading.cpu_percent),
    ];
    let memory = [series("process memory", |reading| reading.process_rss_bytes.map(|bytes| bytes as f64))];
    if load.iter().any(|series| series.points.len() > 1) {
        let label = "Load of the process and of the machine's processors over time, in per cent".to_owned();
        picture(page, curves(label, span_s, &load, |percent| format!("{percent:.0} % cpu")))?;
    }
    if memory[0].points.len() > 1 {
        let label = "Memory of the process over time".to_owned();
        picture(page, curves_of_bytes(label, span_s, &memory, |count| bytes(count as i64)))?;
    }
    Ok(())
}

fn values(json: Option<&JsonText>) -> Option<String> {
    let Value::Object(members) = json?.to_value() else { return None };
    let known = members.iter().filter(|(_, value)| !value.is_null());
    let parts: Vec<String> = known.map(|(name, value)| format!("{name} = {}", plain(value))).collect();
    Some(parts.join(", "))
}

pub(super) fn resources(page: &mut Document, report: &Report) {
    let all = &report.resources;
    if all.snapshots == 0 {
        return;
    }
    page.heading(3, "Resources");
    let of = |part: fn(&Reading) -> Option<i64>| difference(&report.readings, part);
    page.fields(vec![
        ("readings", Some(all.snapshots.to_string())),
        ("processor time of the process", all.process_cpu_s.map(|s| duration(Some(s * 1e9)))),
        ("mean load of the machine", all.machine_cpu_percent.map(|load| percent(load / 100.0))),
        ("most memory of the process", all.process_rss_peak_bytes.map(bytes)),
        ("most memory in use on the machine", all.machine_memory_peak_bytes.map(bytes)),
        ("read by the process", all.process_read_bytes.map(bytes)),
        ("written by the process", all.process_write_bytes.map(bytes)),
        ("read from the machine's disks", of(|reading| reading.disk_read_bytes).map(bytes)),
        ("written to the machine's disks", of(|reading| reading.disk_write_bytes).map(bytes)),
        ("sent by the machine", of(|reading| reading.net_sent_bytes).map(bytes)),
        ("received by the machine", of(|reading| reading.net_recv_bytes).map(bytes)),
    ]);
    let number = |value: Option<f64>, unit: &str| {
        value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.1}{unit}"))
    };
    let row = |gpu: &telemetry_store::GpuUse| {
        vec![
            gpu.gpu.clone(),
            size(gpu.used_peak_bytes),
            number(gpu.utilization_percent, " %"),
            number(gpu.temperature_max, " °C"),
            number(gpu.power_max, " W"),
        ]
    };
    let columns = ["graphics processor", "most memory", "mean load", "highest temperature", "highest power"];
    page.table(&columns, &report.gpus.iter().map(row).collect::<Vec<_>>());
}

/// Between the first and the last reading of one process; a counter that went back restarted.
fn difference(readings: &[Reading], part: fn(&Reading) -> Option<i64>) -> Option<i64> {
    let (first, last) = (readings.first()?, readings.last()?);
    let is_same = first.key >> 32 == last.key >> 32;
    Some(part(last)? - part(first)?).filter(|difference| is_same && *difference >= 0)
}
