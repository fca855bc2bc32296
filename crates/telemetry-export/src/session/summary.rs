//! The figures of a session: as JSON for its file, and as text for people.

use std::fmt::Write;

use serde_json::{Value, json};
use telemetry_store::{Cell, JsonText, SessionSummaryRow, Table};

use crate::table;

/// The figures as they are in the file. A figure that nothing is known of is `null`; no number is infinite.
#[must_use]
pub fn json(summary: &SessionSummaryRow) -> Value {
    json!({
        "session_name": summary.session_name,
        "workflow_id": summary.workflow_id,
        "status": summary.status,
        "start_time": rounded(summary.start_time),
        "end_time": rounded(summary.end_time),
        "total_time_s": rounded(summary.total_time_s),
        "prompt_tokens": summary.prompt_tokens,
        "tokens_generated": summary.tokens_generated,
        "total_tokens": summary.total_tokens,
        "tokens_per_second": summary.tokens_per_second.map(rounded),
        "total_packets_processed": summary.total_packets_processed,
        "cpu_packets": summary.cpu_packets,
        "igpu_packets": summary.igpu_packets,
        "failed_packets": summary.failed_packets,
        "interrupted_packets": summary.interrupted_packets,
        "success_rate": rounded(summary.success_rate),
        "total_cpu_time_ms": rounded(summary.total_cpu_time_ms),
        "total_igpu_time_ms": rounded(summary.total_igpu_time_ms),
        "avg_cpu_time_ms": summary.avg_cpu_time_ms.map(rounded),
        "avg_igpu_time_ms": summary.avg_igpu_time_ms.map(rounded),
        "cpu_utilization": summary.cpu_utilization.map(rounded),
        "igpu_utilization": summary.igpu_utilization.map(rounded),
        "cpu_igpu_contention_events": summary.cpu_igpu_contention_events,
        "p50_time_ms": rounded(summary.p50_time_ms),
        "p95_time_ms": rounded(summary.p95_time_ms),
        "p99_time_ms": rounded(summary.p99_time_ms),
        "flop_reduction": summary.flop_reduction.map(rounded),
        "devices": summary.devices,
        "operation_breakdown": summary.operation_breakdown,
        "expert_selection_distribution": summary.expert_selection_distribution,
        "csv_log": summary.csv_log,
        "json_summary": summary.json_summary,
    })
}

/// To a nanosecond, or a millionth.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// The figures for people: totals, then a table of the devices, of the operations and of the experts.
#[must_use]
pub fn text(summary: &SessionSummaryRow) -> String {
    let devices = ["packets", "failed", "avg_time_ms", "utilization"];
    let operations = ["count", "failed_count", "avg_time_ms", "min_time_ms", "max_time_ms", "total_time_ms"];
    let tables = [
        members(&summary.devices, "device", &devices),
        members(&summary.operation_breakdown, "operation", &operations),
        members(&summary.expert_selection_distribution, "expert", &[]),
    ];
    let tables = tables.iter().filter(|table| !table.rows.is_empty()).map(table::draw);
    [totals(summary)].into_iter().chain(tables).collect::<Vec<_>>().join("\n")
}

fn totals(summary: &SessionSummaryRow) -> String {
    let mut text = String::new();
    let name = summary.session_name.as_deref().unwrap_or(&summary.workflow_id);
    let _ = writeln!(text, "{name}: {} in {:.3} s", summary.status, summary.total_time_s);
    if summary.tokens_generated != Cell::Integer(0) {
        let rate = summary.tokens_per_second.unwrap_or_default();
        let (generated, prompt) = (number(&summary.tokens_generated), number(&summary.prompt_tokens));
        let _ = writeln!(text, "{generated} tokens generated ({rate:.1} a second) from a prompt of {prompt}");
    }
    let _ = writeln!(
        text,
        "{} packets, {} failed, {} interrupted; p50 {:.3} ms, p95 {:.3} ms, p99 {:.3} ms",
        summary.total_packets_processed,
        summary.failed_packets,
        summary.interrupted_packets,
        summary.p50_time_ms,
        summary.p95_time_ms,
        summary.p99_time_ms,
    );
    if let Some(reduction) = summary.flop_reduction {
        let _ =
            writeln!(text, "{:.1} % fewer floating-point operations than without experts", 100.0 * reduction);
    }
    text
}

fn number(cell: &Cell) -> String {
    match cell {
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        _ => String::new(),
    }
}

/// An object of objects as a table, or an object of numbers where no columns are asked for.
fn members(json: &JsonText, name: &str, columns: &[&str]) -> Table {
    let mut table = Table::default();
    let value_column = if columns.is_empty() { &["selections"][..] } else { columns };
    table.columns = [name].iter().chain(value_column).map(|&column| column.to_owned()).collect();
    if let Value::Object(members) = json.to_value() {
        let row = |(key, member): (String, Value)| {
            let values: Vec<Cell> = match columns {
                [] => vec![cell(&member)],
                columns => columns.iter().map(|&column| cell(&member[column])).collect(),
            };
            [Cell::Text(key)].into_iter().chain(values).collect()
        };
        table.rows = members.into_iter().map(row).collect();
    }
    table
}

fn cell(value: &Value) -> Cell {
    match value.as_i64() {
        Some(number) => Cell::Integer(number),
        None => value.as_f64().map_or(Cell::Null, |number| Cell::Real((number * 1e3).round() / 1e3)),
    }
}
