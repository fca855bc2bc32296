//! What a call may say about itself beside its arguments: below which task it stands, on which it depends.

use std::borrow::Borrow;

use super::current::{Bits, Context, Current, Fate};
use crate::id::TaskId;

/// What the closure answers that writes the items of a START.
pub trait More {
    /// Whether it writes items that belong to every level, so that it has to be called.
    const HAS_MORE: bool;

    /// The context that the task is called in, if it is not that of the calling code.
    fn parent(self) -> Option<Context>;
}

/// Arguments only.
impl More for () {
    const HAS_MORE: bool = false;

    #[inline]
    fn parent(self) -> Option<Context> {
        None
    }
}

/// Items of every level, and maybe a parent.
impl More for Option<Context> {
    const HAS_MORE: bool = true;

    fn parent(self) -> Option<Context> {
        self
    }
}

/// What `parent = …` may be given: a task's id, maybe, or a context.
///
/// Of a context everything is known; of an id alone neither its root nor its depth are, so the task
/// counts as the child of a task without parent, and sampling decides anew.
pub trait Parent {
    /// The context to start in; none for that of the calling code.
    fn context(self) -> Option<Context>;
}

impl Parent for Context {
    fn context(self) -> Option<Context> {
        Some(self)
    }
}

impl Parent for TaskId {
    fn context(self) -> Option<Context> {
        let here = Context::current();
        if here.task() == Some(self) {
            return None;
        }
        let id = Bits::new(self.as_u128());
        let fate = Fate::Undecided;
        Some(Context { current: Current { task: id, root: id, depth: 0, fate, ..here.current } })
    }
}

impl<P: Parent> Parent for Option<P> {
    fn context(self) -> Option<Context> {
        self.and_then(Parent::context)
    }
}

impl<P: Parent + Copy> Parent for &P {
    fn context(self) -> Option<Context> {
        (*self).context()
    }
}

/// What `depends_on = …` may be given: a task's id, or any number of them.
pub trait Dependencies {
    /// Hands each id on.
    fn each(self, take: impl FnMut(TaskId));
}

impl Dependencies for TaskId {
    fn each(self, mut take: impl FnMut(TaskId)) {
        take(self);
    }
}

impl Dependencies for &TaskId {
    fn each(self, mut take: impl FnMut(TaskId)) {
        take(*self);
    }
}

impl<I: IntoIterator<Item: Borrow<TaskId>>> Dependencies for I {
    fn each(self, mut take: impl FnMut(TaskId)) {
        self.into_iter().for_each(|id| take(*id.borrow()));
    }
}
