//! The numbers that are shown, made of nothing but the records that taps see: no clock, no file, no screen.
//!
//! What a tap missed is missing here, too. So that a task whose end was missed does not run for ever, and one that began
//! before anybody looked is known at all, there are [`questions`](Model::questions) for whoever can ask the database.

mod activity;
mod durations;
mod open;
mod pace;
mod program;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use telemetry_core::id::{TaskId, WorkflowId};
use telemetry_core::status::Status;
use telemetry_core::tap::{Seen, What};

pub(super) use activity::{Activity, Ended};
pub(super) use open::{Answer, Open};
use open::{OpenTasks, Task};
pub(super) use pace::Pace;
pub(super) use program::{Program, Workflow};

/// A program, by the order in which they were met.
pub(super) type ProgramNumber = usize;

/// With more workflows than these, those that ended are forgotten.
const WORKFLOWS_KEPT: usize = 10_000;

/// What is known.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) programs: Vec<Program>,
    pub(super) activities: BTreeMap<String, Activity>,
    pub(super) workflows: HashMap<WorkflowId, Workflow>,
    /// Events that were seen, beside the tasks.
    pub(super) events: u64,
    open: OpenTasks,
    ticked_unix_ns: Option<i64>,
    /// The workflow that alone is wanted: the beginning of its id, or its name.
    pub(super) wanted: Option<String>,
}

impl Model {
    /// A model of one workflow, or of everything.
    pub(super) fn new(wanted: Option<String>) -> Self {
        Self { wanted, ..Self::default() }
    }

    pub(super) fn add_program(&mut self, program: Program) -> ProgramNumber {
        self.programs.push(program);
        self.programs.len() - 1
    }

    /// A workflow that runs in this process, as the database knows it.
    pub(super) fn know_workflow(
        &mut self,
        id: WorkflowId,
        pid: i64,
        name: Option<String>,
        started_unix_ns: Option<i64>,
    ) {
        let is_its = |program: &Program| i64::from(program.pid) == pid && program.ended_unix_ns.is_none();
        if let Some(program) = self.programs.iter().position(is_its) {
            let workflow = Workflow { name, started_unix_ns, ..Workflow::of(program) };
            self.workflows.entry(id).or_insert(workflow);
        }
    }

    /// Takes a record in.
    pub(super) fn see(&mut self, program: ProgramNumber, seen: Seen) {
        let at_unix_ns = seen.at_unix_ns;
        match seen.what {
            What::TaskStart { task, activity, parent, workflow, .. } if self.wants(program, workflow) => {
                let activity = activity.unwrap_or_default();
                self.begin(task, Open { program, activity, started_unix_ns: at_unix_ns });
                if let Some(parent) = parent {
                    self.open.wonder_about(parent, program);
                }
            }
            What::TaskEnd { task, activity, status, stderr, .. } => {
                let error = stderr.as_deref().map(unquoted);
                let pid = self.pid(program);
                let ended = Ended { task, pid, at_unix_ns, took_ns: None, status, error };
                self.end(program, activity.unwrap_or_default(), ended);
            }
            What::WorkflowStart { workflow, name, .. } => {
                let name = name.as_deref().map(unquoted);
                let started = Workflow { name, started_unix_ns: Some(at_unix_ns), ..Workflow::of(program) };
                self.workflows.insert(workflow, started);
            }
            What::WorkflowEnd { workflow, status } => {
                let workflow = self.workflows.entry(workflow).or_insert_with(|| Workflow::of(program));
                workflow.ended = Some((at_unix_ns, status));
            }
            What::Event { .. } => self.events += 1,
            _ => {}
        }
    }

    /// Whether tasks of this workflow count.
    fn wants(&mut self, program: ProgramNumber, id: Option<WorkflowId>) -> bool {
        let known = id.map(|id| (id, self.workflows.entry(id).or_insert_with(|| Workflow::of(program))));
        match (&self.wanted, known) {
            (None, _) => true,
            (Some(_), _) if self.programs.get(program).is_some_and(|program| program.is_named) => true,
            (Some(_), None) => false,
            (Some(wanted), Some((id, workflow))) => {
                workflow.name.as_deref() == Some(wanted) || id.to_string().starts_with(wanted.as_str())
            }
        }
    }

    fn begin(&mut self, task: TaskId, open: Open) {
        let activity = open.activity.clone();
        if self.open.insert(task, open) {
            self.activities.entry(activity).or_default().running += 1;
        }
    }

    fn end(&mut self, program: ProgramNumber, activity: String, mut ended: Ended) {
        let began = self.open.remove(ended.task);
        // Without its start nobody knows whose it is.
        let is_ours = began.is_some() || self.wanted.is_none() || self.is_named(program);
        let Some(activity) = is_ours.then(|| self.activities.entry(activity).or_default()) else { return };
        match began {
            Some(began) => {
                ended.took_ns = u64::try_from(ended.at_unix_ns - began.started_unix_ns).ok();
                activity.running = activity.running.saturating_sub(1);
            }
            None if activity.end_again(&ended) => return,
            None => {}
        }
        activity.end(ended);
    }

    /// The process is gone, and what it had not ended never will.
    pub(super) fn end_program(&mut self, number: ProgramNumber, now_unix_ns: i64) {
        let pid = self.pid(number);
        if let Some(program) = self.programs.get_mut(number) {
            program.ended_unix_ns = Some(now_unix_ns);
        }
        for Task { task, open } in self.open.remove_all(number) {
            let took_ns = u64::try_from(now_unix_ns - open.started_unix_ns).ok();
            let ended = Ended {
                task,
                pid,
                at_unix_ns: now_unix_ns,
                took_ns,
                status: Status::Interrupted,
                error: None,
            };
            self.activities.entry(open.activity).or_default().interrupt(ended);
        }
        for workflow in self.workflows.values_mut().filter(|workflow| workflow.program == number) {
            workflow.ended.get_or_insert((now_unix_ns, Status::Interrupted));
        }
    }

    /// Records of this program were missed: what seems to run may have ended.
    pub(super) fn miss(&mut self, program: ProgramNumber) {
        self.open.doubt(program);
    }

    /// Tasks of which more should be known, a few at a time.
    pub(super) fn questions(&mut self) -> Vec<TaskId> {
        self.open.questions()
    }

    /// What the database knows of a task that was asked for.
    pub(super) fn answer(&mut self, task: TaskId, answer: Answer) {
        match answer {
            Answer::Unknown => self.open.ask_again(task),
            Answer::Ended => {
                if let Some(open) = self.open.remove(task) {
                    let activity = self.activities.entry(open.activity).or_default();
                    activity.running = activity.running.saturating_sub(1);
                }
            }
            Answer::Running { activity, started_unix_ns } => match self.open.believe(task) {
                Some(program) => self.begin(task, Open { program, activity, started_unix_ns }),
                None => self.open.ask_again(task),
            },
        }
    }

    /// An interval has passed: rates are of what happened in it.
    pub(super) fn tick(&mut self, now_unix_ns: i64) {
        let before = self.ticked_unix_ns.replace(now_unix_ns);
        for activity in self.activities.values_mut() {
            activity.pace.tick(before, now_unix_ns, activity.calls);
        }
        for program in &mut self.programs {
            program.pace.tick(before, now_unix_ns, program.counters.offered);
        }
        if self.workflows.len() > WORKFLOWS_KEPT {
            self.workflows.retain(|_, workflow| workflow.ended.is_none());
        }
    }

    /// The open tasks of an activity, the oldest first.
    pub(super) fn running(&self, activity: &str) -> Vec<(TaskId, &Open)> {
        let mut tasks: Vec<(TaskId, &Open)> =
            self.open.iter().filter(|(_, open)| open.activity == activity).collect();
        tasks.sort_by_key(|(task, open)| (open.started_unix_ns, *task));
        tasks
    }

    pub(super) fn pid(&self, program: ProgramNumber) -> u32 {
        self.programs.get(program).map_or(0, |program| program.pid)
    }

    fn is_named(&self, program: ProgramNumber) -> bool {
        self.programs.get(program).is_some_and(|program| program.is_named)
    }
}

/// What a JSON text says; other JSON as it is.
fn unquoted(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}
