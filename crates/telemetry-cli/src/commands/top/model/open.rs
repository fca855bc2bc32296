//! The tasks that run, and those of which it is not sure.
//!
//! At most [`OPEN_MAX`] are remembered; a task beyond that is counted when it ends, without a duration.

use std::collections::{HashMap, HashSet, VecDeque};

use telemetry_core::id::TaskId;

use super::ProgramNumber;

const OPEN_MAX: usize = 100_000;
/// So many questions wait at the most, and so many are asked at a time.
const QUESTIONS_MAX: usize = 10_000;
const QUESTIONS_AT_ONCE: usize = 200;

/// A task that runs.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::commands::top) struct Open {
    pub(in crate::commands::top) program: ProgramNumber,
    pub(in crate::commands::top) activity: String,
    pub(in crate::commands::top) started_unix_ns: i64,
}

/// An open task with its id.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) task: TaskId,
    pub(super) open: Open,
}

/// What is known elsewhere of a task.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::commands::top) enum Answer {
    /// Nothing, or not yet.
    Unknown,
    Ended,
    Running {
        activity: String,
        started_unix_ns: i64,
    },
}

/// The open tasks.
#[derive(Debug, Default)]
pub(super) struct OpenTasks {
    tasks: HashMap<TaskId, Open>,
    questions: VecDeque<TaskId>,
    /// Callers that were not seen to begin, and whose program; asked for once each.
    unknown: HashMap<TaskId, ProgramNumber>,
    wondered_about: HashSet<TaskId>,
    /// Of the open ones, those whose end may have been missed: asked for until they end.
    doubted: HashSet<TaskId>,
}

impl OpenTasks {
    /// Whether it is new, and there is room for it.
    pub(super) fn insert(&mut self, task: TaskId, open: Open) -> bool {
        self.tasks.len() < OPEN_MAX && self.tasks.insert(task, open).is_none()
    }

    pub(super) fn remove(&mut self, task: TaskId) -> Option<Open> {
        self.unknown.remove(&task);
        self.doubted.remove(&task);
        self.tasks.remove(&task)
    }

    pub(super) fn remove_all(&mut self, program: ProgramNumber) -> Vec<Task> {
        self.unknown.retain(|_, of| *of != program);
        self.doubted.retain(|task| self.tasks.get(task).is_some_and(|open| open.program != program));
        let gone = self.tasks.extract_if(|_, open| open.program == program);
        gone.map(|(task, open)| Task { task, open }).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (TaskId, &Open)> {
        self.tasks.iter().map(|(task, open)| (*task, open))
    }

    /// Somebody called by this task began; so it runs, or ran.
    pub(super) fn wonder_about(&mut self, task: TaskId, program: ProgramNumber) {
        let has_room = self.questions.len() < QUESTIONS_MAX && self.wondered_about.len() < OPEN_MAX;
        if has_room && !self.tasks.contains_key(&task) && self.wondered_about.insert(task) {
            self.unknown.insert(task, program);
            self.questions.push_back(task);
        }
    }

    /// The ends of some of these may have been missed.
    pub(super) fn doubt(&mut self, program: ProgramNumber) {
        for (task, _) in self.tasks.iter().filter(|(_, open)| open.program == program) {
            if self.questions.len() < QUESTIONS_MAX && self.doubted.insert(*task) {
                self.questions.push_back(*task);
            }
        }
    }

    /// Asks again later, while it is not known how it stands.
    pub(super) fn ask_again(&mut self, task: TaskId) {
        if self.unknown.contains_key(&task) || self.doubted.contains(&task) {
            self.questions.push_back(task);
        }
    }

    pub(super) fn questions(&mut self) -> Vec<TaskId> {
        let count = self.questions.len().min(QUESTIONS_AT_ONCE);
        self.questions.drain(..count).collect()
    }

    /// The program of a task that nobody saw begin, if it was asked for.
    pub(super) fn believe(&mut self, task: TaskId) -> Option<ProgramNumber> {
        self.unknown.remove(&task)
    }
}
