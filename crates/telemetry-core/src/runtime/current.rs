//! Who calls: the current task of a thread, and contexts that carry it elsewhere.

use std::marker::PhantomData;

use super::callsite::Site;
use super::local::Local;
use super::open::OpenTask;
use super::policy::Plan;
use crate::encoder::Limits;
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

    pub(super) const fn from_words(words: [u64; 2]) -> Self {
        Self(words)
    }

    #[inline]
    pub(super) const fn words(self) -> [u64; 2] {
        self.0
    }

    /// A task that was left out, in the place of an id. Ids have a time in their high half.
    pub(super) const fn of_open(task: OpenTask) -> Self {
        Self([0, if task.word() == 0 { u64::MAX } else { task.word() }])
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

/// What sampling says of the tasks below a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing yet: the next rule that samples will.
    #[default]
    Undecided,
    /// They are recorded.
    Kept,
    /// They are counted only.
    LeftOut,
}

/// The task and the workflow that code runs in; an id is none where there is no such thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Current {
    /// The task; where it was left out, not its id but where it can be found: see [`Self::open_task`].
    pub(super) task: Bits,
    pub(super) root: Bits,
    pub(super) workflow: Bits,
    /// How the task is captured; names the recording that the ids are of.
    pub(super) plan: Option<&'static Plan>,
    /// The activity and the level of the task, for what is added to it while it runs.
    pub(super) activity: u32,
    pub(super) depth: u16,
    pub(super) level: Level,
    pub(super) fate: Fate,
}

impl Current {
    pub(super) const NONE: Self = Self {
        task: Bits::NONE,
        root: Bits::NONE,
        workflow: Bits::NONE,
        plan: None,
        activity: 0,
        depth: 0,
        level: Level::Off,
        fate: Fate::Undecided,
    };

    /// The context of a task `id` that was called here.
    #[inline]
    pub(super) fn child(self, id: u128, site: Site, fate: Fate) -> Self {
        let task = Bits::new(id);
        let (root, depth) =
            if self.task.is_none() { (task, 0) } else { (self.root, self.depth.saturating_add(1)) };
        let Site { activity, level, plan } = site;
        Self { task, root, plan: Some(plan), activity, depth, level, fate, ..self }
    }

    /// This, or what was given instead; that stands in the same workflow if it says none.
    pub(super) fn or(self, given: Option<Context>) -> Self {
        let mut given = given.map_or(self, |given| given.current);
        if given.workflow.is_none() {
            given.workflow = self.workflow;
        }
        given
    }

    /// The context of a task that was called here and is left out, before it has a place.
    pub(super) fn left_out(self, site: Site) -> Self {
        let Site { activity, level, plan } = site;
        let task = Bits::of_open(OpenTask::NONE);
        Self { task, plan: Some(plan), activity, level, fate: Fate::LeftOut, ..self }
    }

    /// The id of the task; none where there is none, or where it was left out.
    #[inline]
    pub(super) fn task_id(&self) -> Option<TaskId> {
        if self.fate == Fate::LeftOut { None } else { self.task.task() }
    }

    /// The task, if it was left out.
    pub(super) fn open_task(&self) -> Option<OpenTask> {
        let is_left_out = self.fate == Fate::LeftOut && !self.task.is_none();
        is_left_out.then(|| match self.task.words() {
            [0, word] if word != u64::MAX => OpenTask::from_word(word),
            _ => OpenTask::NONE,
        })
    }

    /// The nearest task from here upward that was recorded from the beginning.
    pub(super) fn recorded_task(&self) -> Option<TaskId> {
        match self.open_task() {
            Some(task) => task.anchor().task(),
            None => self.task_id(),
        }
    }

    /// What the values of the task may take.
    #[inline]
    pub(super) fn limits(&self) -> Limits {
        self.plan.map_or(Limits::DEFAULT, |plan| plan.limits)
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

    /// The task that it stands in; none in one that sampling left out, whose id nobody would find.
    pub fn task(&self) -> Option<TaskId> {
        self.current.task_id()
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
