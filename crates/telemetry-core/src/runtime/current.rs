//! Who calls: the current task of a thread, and contexts that carry it elsewhere.

use std::marker::PhantomData;

use super::local::Local;
use crate::id::{TaskId, WorkflowId};

/// The task and the workflow that code runs in; zero where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) task: u128,
    pub(super) root: u128,
    pub(super) workflow: u128,
    pub(super) depth: u16,
}

impl Current {
    pub(super) const NONE: Self = Self { task: 0, root: 0, workflow: 0, depth: 0 };

    /// The context of a task `id` that was called here.
    #[inline]
    pub(super) fn child(self, id: u128, workflow: u128) -> Self {
        if self.task == 0 {
            return Self { task: id, root: id, workflow, depth: 0 };
        }
        Self { task: id, root: self.root, workflow, depth: self.depth.saturating_add(1) }
    }
}

/// The task and workflow that code runs in, to be carried to another thread.
///
/// ```
/// use telemetry_core::runtime::Context;
///
/// let context = Context::current();
/// std::thread::spawn(move || context.run(|| { /* tasks here are children of the spawning one */ }))
///     .join()
///     .unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    pub(super) current: Current,
}

impl Context {
    /// The context of the calling code.
    pub fn current() -> Self {
        Self { current: Local::with(|local| local.current.get()) }
    }

    /// The task that it stands in.
    pub fn task(&self) -> Option<TaskId> {
        (self.current.task != 0).then(|| TaskId::from_u128(self.current.task))
    }

    /// The workflow that it stands in.
    pub fn workflow(&self) -> Option<WorkflowId> {
        (self.current.workflow != 0).then(|| WorkflowId::from_u128(self.current.workflow))
    }

    /// Makes this the context of the calling thread until the guard is dropped.
    #[must_use = "the context is left when the guard is dropped"]
    pub fn enter(&self) -> Entered {
        let previous = Local::with(|local| local.current.replace(self.current));
        Entered { previous, stays_on_its_thread: PhantomData }
    }

    /// Runs `body` in this context.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        let _entered = self.enter();
        body()
    }
}

/// Leaves a context when it is dropped.
#[derive(Debug)]
pub struct Entered {
    previous: Current,
    stays_on_its_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        Local::with(|local| local.current.set(self.previous));
    }
}
