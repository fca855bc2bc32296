//! One iteration of a loop.

use std::fmt::Display;
use std::ops::{Deref, DerefMut};

use serde::Serialize;

use super::Track;
use super::training::batches_within;
use crate::id::TaskId;
use crate::inspect::Inspectable;
use crate::runtime::{Context, Scope};

/// An item of a loop, and the task that its iteration is. It can be used like the item; to have the item itself, take
/// it apart:
///
/// ```
/// use telemetry_core::track::{Iteration, track};
///
/// let names = vec![String::from("a"), String::from("b")];
/// let mut kept: Vec<String> = Vec::new();
/// for Iteration { item, task } in track("names", names) {
///     task.generated("length", item.len());
///     kept.push(item);
/// }
/// ```
///
/// In an async function that is no task itself, what runs on the same thread meanwhile would seem to be below the
/// iteration: put `#[task]` on the function, and `.in_current_task()` on what it awaits.
#[derive(Debug)]
#[must_use = "the iteration ends when this is dropped"]
pub struct Iteration<T> {
    /// The item, dropped before the task ends.
    pub item: T,
    /// The task.
    pub task: IterationTask,
}

impl<T> Iteration<T> {
    /// How many iterations were before it.
    pub fn index(&self) -> u64 {
        self.task.index()
    }

    /// Says what it generated: accepted at once, survives the process.
    pub fn generated(&self, key: &str, value: impl Serialize) -> &Self {
        self.task.generated(key, value);
        self
    }

    /// Says what it used, beside its index and item.
    pub fn used(&self, key: &str, value: impl Serialize) -> &Self {
        self.task.used(key, value);
        self
    }

    /// Ends it now as `ERROR` with this message.
    pub fn fail(&mut self, error: impl Display) {
        self.task.fail(error);
    }

    /// The id of its task; none where it is not recorded.
    pub fn id(&self) -> Option<TaskId> {
        self.task.id()
    }

    /// A loop over batches within this epoch; see [`batches`](super::batches).
    pub fn batches<I: IntoIterator<Item: Inspectable>>(&self, step: &str, items: I) -> Track<I::IntoIter> {
        self.task.batches(step, items)
    }
}

impl<T> Deref for Iteration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.item
    }
}

impl<T> DerefMut for Iteration<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.item
    }
}

/// The task of one iteration: it ends when this is dropped, as `FINISHED`, or as `ERROR` because of a panic. Where the
/// loop is left by `?`, and the task or workflow around it fails with that error, so has the iteration.
#[derive(Debug)]
#[must_use = "the iteration ends when this is dropped"]
pub struct IterationTask {
    scope: Scope,
    index: u64,
}

impl IterationTask {
    pub(super) fn new(scope: Scope, index: u64) -> Self {
        Self { scope, index }
    }

    /// How many iterations were before it.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The id; none where it is not recorded.
    pub fn id(&self) -> Option<TaskId> {
        self.scope.id()
    }

    /// The context in which its children run, to be carried to other threads.
    pub fn context(&self) -> Context {
        self.scope.context()
    }

    /// Says what it generated: accepted at once, survives the process.
    pub fn generated(&self, key: &str, value: impl Serialize) -> &Self {
        self.scope.update(|encoder| encoder.generated_named(key, |encoder| encoder.serialize(&value)));
        self
    }

    /// Says what it used, beside its index and item.
    pub fn used(&self, key: &str, value: impl Serialize) -> &Self {
        self.scope.update(|encoder| encoder.used_named(key, |encoder| encoder.serialize(&value)));
        self
    }

    /// Ends it now as `ERROR` with this message.
    pub fn fail(&mut self, error: impl Display) {
        self.scope.fail(&error);
    }

    /// A loop over batches within this epoch; see [`batches`](super::batches).
    pub fn batches<I: IntoIterator<Item: Inspectable>>(&self, step: &str, items: I) -> Track<I::IntoIter> {
        batches_within(self.context(), step, items)
    }
}
