//! One call of an async function: a future that is recorded from its first poll on.
//!
//! The arguments lie in the future of the body alone, so it is the body that begins the task, within its first poll;
//! a thread-local hands the task to the [`TaskFuture`] around it.

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as PollContext, Poll};

use pin_project_lite::pin_project;

use super::callsite::Callsite;
use super::current::{Context, Current};
use super::fault::contained;
use super::local::Local;
use super::more::More;
use super::recording::active_generation;
use super::task::{Ending, StartedTask, panic_message};
use crate::encoder::Encoder;

/// What the innermost first poll on this thread has heard from its body.
#[derive(Clone, Copy)]
enum Begun {
    /// No first poll is under way.
    Unwanted,
    Wanted,
    Task(Current),
}

thread_local! {
    static BEGUN: Cell<Begun> = const { Cell::new(Begun::Unwanted) };
}

/// Starts recording a call of an async function: the first thing that the body of a [`TaskFuture`] does.
#[inline]
pub fn begin<P: More>(callsite: &'static Callsite, used: impl FnOnce(&mut Encoder) -> P) {
    match active_generation() {
        0 => {}
        generation => begin_recorded(generation, callsite, used),
    }
}

#[inline(never)]
fn begin_recorded<P: More>(
    generation: u32,
    callsite: &'static Callsite,
    used: impl FnOnce(&mut Encoder) -> P,
) {
    if !matches!(BEGUN.get(), Begun::Wanted) {
        return;
    }
    let start = |local: &Local| {
        let Some(policy) = local.policy(generation) else { return };
        let task = StartedTask::start(local, policy.recording(), callsite.site(policy), |encoder| {
            encoder.hide(callsite.hidden_keys());
            used(encoder)
        });
        if let Some(StartedTask { current }) = task {
            local.current.set(current);
            BEGUN.set(Begun::Task(current));
        }
    };
    contained(|| Local::with(start));
}

pin_project! {
    /// The body of an async function, which [`begin`]s its task in its first poll. Each poll enters the context of
    /// the task; dropped before it is done, the task is [`Ending::Cancelled`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct TaskFuture<F, E> {
        // Dropped before the task ends.
        #[pin]
        body: F,
        task: AsyncTask,
        ended: E,
    }
}

impl<F: Future, E: Fn(&mut Encoder, &F::Output)> TaskFuture<F, E> {
    /// Of this body; `ended` writes its result.
    #[inline]
    pub fn new(body: F, ended: E) -> Self {
        Self { body, task: AsyncTask { stage: Stage::New }, ended }
    }
}

impl<F: Future, E: Fn(&mut Encoder, &F::Output)> Future for TaskFuture<F, E> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut PollContext<'_>) -> Poll<F::Output> {
        let this = self.project();
        if !this.task.is_recorded() {
            return this.body.poll(context);
        }
        match this.task.poll(context, this.body) {
            Ok(Poll::Ready(result)) => {
                this.task.end(Ending::Returned, |encoder| (this.ended)(encoder, &result));
                Poll::Ready(result)
            }
            Ok(Poll::Pending) => Poll::Pending,
            Err(payload) => {
                this.task.end(Ending::Panicked, |encoder| panic_message(encoder, &*payload));
                resume_unwind(payload)
            }
        }
    }
}

/// The record of one call; it moves between threads with its future.
#[derive(Debug)]
struct AsyncTask {
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Not polled yet.
    New,
    Running(StartedTask),
    /// It has ended, or is not recorded.
    Over,
}

const _: () = assert!(size_of::<AsyncTask>() <= 64, "it lies in every recorded future");

impl AsyncTask {
    #[inline]
    fn is_recorded(&mut self) -> bool {
        if matches!(self.stage, Stage::New) && active_generation() == 0 {
            self.stage = Stage::Over;
        }
        !matches!(self.stage, Stage::Over)
    }

    fn poll<F: Future>(
        &mut self,
        context: &mut PollContext<'_>,
        body: Pin<&mut F>,
    ) -> Result<Poll<F::Output>, Box<dyn Any + Send>> {
        if let Stage::Running(task) = &self.stage {
            return poll_in(task.context(), context, body);
        }
        // Whatever the body begins or enters, the caller's context holds again afterwards.
        let before = BEGUN.replace(Begun::Wanted);
        let outcome = poll_in(Context::current(), context, body);
        self.stage = match BEGUN.replace(before) {
            Begun::Task(current) => Stage::Running(StartedTask { current }),
            Begun::Wanted | Begun::Unwanted => Stage::Over,
        };
        outcome
    }

    fn end(&mut self, ending: Ending, write: impl FnOnce(&mut Encoder)) {
        if let Stage::Running(task) = mem::replace(&mut self.stage, Stage::Over) {
            task.end(ending, write);
        }
    }
}

impl Drop for AsyncTask {
    fn drop(&mut self) {
        self.end(Ending::Cancelled, |_| {});
    }
}

/// Polls within a context; the payload where the poll panicked.
pub(super) fn poll_in<F: Future>(
    within: Context,
    context: &mut PollContext<'_>,
    future: Pin<&mut F>,
) -> Result<Poll<F::Output>, Box<dyn Any + Send>> {
    let _entered = within.enter();
    catch_unwind(AssertUnwindSafe(|| future.poll(context)))
}

/// What a function returns: the way to write `!` where only a function may.
pub trait Returns {
    /// That type.
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}
