//! The lines of the tables: activities in the order that was asked for, tasks of the list that was asked for.

use std::cmp::Ordering;

use telemetry_core::id::TaskId;
use telemetry_core::status::Status;

use super::model::{Activity, Ended, Model, Open};
use super::state::{List, Sort};

/// An activity as a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ActivityRow {
    pub(super) name: String,
    pub(super) running: u64,
    pub(super) calls: u64,
    pub(super) rate: f64,
    pub(super) mean_ns: Option<u64>,
    pub(super) p95_ns: Option<u64>,
    /// All of them together.
    pub(super) time_ns: u64,
    pub(super) errors: u64,
}

/// A task as a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TaskLine {
    pub(super) task: TaskId,
    pub(super) pid: u32,
    /// When it ended; when it started, if it runs.
    pub(super) at_unix_ns: i64,
    pub(super) took_ns: Option<u64>,
    pub(super) status: Status,
    pub(super) error: Option<String>,
}

/// The activities whose names contain the filter, whatever its case.
pub(super) fn activities(model: &Model, sort: Sort, filter: &str) -> Vec<ActivityRow> {
    let filter = filter.to_lowercase();
    let fits = |name: &str| name.to_lowercase().contains(&filter);
    let found = model.activities.iter().filter(|(name, _)| fits(name));
    let mut rows: Vec<ActivityRow> = found.map(|(name, activity)| row(name, activity)).collect();
    // Stable: those that are equal stay in the order of their names.
    rows.sort_by(|a, b| order(sort, a, b));
    rows
}

fn row(name: &str, activity: &Activity) -> ActivityRow {
    ActivityRow {
        name: name.to_owned(),
        running: activity.running,
        calls: activity.calls,
        rate: activity.pace.per_second(),
        mean_ns: activity.durations.mean_ns(),
        p95_ns: activity.durations.quantile_ns(0.95),
        time_ns: activity.durations.sum_ns(),
        errors: activity.errors,
    }
}

fn order(sort: Sort, a: &ActivityRow, b: &ActivityRow) -> Ordering {
    match sort {
        Sort::Calls => b.calls.cmp(&a.calls),
        Sort::Rate => b.rate.total_cmp(&a.rate),
        Sort::Time => b.time_ns.cmp(&a.time_ns),
        Sort::Errors => b.errors.cmp(&a.errors),
        Sort::Name => Ordering::Equal,
    }
}

/// The tasks of an activity in a list.
pub(super) fn tasks(model: &Model, activity: &str, list: List, now_unix_ns: i64) -> Vec<TaskLine> {
    if list == List::Running {
        let running = model.running(activity).into_iter();
        return running.map(|(task, open)| running_line(model, task, open, now_unix_ns)).collect();
    }
    let Some(activity) = model.activities.get(activity) else { return Vec::new() };
    match list {
        List::Slowest => activity.slowest.iter().map(line).collect(),
        List::Failed => activity.failed.iter().map(line).collect(),
        List::Latest | List::Running => activity.latest.iter().map(line).collect(),
    }
}

fn line(ended: &Ended) -> TaskLine {
    let Ended { task, pid, at_unix_ns, took_ns, status, error } = ended.clone();
    TaskLine { task, pid, at_unix_ns, took_ns, status, error }
}

fn running_line(model: &Model, task: TaskId, open: &Open, now_unix_ns: i64) -> TaskLine {
    TaskLine {
        task,
        pid: model.pid(open.program),
        at_unix_ns: open.started_unix_ns,
        took_ns: u64::try_from(now_unix_ns - open.started_unix_ns).ok(),
        status: Status::Running,
        error: None,
    }
}
