//! The task that code runs in, as a handle to add to it.

use std::fmt::Display;

use serde::Serialize;

use super::current::{Context, Current};
use super::fault::contained;
use super::local::Local;
use super::task::update;
use crate::encoder::Encoder;
use crate::id::TaskId;
use crate::record::Field;

/// The task that the calling code runs in: what is added to it is accepted at once and survives the
/// process. Does nothing where there is no task or no recorder.
///
/// In a function whose level is `off` it is the task that called that function. In a task that sampling
/// left out it has no id, and nothing is added to anything.
pub fn current_task() -> CurrentTask {
    CurrentTask { current: Local::with(|local| local.current.get()) }
}

/// A handle on a running task. It may go to other threads, and must not outlive the task: what is added
/// after its end is recorded too.
///
/// Of several values for one key, the one that was added last stays; what the function returns comes
/// after all of them.
#[derive(Clone, Copy, Debug)]
pub struct CurrentTask {
    current: Current,
}

impl CurrentTask {
    /// Its id; none where there is no task, or where sampling left it out.
    pub fn id(&self) -> Option<TaskId> {
        self.current.task_id()
    }

    /// The context in which its children run.
    pub fn context(&self) -> Context {
        Context { current: self.current }
    }

    /// Says what it used, beside its arguments.
    pub fn used(self, key: &str, value: impl Serialize) -> Self {
        self.update(|encoder| encoder.used_named(key, |encoder| encoder.serialize(&value)))
    }

    /// Says what it generated, beside its result.
    pub fn generated(self, key: &str, value: impl Serialize) -> Self {
        self.update(|encoder| encoder.generated_named(key, |encoder| encoder.serialize(&value)))
    }

    /// Adds metadata.
    pub fn metadata(self, key: &str, value: impl Serialize) -> Self {
        self.update(|encoder| encoder.metadata(key, |encoder| encoder.serialize(&value)))
    }

    /// Adds a tag.
    pub fn tag(self, tag: &str) -> Self {
        self.tags([tag])
    }

    /// Adds tags.
    pub fn tags<T: AsRef<str>>(self, tags: impl IntoIterator<Item = T>) -> Self {
        self.update(|encoder| tags.into_iter().for_each(|tag| encoder.text(Field::Tag, tag.as_ref())))
    }

    /// Says what it printed; the last text stays.
    pub fn stdout(self, text: impl Display) -> Self {
        self.update(|encoder| encoder.display(Field::Stdout, &text))
    }

    /// Says on which task it depends.
    pub fn depends_on(self, task: TaskId) -> Self {
        self.update(|encoder| encoder.display(Field::Dependency, &task))
    }

    fn update(self, write: impl FnOnce(&mut Encoder)) -> Self {
        contained(|| Local::with(|local| update(local, self.current, write)));
        self
    }
}
