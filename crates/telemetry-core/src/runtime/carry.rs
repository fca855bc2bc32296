//! `.in_current_task()`: what runs elsewhere or later still runs in the task that made it.

use std::future::Future;
use std::pin::Pin;
use std::process::Command;
use std::task::{Context as PollContext, Poll};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::current::{Context, Fate};
use crate::id::WorkflowId;
use crate::settings::environment::{self, PARENT_LEFT_OUT, PARENT_TASK, PARENT_WORKFLOW, TRACEPARENT};

/// Carries the context of the calling code along with a future, a stream, an iterator or a command.
/// `Kind` tells the compiler which of these it is, and is never written.
///
/// ```
/// use telemetry_core::runtime::{Context, InCurrentTask};
///
/// let squares = (1..4).map(|number| number * number).in_current_task();
/// std::thread::spawn(move || squares.sum::<i32>()).join().unwrap();
///
/// let future = async { Context::current() }.in_current_task();
/// # drop(future);
/// ```
pub trait InCurrentTask<Kind>: Sized {
    /// What carries the context.
    type Carrier;

    /// Makes tasks that run inside of this children of the task that the calling code runs in.
    fn in_current_task(self) -> Self::Carrier;
}

/// Carries the context of the calling code along with a closure.
///
/// ```
/// use telemetry_core::runtime::CallInCurrentTask;
///
/// let call = || { /* tasks here are children of the spawning one */ };
/// std::thread::spawn(call.in_current_task()).join().unwrap();
/// ```
pub trait CallInCurrentTask<R>: FnOnce() -> R + Sized {
    /// Makes tasks that the closure calls children of the task that the calling code runs in.
    fn in_current_task(self) -> impl FnOnce() -> R {
        let context = Context::current();
        move || context.run(self)
    }
}

impl<F: FnOnce() -> R, R> CallInCurrentTask<R> for F {}

pin_project! {
    /// Something that runs in a context, whoever polls it or asks for its next item.
    #[derive(Clone, Debug)]
    #[must_use = "it does nothing unless it is polled or iterated"]
    pub struct InContext<T> {
        #[pin]
        inner: T,
        context: Context,
    }
}

impl Context {
    /// Makes a future, a stream or an iterator run in this context.
    pub fn wrap<T>(&self, inner: T) -> InContext<T> {
        InContext { inner, context: *self }
    }
}

impl<F: Future> Future for InContext<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut PollContext<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.context.run(|| this.inner.poll(context))
    }
}

impl<S: Stream> Stream for InContext<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, context: &mut PollContext<'_>) -> Poll<Option<S::Item>> {
        let this = self.project();
        this.context.run(|| this.inner.poll_next(context))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<I: Iterator> Iterator for InContext<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.context.run(|| self.inner.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for InContext<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.context.run(|| self.inner.next_back())
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for InContext<I> {}

/// Kinds of things that carry a context; only ever inferred.
#[doc(hidden)]
#[derive(Debug)]
pub enum OfFuture {}
#[doc(hidden)]
#[derive(Debug)]
pub enum OfStream {}
#[doc(hidden)]
#[derive(Debug)]
pub enum OfIterator {}
#[doc(hidden)]
#[derive(Debug)]
pub enum OfCommand {}

impl<F: Future> InCurrentTask<OfFuture> for F {
    type Carrier = InContext<F>;

    fn in_current_task(self) -> InContext<F> {
        Context::current().wrap(self)
    }
}

impl<S: Stream> InCurrentTask<OfStream> for S {
    type Carrier = InContext<S>;

    fn in_current_task(self) -> InContext<S> {
        Context::current().wrap(self)
    }
}

impl<I: Iterator> InCurrentTask<OfIterator> for I {
    type Carrier = InContext<I>;

    fn in_current_task(self) -> InContext<I> {
        Context::current().wrap(self)
    }
}

/// Tells the child who starts it: a workflow of its recorder is nested in this task. Other programs find
/// the same as W3C trace context. What sampling decided here holds there, too. The environment of this process
/// stays as it is.
impl<'a> InCurrentTask<OfCommand> for &'a mut Command {
    type Carrier = &'a mut Command;

    fn in_current_task(self) -> &'a mut Command {
        let context = Context::current();
        for (name, id) in [
            (PARENT_WORKFLOW, context.workflow().map(|id| id.to_string())),
            (PARENT_TASK, context.current.recorded_task().map(|id| id.to_string())),
            (TRACEPARENT, traceparent(context)),
        ] {
            // Without one, what this process inherited itself is still true for its children.
            if let Some(id) = id {
                self.env(name, id);
            }
        }
        if context.current.fate == Fate::LeftOut {
            self.env(PARENT_LEFT_OUT, "1");
        } else if context.workflow().is_some() && environment::text(PARENT_LEFT_OUT).is_some() {
            self.env_remove(PARENT_LEFT_OUT);
        }
        self
    }
}

/// `version-trace-parent-flags`: the workflow is the trace. Of the task's id, the half that counts tells
/// it from others of its thread, and its random bits from those of other threads.
fn traceparent(context: Context) -> Option<String> {
    let task = context.current.recorded_task()?;
    let is_sampled = u8::from(context.current.fate != Fate::LeftOut);
    let trace = context.workflow().map_or(task.as_u128(), WorkflowId::as_u128);
    Some(format!("00-{trace:032x}-{:016x}-{is_sampled:02x}", task.as_u128() as u64))
}

#[cfg(test)]
mod tests {
    use super::super::current::{Bits, Current};
    use super::*;

    fn context(task: u128, workflow: u128) -> Context {
        Context { current: Current { task: Bits::new(task), workflow: Bits::new(workflow), ..Current::NONE } }
    }

    #[test]
    fn iterators_and_closures_run_in_the_context_that_made_them() {
        let made_in = context(1, 2);
        let (items, call) = made_in.run(|| {
            let items = (0..2).map(|_| Context::current()).in_current_task();
            (items, Context::current.in_current_task())
        });
        assert!(items.rev().all(|seen| seen == made_in));
        assert_eq!(call(), made_in);
        assert_eq!(Context::current(), Context::default());
    }

    #[test]
    fn a_command_names_the_task_and_the_workflow() {
        let mut command = Command::new("true");
        context(0xA1, 0xB2).run(|| {
            command.in_current_task();
        });
        let variables: Vec<String> = command
            .get_envs()
            .map(|(name, value)| format!("{}={}", name.display(), value.unwrap_or_default().display()))
            .collect();
        assert_eq!(
            variables,
            [
                "TELEMETRY_PARENT_TASK=00000000-0000-0000-0000-0000000000a1",
                "TELEMETRY_PARENT_WORKFLOW=00000000-0000-0000-0000-0000000000b2",
                "TRACEPARENT=00-000000000000000000000000000000b2-00000000000000a1-01",
            ]
        );
    }
}
