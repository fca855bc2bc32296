//! Tasks by hand, where a step is not a function.

use std::fmt::Display;

use serde::Serialize;
use telemetry_core::encoder::Encoder;
use telemetry_core::id::TaskId;
use telemetry_core::record::Field;
use telemetry_core::runtime::{Context, Ending, StartedTask};

/// A task that is started and ended by hand.
///
/// Everything that is said about it is accepted at once and survives the process. Dropped unended it is
/// `ERROR` while a panic unwinds, else `UNKNOWN`.
///
/// ```
/// use telemetry::Task;
///
/// let task = Task::start("load").used("path", "input.csv");
/// let rows = task.run(|| 42); // tasks in here are its children
/// task.generated("rows", rows).end();
/// ```
#[derive(Debug)]
#[must_use = "a task that is dropped unended has status UNKNOWN"]
pub struct Task {
    started: Option<StartedTask>,
}

impl Task {
    /// Starts a task of this activity, as a child of the task that the calling code runs in. Without a
    /// recorder it does nothing.
    pub fn start(activity: &str) -> Self {
        Self { started: StartedTask::by_name(activity, |_| {}) }
    }

    /// Says what it used.
    pub fn used(self, key: &str, value: impl Serialize) -> Self {
        self.update(|encoder| encoder.used_named(key, |encoder| encoder.serialize(&value)))
    }

    /// Says what it generated.
    pub fn generated(self, key: &str, value: impl Serialize) -> Self {
        self.update(|encoder| encoder.generated_named(key, |encoder| encoder.serialize(&value)))
    }

    /// Says on which task it depends.
    pub fn depends_on(self, task: TaskId) -> Self {
        self.update(|encoder| encoder.text(Field::Dependency, &task.to_string()))
    }

    /// The id; none without a recorder, or where sampling left the task out.
    pub fn id(&self) -> Option<TaskId> {
        self.started.as_ref().and_then(StartedTask::id)
    }

    /// The context in which its children run; without a recorder, that of the calling code.
    pub fn context(&self) -> Context {
        self.started.as_ref().map_or_else(Context::current, StartedTask::context)
    }

    /// Runs `body` within the task: tasks that it calls are children of this one.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        self.context().run(body)
    }

    /// Ends it as `FINISHED`.
    pub fn end(mut self) {
        if let Some(started) = self.started.take() {
            started.end(Ending::Returned, |_| {});
        }
    }

    /// Ends it as `ERROR` with this message.
    pub fn fail(mut self, error: impl Display) {
        if let Some(started) = self.started.take() {
            started.end(Ending::Returned, |encoder| encoder.error(|encoder| encoder.display(&error)));
        }
    }

    fn update(self, write: impl FnOnce(&mut Encoder)) -> Self {
        if let Some(started) = &self.started {
            started.update(write);
        }
        self
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(started) = self.started.take() {
            started.end(super::workflow::ending_of_drop(), |_| {});
        }
    }
}
