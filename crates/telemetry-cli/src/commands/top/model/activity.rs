//! What is known of one activity: its numbers, and the tasks of it that a person may want to open.

use std::collections::VecDeque;

use telemetry_core::id::TaskId;
use telemetry_core::status::Status;

use super::durations::Durations;
use super::pace::Pace;

/// So many tasks of each kind are remembered for an activity.
const TASKS_KEPT: usize = 50;

/// An activity.
#[derive(Clone, Debug, Default)]
pub(in crate::commands::top) struct Activity {
    /// Calls that ended.
    pub(in crate::commands::top) calls: u64,
    pub(in crate::commands::top) errors: u64,
    /// Calls that began and did not end.
    pub(in crate::commands::top) running: u64,
    /// Of the calls whose start is known.
    pub(in crate::commands::top) durations: Durations,
    pub(in crate::commands::top) pace: Pace,
    /// The newest first.
    pub(in crate::commands::top) latest: VecDeque<Ended>,
    /// The slowest first.
    pub(in crate::commands::top) slowest: Vec<Ended>,
    /// All that did not end as they should, the newest first.
    pub(in crate::commands::top) failed: VecDeque<Ended>,
}

/// A task that ended, and when.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::commands::top) struct Ended {
    pub(in crate::commands::top) task: TaskId,
    pub(in crate::commands::top) pid: u32,
    pub(in crate::commands::top) at_unix_ns: i64,
    /// None where its start was not seen.
    pub(in crate::commands::top) took_ns: Option<u64>,
    pub(in crate::commands::top) status: Status,
    pub(in crate::commands::top) error: Option<String>,
}

impl Activity {
    /// Counts a call that ended.
    pub(super) fn end(&mut self, ended: Ended) {
        self.calls += 1;
        self.errors += u64::from(ended.status == Status::Error);
        if let Some(took_ns) = ended.took_ns {
            self.durations.add(took_ns);
            self.keep_if_slow(&ended, took_ns);
        }
        self.keep_if_failed(&ended);
        push(&mut self.latest, ended);
    }

    /// Corrects how a task ended; false where no such end is remembered. An iteration that was left by an error is first
    /// said to have ended well.
    pub(super) fn end_again(&mut self, ended: &Ended) -> bool {
        let Some(known) = self.latest.iter_mut().find(|known| known.task == ended.task) else { return false };
        if ended.status.code() <= known.status.code() {
            return true;
        }
        known.status = ended.status;
        known.error.clone_from(&ended.error);
        let known = known.clone();
        self.errors += u64::from(known.status == Status::Error);
        self.slowest.iter_mut().filter(|it| it.task == known.task).for_each(|it| *it = known.clone());
        self.keep_if_failed(&known);
        true
    }

    fn keep_if_failed(&mut self, ended: &Ended) {
        if ended.status != Status::Finished {
            push(&mut self.failed, ended.clone());
        }
    }

    fn keep_if_slow(&mut self, ended: &Ended, took_ns: u64) {
        let place = self.slowest.partition_point(|other| other.took_ns.unwrap_or(0) >= took_ns);
        if place < TASKS_KEPT {
            self.slowest.insert(place, ended.clone());
            self.slowest.truncate(TASKS_KEPT);
        }
    }

    /// A call that was open when its process ended.
    pub(super) fn interrupt(&mut self, ended: Ended) {
        self.running = self.running.saturating_sub(1);
        push(&mut self.failed, ended);
    }
}

fn push(tasks: &mut VecDeque<Ended>, ended: Ended) {
    tasks.truncate(TASKS_KEPT - 1);
    tasks.push_front(ended);
}
