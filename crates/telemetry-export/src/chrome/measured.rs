//! Events: what adds up or replaces itself is a counter, the values of a distribution are marks.

use std::collections::HashMap;

use serde_json::{Value, json};
use telemetry_store::MeasuredRow;

/// What each series of each process has come to.
#[derive(Debug, Default)]
pub(super) struct Totals(HashMap<(i64, i64), f64>);

impl Totals {
    /// The event in a trace, at this moment of it.
    pub(super) fn draw(&mut self, row: &MeasuredRow, at: &Value) -> Value {
        let value = match row.kind.as_str() {
            "counter" => {
                let total = self.0.entry((row.recorder, row.series)).or_default();
                *total += row.value;
                *total
            }
            "gauge" => row.value,
            _ => return mark(row, at),
        };
        // Readers put both names together.
        let unit = row.unit.as_deref().unwrap_or("value");
        json!({"ph": "C", "name": name(row), "pid": row.recorder, "ts": at, "args": {unit: value}})
    }
}

fn mark(row: &MeasuredRow, at: &Value) -> Value {
    json!({
        "ph": "i", "s": "p", "name": name(row), "cat": "event", "pid": row.recorder, "tid": 0, "ts": at,
        "args": {"value": row.value, "unit": row.unit, "category": row.category, "task_id": row.task_id},
    })
}

/// Labels tell series of one name apart.
fn name(row: &MeasuredRow) -> String {
    match row.labels.as_str() {
        "{}" => row.name.clone(),
        labels => format!("{} {labels}", row.name),
    }
}
