//! Who calls: the current task of a thread, and contexts that carry it elsewhere.

use std::marker::PhantomData;

use super::callsite::Site;
use super::local::Local;
use crate::id::{TaskId, WorkflowId};
use crate::level::Level;

/// An id or none, as two words: `u128` would align to 16 bytes, and this lies in every recorded future.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits([u64; 2]);

impl Bits {
    pub(super) const NONE: Self = Self([0; 2]);

    #[inline]
    pub(super) const fn new(bits: u128) -> Self {
        Self([(bits >> 64) as u64, bits as u64])
    }

    #[inline]
    pub(super) const fn is_none(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    #[inline]
    pub(super) const fn task(self) -> Option<TaskId> {
        TaskId::from_words(self.0[0], self.0[1])
    }

    #[inline]
    pub(super) const fn workflow(self) -> Option<WorkflowId> {
        WorkflowId::from_words(self.0[0], self.0[1])
    }
}

/// The task and the workflow that code runs in; an id is none where there is no such thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) task: Bits,
    pub(super) root: Bits,
    pub(super) workflow: Bits,
    /// The recording that the ids are of.
    pub(super) generation: u32,
    /// The activity and the level of the task, for what is added to it while it runs.
    pub(super) activity: u32,
    pub(super) depth: u16,
    pub(super) level: Level,
}

impl Current {
    pub(super) const NONE: Self = Self {
        task: Bits::NONE,
        root: Bits::NONE,
        workflow: Bits::NONE,
        generation: 0,
        activity: 0,
        depth: 0,
        level: Level::Off,
    };

    /// The context of a task `id` that was called here.
    #[inline]
    pub(super) fn child(self, id: u128, site: Site, generation: u32) -> Self {
        let task = Bits::new(id);
        let (root, depth) =
            if self.task.is_none() { (task, 0) } else { (self.root, self.depth.saturating_add(1)) };
        Self { task, root, generation, activity: site.activity, depth, level: site.level, ..self }
    }
}

impl Default for Current {
    fn default() -> Self {
        Self::NONE
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
        self.current.task.task()
    }

    /// The workflow that it stands in.
    pub fn workflow(&self) -> Option<WorkflowId> {
        self.current.workflow.workflow()
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
