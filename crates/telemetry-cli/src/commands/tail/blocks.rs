//! A block of lines a record.

use std::fmt::Write;

use telemetry_core::tap::{Seen, What};

use super::lines::{moment, unquoted, value};
use crate::text::visible;

const END: &str = "===========================";

/// The record as a block.
pub(super) fn block(seen: &Seen) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "{}: {}", visible(key), visible(value));
    };
    line("Timestamp", &moment(seen.at_unix_ns, "%Y-%m-%d %H:%M:%S%.6f"));
    let title = match &seen.what {
        What::Event { series, value: number, .. } => {
            line("Category", &series.category);
            line("Event", &series.name);
            line("Value", &value(*number));
            if let Some(unit) = &series.unit {
                line("Unit", unit);
            }
            series.labels.iter().for_each(|(key, value)| line(key, value));
            "Event"
        }
        What::TaskStart { task, activity, used, .. } => {
            line("Activity", activity.as_deref().unwrap_or("–"));
            line("Task", &task.to_string());
            line("Used", used);
            "Task Start"
        }
        What::TaskUpdate { task, activity, used, generated } => {
            line("Activity", activity.as_deref().unwrap_or("–"));
            line("Task", &task.to_string());
            line("Used", used);
            line("Generated", generated);
            "Task Update"
        }
        What::TaskEnd { task, activity, status, stderr, generated, .. } => {
            line("Activity", activity.as_deref().unwrap_or("–"));
            line("Task", &task.to_string());
            line("Status", status.as_str());
            line("Generated", generated);
            if let Some(error) = stderr {
                line("Error", &unquoted(error));
            }
            "Task End"
        }
        What::WorkflowStart { workflow, name, .. } => {
            line("Workflow", &workflow.to_string());
            line("Name", &name.as_deref().map_or_else(String::new, unquoted));
            "Workflow Start"
        }
        What::WorkflowEnd { workflow, status } => {
            line("Workflow", &workflow.to_string());
            line("Status", status.as_str());
            "Workflow End"
        }
        What::Gap { dropped } => {
            line("Dropped", &dropped.to_string());
            "Gap"
        }
        other => other.type_word(),
    };
    format!("=== Telemetry {title} ===\n{text}{END}\n")
}
