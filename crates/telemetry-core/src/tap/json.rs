//! What a tap saw, as one line of JSON: a format, which the reader in Python prints byte for byte.

use std::fmt::{Display, Write};

use super::{Seen, What};
use crate::event::EventValue;
use crate::status::ErrorKind;
use crate::value::{Encoded, float_json, quoted_json};

impl Seen {
    /// One line of JSON. `timestamp` is unix seconds with microseconds; what is not known is null.
    pub fn to_json(&self) -> String {
        let mut line = Line { text: String::new() };
        line.word("type", Some(self.what.type_word()));
        line.raw("timestamp", &seconds(self.at_unix_ns));
        self.what.write(&mut line);
        format!("{{{}}}", line.text)
    }
}

impl What {
    /// The word for it in JSON.
    pub const fn type_word(&self) -> &'static str {
        match self {
            Self::Event { .. } => "event",
            Self::TaskStart { .. } => "task_start",
            Self::TaskUpdate { .. } => "task_update",
            Self::TaskEnd { .. } => "task_end",
            Self::WorkflowStart { .. } => "workflow_start",
            Self::WorkflowEnd { .. } => "workflow_end",
            Self::Gap { .. } => "gap",
        }
    }

    fn write(&self, line: &mut Line) {
        match self {
            Self::Event { series, value, task, workflow } => {
                line.word("category", Some(&series.category));
                line.word("name", Some(&series.name));
                line.word("kind", Some(&series.kind));
                line.raw("value", &value.to_json());
                line.word("unit", series.unit.as_deref());
                let label = |(key, value): (&String, &String)| format!("{}:{}", quoted(key), quoted(value));
                let labels: Vec<String> = series.labels.iter().map(label).collect();
                line.raw("labels", &format!("{{{}}}", labels.join(",")));
                line.id("task_id", *task);
                line.id("workflow_id", *workflow);
            }
            Self::TaskStart { task, activity, parent, workflow, depth, level, thread, used } => {
                line.word("activity_id", activity.as_deref());
                line.id("task_id", Some(*task));
                line.id("parent_task_id", *parent);
                line.id("workflow_id", *workflow);
                line.raw("depth", &depth.to_string());
                line.word("level", Some(level.as_str()));
                line.word("thread", thread.as_deref());
                line.raw("used", used);
            }
            Self::TaskUpdate { task, activity, used, generated } => {
                line.word("activity_id", activity.as_deref());
                line.id("task_id", Some(*task));
                line.raw("used", used);
                line.raw("generated", generated);
            }
            Self::TaskEnd { task, activity, status, error_kind, stderr, generated } => {
                line.word("activity_id", activity.as_deref());
                line.id("task_id", Some(*task));
                line.word("status", Some(status.as_str()));
                line.word("error_kind", error_kind.map(ErrorKind::as_str));
                line.raw("stderr", stderr.as_deref().unwrap_or("null"));
                line.raw("generated", generated);
            }
            Self::WorkflowStart { workflow, name, parent_workflow, parent_task } => {
                line.id("workflow_id", Some(*workflow));
                line.raw("name", name.as_deref().unwrap_or("null"));
                line.id("parent_workflow_id", *parent_workflow);
                line.id("parent_task_id", *parent_task);
            }
            Self::WorkflowEnd { workflow, status } => {
                line.id("workflow_id", Some(*workflow));
                line.word("status", Some(status.as_str()));
            }
            Self::Gap { dropped } => line.raw("dropped", &dropped.to_string()),
        }
    }
}

impl EventValue {
    /// The value as the JSON of recorded values has it: shortest form, and objects for what JSON lacks.
    pub fn to_json(self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Uint(number) => format!("{{\"$int\":\"{number}\"}}"),
            Self::Float(number) => float_json(number),
        }
    }
}

/// A line in the making.
struct Line {
    text: String,
}

impl Line {
    fn raw(&mut self, key: &str, json: &str) {
        let separator = if self.text.is_empty() { "" } else { "," };
        let _ = write!(self.text, "{separator}\"{key}\":{json}");
    }

    fn word(&mut self, key: &str, word: Option<&str>) {
        self.raw(key, &word.map_or_else(|| "null".to_owned(), quoted));
    }

    fn id(&mut self, key: &str, id: Option<impl Display>) {
        self.raw(key, &id.map_or_else(|| "null".to_owned(), |id| format!("\"{id}\"")));
    }
}

/// Unix seconds with microseconds, cut and not rounded, so that the second is the right one.
fn seconds(unix_ns: i64) -> String {
    let microseconds = unix_ns.div_euclid(1_000);
    let sign = if microseconds < 0 { "-" } else { "" };
    let (whole, part) = (microseconds.unsigned_abs() / 1_000_000, microseconds.unsigned_abs() % 1_000_000);
    format!("{sign}{whole}.{part:06}")
}

pub(super) fn quoted(text: &str) -> String {
    quoted_json(text)
}

pub(super) fn of_value(value: Encoded<'_>) -> String {
    let mut json = Vec::new();
    value.write_json(&mut json);
    String::from_utf8(json).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SeriesName;

    #[test]
    fn a_line_is_json_with_microseconds() {
        let series = SeriesName {
            category: "MEMORY".to_owned(),
            name: "a\"b\u{7f}".to_owned(),
            kind: "gauge".to_owned(),
            unit: None,
            labels: [("k".to_owned(), "ü\n".to_owned())].into(),
        };
        let what = What::Event { series, value: EventValue::from(1e300), task: None, workflow: None };
        let seen = Seen { at_unix_ns: 1_736_951_425_123_456_789, lane: 0, sequence: 0, what };
        let expected = "{\"type\":\"event\",\"timestamp\":1736951425.123456,\"category\":\"MEMORY\",\
            \"name\":\"a\\\"b\\u007f\",\"kind\":\"gauge\",\"value\":1e+300,\"unit\":null,\
            \"labels\":{\"k\":\"ü\\n\"},\"task_id\":null,\"workflow_id\":null}";
        assert_eq!(seen.to_json(), expected);
        serde_json::from_str::<serde_json::Value>(&seen.to_json()).unwrap();
        assert_eq!(seconds(-1), "-0.000001");
    }
}
