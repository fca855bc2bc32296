//! A step whose context holds on its thread until it is dropped, wherever control leaves it.

use std::fmt::Display;
use std::thread::panicking;

use super::current::{Context, Current};
use super::left;
use super::local::Local;
use super::task::{Ending, StartedTask};
use crate::encoder::Encoder;
use crate::id::TaskId;

/// A step that runs from here to where this is dropped: `FINISHED`, or `ERROR` if that is because of a panic.
///
/// It may be dropped on another thread; the context then stays what it is there.
#[derive(Debug)]
#[must_use = "the step ends when this is dropped"]
pub struct Scope {
    started: Option<StartedTask>,
    previous: Current,
    /// Whether the step is made by a destructor that runs because of an earlier panic.
    was_panicking: bool,
}

impl Scope {
    /// Makes a step the context of the calling thread; nothing with none.
    pub fn enter(started: Option<StartedTask>) -> Self {
        let previous = Local::with(|local| match &started {
            Some(started) => local.current.replace(started.current),
            None => local.current.get(),
        });
        Self { started, previous, was_panicking: panicking() }
    }

    /// The id of the step; none where it is not recorded, or was left out.
    pub fn id(&self) -> Option<TaskId> {
        self.started.as_ref().and_then(StartedTask::id)
    }

    /// The context in which what is below the step runs.
    pub fn context(&self) -> Context {
        self.started.as_ref().map_or(Context { current: self.previous }, StartedTask::context)
    }

    /// Adds to the step: survives the process from then on.
    pub fn update(&self, write: impl FnOnce(&mut Encoder)) {
        if let Some(started) = &self.started {
            started.update(write);
        }
    }

    /// Ends the step as `ERROR` with this message, now.
    pub fn fail(&mut self, error: &dyn Display) {
        if let Some(started) = self.leave() {
            started.end(Ending::Returned, |encoder| encoder.error(|value| value.display(error)));
        }
    }

    /// Says that a loop was left early by this iteration, which has just ended: see `left.rs`.
    pub fn was_left(iteration: TaskId) {
        left::note_left(iteration);
    }

    /// Makes the context of before the current one again, if the step's still is.
    fn leave(&mut self) -> Option<StartedTask> {
        let started = self.started.take()?;
        Local::with(|local| {
            if local.current.get() == started.current {
                local.current.set(self.previous);
            }
        });
        Some(started)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let Some(started) = self.leave() else { return };
        let current = started.current;
        if panicking() && !self.was_panicking {
            return started.end(Ending::Panicked, |_| {});
        }
        started.end(Ending::Returned, |_| {});
        left::note_end(current, self.previous);
    }
}
