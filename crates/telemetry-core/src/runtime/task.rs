//! One call of a recorded function, sync or async: a START before it, an END after it.

use std::any::Any;
use std::hint::cold_path;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use telemetry_journal::DropReason;
use telemetry_journal::clock::ticks;

use super::callsite::{Callsite, Site};
use super::current::{Bits, Context, Current, Fate};
use super::fault::contained;
use super::left;
use super::local::Local;
use super::more::More;
use super::recording::{Recording, active_generation, is_recording};
use super::sampling::{end_left_out, leave_out};
use crate::encoder::{Encoder, Limits};
use crate::id::TaskId;
use crate::level::Level;
use crate::record::{Field, FixedWords, Head, SnapshotUse, TaskEnd, TaskStart, TaskUpdate};
use crate::status::{ErrorKind, Status};

/// Calls `body` and records the call.
///
/// `used` writes the arguments and what else is known before the call, `ended` the result: it calls [`Encoder::error`] for an error, which is
/// what makes the status `ERROR`. Without a recording this is one relaxed load and the call.
#[inline(always)]
#[expect(clippy::inline_always, reason = "without optimization its frame would lie below every body")]
pub fn run<A, R, P: More>(
    callsite: &'static Callsite,
    arguments: A,
    used: impl FnOnce(&mut Encoder, &A) -> P,
    body: impl FnOnce(A) -> R,
    ended: impl FnOnce(&mut Encoder, &R),
) -> R {
    if !is_recording() {
        return body(arguments);
    }
    // Compared with what follows, a jump costs nothing; without a recording it would be all there is.
    cold_path();
    run_recorded(callsite, arguments, used, body, ended)
}

/// Keeps the stack small for what the body calls: everything before and after it happens in functions of
/// their own, whose frames are gone by then, and only [`Frame`] stays.
#[inline(never)]
fn run_recorded<A, R, P: More>(
    callsite: &'static Callsite,
    arguments: A,
    used: impl FnOnce(&mut Encoder, &A) -> P,
    body: impl FnOnce(A) -> R,
    ended: impl FnOnce(&mut Encoder, &R),
) -> R {
    let mut frame = Frame::NONE;
    frame.start(callsite, &arguments, used);
    if frame.task.current.task.is_none() {
        return body(arguments);
    }
    // The result does not travel through the frames of `catch_unwind`: each would hold a copy of it in
    // a build without optimization.
    let mut result = None;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _ = result.insert(body(arguments));
    }));
    frame.end(outcome, &mut result, ended)
}

/// What a sync call leaves on the stack while its body runs.
struct Frame {
    /// The context of the caller.
    previous: Current,
    /// The task; none if it is not recorded.
    task: StartedTask,
}

impl Frame {
    const NONE: Self = Self { previous: Current::NONE, task: StartedTask { current: Current::NONE } };

    #[inline(never)]
    fn start<A, P: More>(
        &mut self,
        callsite: &'static Callsite,
        arguments: &A,
        used: impl FnOnce(&mut Encoder, &A) -> P,
    ) {
        let start = |local: &Local| {
            let Some(policy) = local.policy(active_generation()) else { return };
            let (recording, site) = (policy.recording(), callsite.site(policy));
            let used = |encoder: &mut Encoder| {
                encoder.hide(callsite.hidden_keys());
                used(encoder, arguments)
            };
            StartedTask::start_and(local, recording, site, used, |current| {
                self.task = StartedTask { current };
                self.previous = local.current.get();
                local.current.set(current);
            });
        };
        contained(|| Local::with(start));
    }

    #[inline(never)]
    fn end<R>(
        &self,
        outcome: thread::Result<()>,
        result: &mut Option<R>,
        ended: impl FnOnce(&mut Encoder, &R),
    ) -> R {
        if let Err(payload) = outcome {
            self.panicked(payload);
        }
        let result = result.take().expect("the body has returned");
        contained(|| {
            Local::with(|local| {
                local.current.set(self.previous);
                self.task.end_in(local, Ending::Returned, |encoder| ended(encoder, &result));
            });
        });
        result
    }

    #[cold]
    fn panicked(&self, payload: Box<dyn Any + Send>) -> ! {
        contained(|| {
            Local::with(|local| {
                let message = |encoder: &mut Encoder| panic_message(encoder, &*payload);
                local.current.set(self.previous);
                self.task.end_in(local, Ending::Panicked, message);
            });
        });
        resume_unwind(payload)
    }
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
}

impl StartedTask {
    /// Starts a task by hand; none when nothing records, or not this activity.
    pub fn by_name(activity_id: &str, write: impl FnOnce(&mut Encoder)) -> Option<Self> {
        let generation = active_generation();
        if generation == 0 {
            return None;
        }
        let start = |local: &Local| {
            let policy = local.policy(generation)?;
            Self::start(local, policy.recording(), policy.site_by_name(activity_id, None), write)
        };
        contained(|| Local::with(start)).flatten()
    }

    #[inline]
    pub(super) fn start<P: More>(
        local: &Local,
        recording: &'static Recording,
        site: Site,
        more: impl FnOnce(&mut Encoder) -> P,
    ) -> Option<Self> {
        let mut task = None;
        Self::start_and(local, recording, site, more, |current| task = Some(Self { current }));
        task
    }

    /// Starts a task and calls `enter` with its context, if it is recorded or counted. The context is handed on
    /// and not answered: where all ways meet it would lie in memory, word by word, and the next to read it by
    /// larger pieces would wait for that.
    #[inline]
    fn start_and<P: More>(
        local: &Local,
        recording: &'static Recording,
        site: Site,
        more: impl FnOnce(&mut Encoder) -> P,
        enter: impl FnOnce(Current),
    ) {
        if site.level == Level::Off {
            return;
        }
        if local.is_encoding() {
            return local.refuse(recording, DropReason::Nested);
        }
        let mut caller = local.current.get();
        if caller.workflow.is_none() {
            caller.workflow = Bits::new(recording.oldest_workflow());
        }
        if P::HAS_MORE {
            return enter(Self::start_with_more(local, recording, site, caller, more).current);
        }
        let fate = site.plan.fate_below(caller.fate, local, recording);
        if fate == Fate::LeftOut {
            return enter(leave_out(local, recording, site, caller).current);
        }
        caller.fate = fate;
        let (current, start) = StartOf::new(local, recording, site, caller.workflow).below(caller);
        if site.level.has_values() {
            offer_with_items(local, recording, site.plan.limits, |encoder| {
                more(encoder);
                start
            });
        } else {
            local.offer(recording, start.outgoing(&mut Head::default()));
        }
        enter(current);
    }

    /// Starts a task of which it is known only once everything is said where it belongs, and so whether it
    /// is recorded.
    #[inline(never)]
    fn start_with_more<P: More>(
        local: &Local,
        recording: &'static Recording,
        site: Site,
        caller: Current,
        more: impl FnOnce(&mut Encoder) -> P,
    ) -> Self {
        let start = StartOf::new(local, recording, site, caller.workflow);
        let begin = |encoder: &mut Encoder| {
            encoder.reset(site.plan.limits);
            encoder.keep_values(site.level.has_values());
            encoder.redact_with(recording.redactor());
            let mut caller = caller.or(more(encoder).parent());
            let fate = site.plan.fate_below(caller.fate, local, recording);
            if fate == Fate::LeftOut {
                return leave_out(local, recording, site, caller);
            }
            caller.fate = fate;
            let (current, start) = start.below(caller);
            local.offer(recording, encoder.outgoing(&start));
            Self { current }
        };
        local.encode(begin)
    }

    /// The id of the task; none if sampling left it out.
    pub fn id(&self) -> Option<TaskId> {
        self.current.task_id()
    }

    /// The context in which its children run.
    pub fn context(&self) -> Context {
        Context { current: self.current }
    }

    /// Ends the task.
    pub fn end(self, ending: Ending, write: impl FnOnce(&mut Encoder)) {
        contained(|| Local::with(|local| self.end_in(local, ending, write)));
    }

    #[inline]
    fn end_in(&self, local: &Local, ending: Ending, write: impl FnOnce(&mut Encoder)) {
        if self.current.fate == Fate::LeftOut {
            return end_left_out(self.current, local, ending, write);
        }
        // A task that outlives its recording has nowhere to go; its START is interrupted by then.
        let Some(recording) = self.recording(local) else { return };
        let Some(task) = self.id() else { return };
        let Current { activity, level, workflow, .. } = self.current;
        let now = ticks();
        let snapshot = snapshot(local, recording, level, now, workflow);
        offer_with_items(local, recording, self.current.limits(), move |encoder| {
            encoder.keep_values(level.has_values());
            write(encoder);
            let (status, error_kind) = ending.status(encoder.has_error());
            if error_kind == Some(ErrorKind::Err) {
                left::blame(local, recording, self.current, encoder);
            }
            TaskEnd { task, ticks: now, status, error_kind, activity, snapshot }
        });
    }

    /// Adds to the task while it runs: survives the process from then on.
    pub fn update(&self, write: impl FnOnce(&mut Encoder)) {
        contained(|| Local::with(|local| update(local, self.current, write)));
    }

    #[inline]
    fn recording(&self, local: &Local) -> Option<&'static Recording> {
        recording_of(local, self.current)
    }
}

/// The recording that a context belongs to, if it is still in force.
#[inline]
pub(super) fn recording_of(local: &Local, current: Current) -> Option<&'static Recording> {
    local.recording(current.plan?.recording)
}

/// Adds to the task of a context.
pub(super) fn update(local: &Local, current: Current, write: impl FnOnce(&mut Encoder)) {
    let Some(task) = current.task_id() else { return };
    let Some(recording) = recording_of(local, current) else { return };
    offer_with_items(local, recording, current.limits(), |encoder| {
        encoder.keep_values(current.level.has_values());
        write(encoder);
        let (activity, ordinal) = (current.activity, recording.next_update());
        TaskUpdate { task, ticks: ticks(), activity, ordinal }
    });
}

/// What the fixed words of a START are made of.
struct StartOf {
    site: Site,
    thread: u32,
    id: u128,
    now: u64,
    snapshot: Option<SnapshotUse>,
}

impl StartOf {
    #[inline]
    fn new(local: &Local, recording: &'static Recording, site: Site, workflow: Bits) -> Self {
        let (id, now) = local.next_id(recording);
        let snapshot = snapshot(local, recording, site.level, now, workflow);
        Self { site, thread: local.thread.get(), id, now, snapshot }
    }

    /// The task's context and its START, below this caller.
    #[inline]
    fn below(&self, caller: Current) -> (Current, TaskStart) {
        let site = self.site;
        let current = caller.child(self.id, site, caller.fate);
        let start = TaskStart {
            task: TaskId::from_u128(self.id),
            parent: caller.task.task(),
            workflow: current.workflow.workflow(),
            ticks: self.now,
            activity: site.activity,
            depth: current.depth,
            level: site.level,
            thread: self.thread,
            root: current.root.task().filter(|_| !caller.task.is_none()),
            snapshot: self.snapshot,
            was_left_out: false,
        };
        (current, start)
    }
}

/// Offers a record whose items `write` writes; nothing if a record is being encoded on this thread.
#[inline]
pub(super) fn offer_with_items<F: FixedWords>(
    local: &Local,
    recording: &Recording,
    limits: Limits,
    write: impl FnOnce(&mut Encoder) -> F,
) {
    if local.is_encoding() {
        return local.refuse(recording, DropReason::Nested);
    }
    local.encode(|encoder| {
        encoder.reset(limits);
        encoder.redact_with(recording.redactor());
        let fixed = write(encoder);
        local.offer(recording, encoder.outgoing(&fixed));
    });
}

#[inline]
fn snapshot(
    local: &Local,
    recording: &Recording,
    level: Level,
    now: u64,
    workflow: Bits,
) -> Option<SnapshotUse> {
    if level.has_snapshots() { shared_snapshot(local, recording, now, workflow) } else { None }
}

/// Out of line, so that tasks without a snapshot are small.
#[inline(never)]
fn shared_snapshot(local: &Local, recording: &Recording, now: u64, workflow: Bits) -> Option<SnapshotUse> {
    recording.snapshots()?.now(local, recording, now, workflow.workflow())
}

/// Writes the message of a panic, where its payload is one.
pub(super) fn panic_message(encoder: &mut Encoder, payload: &(dyn Any + Send)) {
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    if let Some(message) = message {
        encoder.text(Field::Stderr, message);
    }
}
