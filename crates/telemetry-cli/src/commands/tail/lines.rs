//! A line a record, for people: when, what, how much; tasks are indented below their callers.

use std::collections::HashMap;

use chrono::{DateTime, Local};
use telemetry_core::event::EventValue;
use telemetry_core::id::TaskId;
use telemetry_core::status::Status;
use telemetry_core::tap::{Seen, What};
use unicode_width::UnicodeWidthStr;

use crate::ink::Ink;
use crate::printer::Printer;
use crate::text::{cut, visible};

/// Deeper tasks are not indented any further.
const DEPTH_SHOWN: usize = 12;
/// How many open tasks are remembered; of more, it is not said how long they took.
const OPEN_MAX: usize = 100_000;
/// The width of a mark with its spaces, and of a time.
const TIME_WIDTH: usize = 15;

/// Writes lines, and remembers when tasks began.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: HashMap<TaskId, Open>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    started_unix_ns: i64,
    depth: usize,
}

/// A line before it has its colours.
struct Line {
    depth: usize,
    mark: String,
    mark_width: usize,
    subject: String,
    details: String,
}

impl Lines {
    pub(super) fn line(&mut self, seen: &Seen, pid: Option<u32>, printer: &Printer) -> String {
        let ink = printer.ink;
        let line = self.parts(seen, ink);
        let time = ink.dim(&moment(seen.at_unix_ns, "%H:%M:%S%.6f"));
        let process = pid.map_or_else(String::new, |pid| format!("[{pid}] "));
        let indent = "  ".repeat(line.depth);
        let before = TIME_WIDTH + 1 + process.len() + indent.len() + line.mark_width + 1;
        let room = printer.width().map_or(usize::MAX, |width| width.saturating_sub(before));
        let subject = cut(&visible(&line.subject), room);
        let details = visible(&line.details);
        let details = cut(&details, room.saturating_sub(subject.width() + 2));
        let gap = if details.is_empty() { "" } else { "  " };
        format!(
            "{time} {}{indent}{} {}{gap}{}",
            ink.dim(&process),
            line.mark,
            ink.bold(&subject),
            if matches!(seen.what, What::Event { .. }) { details } else { ink.dim(&details) }
        )
    }

    fn parts(&mut self, seen: &Seen, ink: Ink) -> Line {
        let (mut depth, mut mark_width) = (0, 1);
        let (mark, subject, details) = match &seen.what {
            What::Event { series, value: number, task, .. } => {
                depth = task.and_then(|task| self.open.get(&task)).map_or(0, |open| open.depth + 1);
                let unit = series.unit.as_deref().map_or_else(String::new, |unit| format!(" {unit}"));
                let labels = series.labels.iter().map(|(key, value)| format!("  {key}={value}"));
                mark_width = 2 + series.category.width();
                let mark = format!("{} {}", ink.odd("•"), ink.odd(&series.category));
                (mark, series.name.clone(), format!("{}{unit}{}", value(*number), labels.collect::<String>()))
            }
            What::TaskStart { task, activity, depth: below, used, .. } => {
                depth = usize::from(*below);
                if self.open.len() < OPEN_MAX {
                    self.open.insert(*task, Open { started_unix_ns: seen.at_unix_ns, depth });
                }
                let used = if used == "{}" { String::new() } else { used.clone() };
                (ink.live("▶"), activity.clone().unwrap_or_default(), used)
            }
            What::TaskUpdate { task, activity, used, generated } => {
                depth = self.open.get(task).map_or(0, |open| open.depth);
                let said: Vec<&str> =
                    [used, generated].into_iter().map(String::as_str).filter(|it| *it != "{}").collect();
                (ink.live("+"), activity.clone().unwrap_or_default(), said.join("  "))
            }
            What::TaskEnd { task, activity, status, stderr, generated, .. } => {
                let open = self.open.remove(task);
                depth = open.map_or(0, |open| open.depth);
                let took = open.map(|open| telemetry_export::duration(took(open, seen)));
                let outcome =
                    if *status == Status::Finished { None } else { Some(status.as_str().to_owned()) };
                let generated = (generated != "{}").then(|| generated.clone());
                let error = stderr.as_deref().map(unquoted);
                let details: Vec<String> = [took, outcome, error, generated].into_iter().flatten().collect();
                (status_mark(*status, ink), activity.clone().unwrap_or_default(), details.join("  "))
            }
            What::WorkflowStart { workflow, name, .. } => {
                let name = name.as_deref().map_or_else(String::new, unquoted);
                (ink.live("═"), format!("workflow {name}"), workflow.to_string())
            }
            What::WorkflowEnd { workflow, status } => {
                (status_mark(*status, ink), format!("workflow {status}"), workflow.to_string())
            }
            What::Gap { dropped } => {
                (ink.bad("!"), format!("{dropped} records were dropped here"), String::new())
            }
            other => (String::new(), other.type_word().to_owned(), String::new()),
        };
        Line { depth: depth.min(DEPTH_SHOWN), mark, mark_width, subject, details }
    }
}

fn took(open: Open, seen: &Seen) -> u64 {
    u64::try_from(seen.at_unix_ns - open.started_unix_ns).unwrap_or_default()
}

fn status_mark(status: Status, ink: Ink) -> String {
    match status {
        Status::Finished => ink.good("✓"),
        Status::Error => ink.bad("✗"),
        _ => ink.odd("◌"),
    }
}

/// A number as a person reads it.
pub(super) fn value(value: EventValue) -> String {
    match value {
        EventValue::Int(number) => number.to_string(),
        EventValue::Uint(number) => number.to_string(),
        EventValue::Float(number) => number.to_string(),
    }
}

/// What a JSON text says; other JSON as it is.
pub(super) fn unquoted(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// A moment in the zone of this machine.
pub(in crate::commands) fn moment(unix_ns: i64, format: &str) -> String {
    DateTime::from_timestamp_nanos(unix_ns).with_timezone(&Local).format(format).to_string()
}
