//! A line a record, for people: when, how long it took, what, how much; tasks are indented below their callers.

use std::collections::HashMap;

use chrono::{DateTime, Local};
use telemetry_core::event::EventValue;
use telemetry_core::id::{TaskId, WorkflowId};
use telemetry_core::status::Status;
use telemetry_core::tap::{Seen, What};
use unicode_width::UnicodeWidthStr;

use super::members::members;
use crate::ink::Ink;
use crate::printer::Printer;
use crate::text::{cut, visible};

/// Deeper tasks are not indented any further.
const DEPTH_SHOWN: usize = 12;
/// How many open tasks are remembered; of more, it is not said how long they took.
const OPEN_MAX: usize = 100_000;
/// The width of a time, and of a duration of less than a minute.
const TIME_WIDTH: usize = 15;
const TOOK_WIDTH: usize = 8;

/// Writes lines, and remembers when tasks began and what workflows are called.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: HashMap<TaskId, Open>,
    workflows: HashMap<WorkflowId, Named>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    started_unix_ns: i64,
    depth: usize,
}

#[derive(Clone, Debug)]
struct Named {
    started_unix_ns: i64,
    name: String,
}

/// A line before it has its colours.
struct Line {
    took: Option<u64>,
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
        let took = line.took.map(telemetry_export::duration).unwrap_or_default();
        let took = format!("{}{took} ", " ".repeat(TOOK_WIDTH.saturating_sub(took.width())));
        let indent = "  ".repeat(line.depth);
        let before = TIME_WIDTH + 1 + process.len() + took.width() + indent.len() + line.mark_width + 1;
        let room = printer.width().map_or(usize::MAX, |width| width.saturating_sub(before));
        let subject = cut(&visible(&line.subject), room);
        let details = visible(&line.details);
        let details = cut(&details, room.saturating_sub(subject.width() + 2));
        let gap = if details.is_empty() { "" } else { "  " };
        format!(
            "{time} {}{took}{indent}{} {}{gap}{}",
            ink.dim(&process),
            line.mark,
            ink.bold(&subject),
            if matches!(seen.what, What::Event { .. }) { details } else { ink.dim(&details) }
        )
    }

    fn parts(&mut self, seen: &Seen, ink: Ink) -> Line {
        let (mut took, mut depth, mut mark_width) = (None, 0, 1);
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
                (ink.live("▶"), activity.clone().unwrap_or_default(), members(used))
            }
            What::TaskUpdate { task, activity, used, generated } => {
                depth = self.open.get(task).map_or(0, |open| open.depth);
                let generated = Some(members(generated)).filter(|it| !it.is_empty());
                let generated = generated.map(|generated| format!("→ {generated}"));
                let said = Some(members(used)).filter(|it| !it.is_empty()).into_iter().chain(generated);
                let said = said.collect::<Vec<_>>().join("  ");
                (ink.live("+"), activity.clone().unwrap_or_default(), said)
            }
            What::TaskEnd { task, activity, status, stderr, generated, .. } => {
                let open = self.open.remove(task);
                depth = open.map_or(0, |open| open.depth);
                took = open.map(|open| since(open.started_unix_ns, seen));
                let outcome = (*status != Status::Finished).then(|| status.as_str().to_owned());
                let error = stderr.as_deref().map(unquoted);
                let generated = Some(members(generated)).filter(|it| !it.is_empty());
                let details: Vec<String> = [outcome, error, generated].into_iter().flatten().collect();
                (status_mark(*status, ink), activity.clone().unwrap_or_default(), details.join("  "))
            }
            What::WorkflowStart { workflow, name, .. } => {
                let name = name.as_deref().map_or_else(String::new, unquoted);
                if self.workflows.len() < OPEN_MAX {
                    let named = Named { started_unix_ns: seen.at_unix_ns, name: name.clone() };
                    self.workflows.insert(*workflow, named);
                }
                (ink.live("═"), format!("workflow {name}"), workflow.to_string())
            }
            What::WorkflowEnd { workflow, status } => {
                let named = self.workflows.remove(workflow);
                took = named.as_ref().map(|named| since(named.started_unix_ns, seen));
                let name = named.map_or_else(String::new, |named| format!(" {}", named.name));
                (status_mark(*status, ink), format!("workflow{name} {status}"), workflow.to_string())
            }
            What::Gap { dropped } => {
                (ink.bad("!"), format!("{dropped} records were dropped here"), String::new())
            }
            other => (String::new(), other.type_word().to_owned(), String::new()),
        };
        Line { took, depth: depth.min(DEPTH_SHOWN), mark, mark_width, subject, details }
    }
}

fn since(started_unix_ns: i64, seen: &Seen) -> u64 {
    u64::try_from(seen.at_unix_ns - started_unix_ns).unwrap_or_default()
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
