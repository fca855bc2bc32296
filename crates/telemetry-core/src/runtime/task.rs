//! One call of a recorded function, sync or async: a START before it, an END after it.

use std::any::Any;
use std::future::Future;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as PollContext, Poll};

use telemetry_journal::clock::ticks;
use telemetry_journal::{DropReason, Outgoing};

use super::callsite::{Callsite, Site};
use super::current::{Context, Current};
use super::keeper;
use super::local::Local;
use super::recording::{Recording, active_generation};
use crate::encoder::{Encoder, Limits};
use crate::id::{TaskId, WorkflowId};
use crate::level::Level;
use crate::record::{Field, Kind, SnapshotUse, TaskEnd, TaskStart, TaskUpdate};
use crate::status::{ErrorKind, Status};

/// Calls `body` and records the call.
///
/// `used` writes the arguments, `ended` the result: it calls [`Encoder::error`] for an error, which is
/// what makes the status `ERROR`. Without a recording this is one relaxed load and the call.
#[inline]
pub fn run<A, R>(
    callsite: &'static Callsite,
    arguments: A,
    used: impl FnOnce(&mut Encoder, &A),
    body: impl FnOnce(A) -> R,
    ended: impl FnOnce(&mut Encoder, &R),
) -> R {
    match active_generation() {
        0 => body(arguments),
        generation => run_recorded(generation, callsite, arguments, used, body, ended),
    }
}

#[inline(never)]
fn run_recorded<A, R>(
    generation: u32,
    callsite: &'static Callsite,
    arguments: A,
    used: impl FnOnce(&mut Encoder, &A),
    body: impl FnOnce(A) -> R,
    ended: impl FnOnce(&mut Encoder, &R),
) -> R {
    let started = Local::with(|local| {
        let recording = local.recording(generation)?;
        let site = callsite.site(recording);
        let task = StartedTask::start(local, recording, site, |encoder| used(encoder, &arguments))?;
        Some((local.current.replace(task.current), task))
    });
    let Some((previous, task)) = started else { return body(arguments) };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(arguments)));
    Local::with(|local| {
        local.current.set(previous);
        match &outcome {
            Ok(result) => task.end_in(local, Ending::Returned, |encoder| ended(encoder, result)),
            Err(payload) => {
                task.end_in(local, Ending::Panicked, |encoder| panic_message(encoder, &**payload));
            }
        }
    });
    outcome.unwrap_or_else(|payload| resume_unwind(payload))
}

/// How a task came to its end; an error that was written makes [`Ending::Returned`] an `ERROR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It returned.
    Returned,
    /// It panicked.
    Panicked,
    /// Its future was dropped before it was done.
    Cancelled,
    /// Nobody said how.
    Unknown,
}

impl Ending {
    pub(super) fn status(self, has_error: bool) -> (Status, Option<ErrorKind>) {
        match self {
            Self::Returned if has_error => (Status::Error, Some(ErrorKind::Err)),
            Self::Returned => (Status::Finished, None),
            Self::Panicked => (Status::Error, Some(ErrorKind::Panic)),
            Self::Cancelled => (Status::Cancelled, None),
            Self::Unknown => (Status::Unknown, None),
        }
    }
}

/// A task that has started and not ended. Holds ids only: it may move between threads.
#[derive(Debug)]
pub struct StartedTask {
    pub(super) current: Current,
    site: Site,
    generation: u32,
}

impl StartedTask {
    /// Starts a task by hand; none when nothing records, or not this activity.
    pub fn by_name(activity_id: &str, write: impl FnOnce(&mut Encoder)) -> Option<Self> {
        let generation = active_generation();
        if generation == 0 {
            return None;
        }
        Local::with(|local| {
            let recording = local.recording(generation)?;
            let site = recording.site_by_name(activity_id);
            Self::start(local, recording, site, write)
        })
    }

    #[inline]
    pub(super) fn start(
        local: &Local,
        recording: &'static Recording,
        site: Site,
        used: impl FnOnce(&mut Encoder),
    ) -> Option<Self> {
        if site.level == Level::Off {
            return None;
        }
        if local.is_encoding() {
            local.refuse(recording, DropReason::Nested);
            return None;
        }
        let caller = local.current.get();
        let workflow = if caller.workflow == 0 { recording.oldest_workflow() } else { caller.workflow };
        let (id, now) = local.next_id(recording);
        let current = caller.child(id, workflow);
        let start = TaskStart {
            task: TaskId::from_u128(id),
            parent: (caller.task != 0).then(|| TaskId::from_u128(caller.task)),
            workflow: (workflow != 0).then(|| WorkflowId::from_u128(workflow)),
            ticks: now,
            activity: site.activity,
            depth: current.depth,
            level: site.level,
            thread: local.thread.get(),
            root: (current.root != id).then(|| TaskId::from_u128(current.root)),
            snapshot: snapshot(local, recording, site.level, now, workflow),
        };
        let fixed = start.encode();
        if site.level.has_values() {
            offer_with_items(local, recording, recording.limits(), |encoder| {
                used(encoder);
                (Kind::TaskStart, &*fixed)
            });
        } else {
            local.offer(recording, Outgoing { kind: Kind::TaskStart.code(), fixed: &fixed, tail: &[] });
        }
        Some(Self { current, site, generation: recording.generation() })
    }

    /// The id of the task.
    pub fn id(&self) -> TaskId {
        TaskId::from_u128(self.current.task)
    }

    /// The context in which its children run.
    pub fn context(&self) -> Context {
        Context { current: self.current }
    }

    /// Ends the task.
    pub fn end(self, ending: Ending, write: impl FnOnce(&mut Encoder)) {
        Local::with(|local| self.end_in(local, ending, write));
    }

    #[inline]
    fn end_in(&self, local: &Local, ending: Ending, write: impl FnOnce(&mut Encoder)) {
        // A task that outlives its recording has nowhere to go; its START is interrupted by then.
        let Some(recording) = self.recording(local) else { return };
        let now = ticks();
        let snapshot = snapshot(local, recording, self.site.level, now, self.current.workflow);
        let limits = Limits { values: self.site.level.has_values(), ..recording.limits() };
        offer_with_items(local, recording, limits, |encoder| {
            write(encoder);
            let (status, error_kind) = ending.status(encoder.has_error());
            let (task, activity) = (self.id(), self.site.activity);
            (Kind::TaskEnd, TaskEnd { task, ticks: now, status, error_kind, activity, snapshot }.encode())
        });
    }

    /// Adds to the task while it runs: survives the process from then on.
    pub fn update(&self, ordinal: u32, write: impl FnOnce(&mut Encoder)) {
        Local::with(|local| {
            let Some(recording) = self.recording(local) else { return };
            let limits = Limits { values: self.site.level.has_values(), ..recording.limits() };
            let update =
                TaskUpdate { task: self.id(), ticks: ticks(), activity: self.site.activity, ordinal };
            offer_with_items(local, recording, limits, |encoder| {
                write(encoder);
                (Kind::TaskUpdate, update.encode())
            });
        });
    }

    #[inline]
    fn recording(&self, local: &Local) -> Option<&'static Recording> {
        local.recording(self.generation).filter(|recording| recording.generation() == self.generation)
    }
}

/// Offers a record whose items `write` writes; nothing if a record is being encoded on this thread.
#[inline]
pub(super) fn offer_with_items<W: Deref<Target = [u64]>>(
    local: &Local,
    recording: &Recording,
    limits: Limits,
    write: impl FnOnce(&mut Encoder) -> (Kind, W),
) {
    if local.is_encoding() {
        return local.refuse(recording, DropReason::Nested);
    }
    local.encoding(|| {
        keeper::with_encoder(|encoder| {
            encoder.reset(limits);
            let (kind, fixed) = write(encoder);
            local.offer(recording, Outgoing { kind: kind.code(), fixed: &fixed, tail: encoder.bytes() });
        });
    });
}

#[inline]
fn snapshot(
    local: &Local,
    recording: &Recording,
    level: Level,
    now: u64,
    workflow: u128,
) -> Option<SnapshotUse> {
    let snapshots = recording.snapshots().filter(|_| level.has_snapshots())?;
    snapshots.now(local, recording, now, workflow)
}

/// Writes the message of a panic, where its payload is one.
pub(super) fn panic_message(encoder: &mut Encoder, payload: &(dyn Any + Send)) {
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    if let Some(message) = message {
        encoder.text(Field::Stderr, message);
    }
}

/// The record of one call of an async function. It rides in the function's future, enters its context
/// on each poll, and is [`Ending::Cancelled`] when it is dropped before [`finish`](Self::finish).
#[derive(Debug)]
#[must_use = "an async task that is dropped counts as cancelled"]
pub struct AsyncTask {
    task: Option<StartedTask>,
}

/// Starts recording a call of an async function.
#[inline]
pub fn begin(callsite: &'static Callsite, used: impl FnOnce(&mut Encoder)) -> AsyncTask {
    match active_generation() {
        0 => AsyncTask { task: None },
        generation => begin_recorded(generation, callsite, used),
    }
}

#[inline(never)]
fn begin_recorded(
    generation: u32,
    callsite: &'static Callsite,
    used: impl FnOnce(&mut Encoder),
) -> AsyncTask {
    let task = Local::with(|local| {
        let recording = local.recording(generation)?;
        StartedTask::start(local, recording, callsite.site(recording), used)
    });
    AsyncTask { task }
}

impl AsyncTask {
    /// Polls the function's body within the context of the task.
    #[inline]
    pub fn poll<F: Future>(&mut self, context: &mut PollContext<'_>, future: Pin<&mut F>) -> Poll<F::Output> {
        let Some(task) = &self.task else { return future.poll(context) };
        match poll_in(task.context(), context, future) {
            Ok(poll) => poll,
            Err(payload) => {
                if let Some(task) = self.task.take() {
                    task.end(Ending::Panicked, |encoder| panic_message(encoder, &*payload));
                }
                resume_unwind(payload)
            }
        }
    }

    /// Ends the task with its result.
    #[inline]
    pub fn finish<R>(mut self, result: &R, ended: impl FnOnce(&mut Encoder, &R)) {
        if let Some(task) = self.task.take() {
            task.end(Ending::Returned, |encoder| ended(encoder, result));
        }
    }
}

impl Drop for AsyncTask {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.end(Ending::Cancelled, |_| {});
        }
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
