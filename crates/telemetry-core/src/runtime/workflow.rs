//! One run of a program or a part of it: a START, an END, and the tasks between.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as PollContext, Poll};

use telemetry_journal::clock::ticks;

use super::current::{Bits, Context, Current, Fate};
use super::fault::contained;
use super::future::poll_in;
use super::left;
use super::local::Local;
use super::recording::{Recording, active_generation};
use super::task::{Ending, offer_with_items, panic_message, recording_of};
use crate::encoder::{Encoder, Limits};
use crate::id::{TaskId, WorkflowId};
use crate::record::{Field, WorkflowEnd, WorkflowStart};
use crate::status::{ErrorKind, Status};

/// A recorded workflow function; what the attribute puts into a static.
#[derive(Debug)]
pub struct WorkflowSite {
    name: &'static str,
    options: WorkflowOptions,
}

/// What the attribute says about a workflow beside its name.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkflowOptions {
    /// The set of workflows that it belongs to.
    pub campaign: Option<&'static str>,
    /// What it is for.
    pub description: Option<&'static str>,
    /// A free word for its kind.
    pub subtype: Option<&'static str>,
}

impl WorkflowSite {
    /// A workflow with this name.
    pub const fn new(name: &'static str, options: WorkflowOptions) -> Self {
        Self { name, options }
    }

    fn start(&self) -> Option<StartedWorkflow> {
        StartedWorkflow::start(self.name, |encoder| {
            let WorkflowOptions { campaign, description, subtype } = self.options;
            if let Some(campaign) = campaign {
                encoder.text(Field::Campaign, campaign);
            }
            if let Some(description) = description {
                encoder.metadata("workflow_description", |value| value.text(description));
            }
            if let Some(subtype) = subtype {
                encoder.text(Field::Subtype, subtype);
            }
        })
    }

    /// Calls `body` as this workflow.
    pub fn run<R>(&self, body: impl FnOnce() -> R, ended: impl FnOnce(&mut Encoder, &R)) -> R {
        let Some(workflow) = self.start() else { return body() };
        let outcome = workflow.context().run(|| catch_unwind(AssertUnwindSafe(body)));
        match &outcome {
            Ok(result) => workflow.end(Ending::Returned, |encoder| ended(encoder, result)),
            Err(payload) => workflow.end(Ending::Panicked, |encoder| panic_message(encoder, &**payload)),
        }
        outcome.unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Starts recording an async workflow function.
    pub fn begin(&self) -> AsyncWorkflow {
        AsyncWorkflow { workflow: self.start() }
    }
}

/// A workflow that has started and not ended.
#[derive(Debug)]
pub struct StartedWorkflow {
    current: Current,
}

impl StartedWorkflow {
    /// Starts a workflow; none when nothing records.
    pub fn start(name: &str, write: impl FnOnce(&mut Encoder)) -> Option<Self> {
        let generation = active_generation();
        if generation == 0 {
            return None;
        }
        let start = |local: &Local| {
            let policy = local.policy(generation)?;
            let recording = policy.recording();
            let (parent_workflow, parent_task, fate) = caller(local.current.get(), recording);
            let (id, now) = local.next_id(recording);
            let start = WorkflowStart {
                workflow: WorkflowId::from_u128(id),
                parent_workflow,
                parent_task,
                ticks: now,
            };
            recording.open_workflow(start.workflow);
            let plan = policy.plan(0);
            offer_with_items(local, recording, plan.limits, |encoder| {
                encoder.text(Field::Name, name);
                if let Some(campaign) = &recording.settings().experiment.campaign {
                    encoder.text(Field::Campaign, campaign);
                }
                write(encoder);
                start
            });
            let (workflow, plan) = (Bits::new(id), Some(plan));
            Some(Self { current: Current { workflow, plan, fate, ..Current::NONE } })
        };
        contained(|| Local::with(start)).flatten()
    }

    /// Stores a workflow that is no run but a thing, such as a model: it is there, and finished, at once. None when
    /// nothing records.
    pub fn store(name: &str, write: impl FnOnce(&mut Encoder)) -> Option<WorkflowId> {
        let generation = active_generation();
        if generation == 0 {
            return None;
        }
        Local::with(|local| {
            let policy = local.policy(generation)?;
            let recording = policy.recording();
            let (parent_workflow, parent_task, _) = caller(local.current.get(), recording);
            let (id, now) = local.next_id(recording);
            let workflow = WorkflowId::from_u128(id);
            let limits = policy.plan(0).limits;
            offer_with_items(local, recording, limits, |encoder| {
                encoder.text(Field::Name, name);
                if let Some(campaign) = &recording.settings().experiment.campaign {
                    encoder.text(Field::Campaign, campaign);
                }
                write(encoder);
                WorkflowStart { workflow, parent_workflow, parent_task, ticks: now }
            });
            let end = WorkflowEnd { workflow, ticks: now, status: Status::Finished, error_kind: None };
            offer_with_items(local, recording, limits, |_| end);
            Some(workflow)
        })
    }

    /// The id of the workflow.
    pub fn id(&self) -> WorkflowId {
        self.current.workflow.workflow().unwrap_or(WorkflowId::from_u128(0))
    }

    /// The context in which its tasks run.
    pub fn context(&self) -> Context {
        Context { current: self.current }
    }

    /// Ends the workflow.
    pub fn end(self, ending: Ending, write: impl FnOnce(&mut Encoder)) {
        let end = |local: &Local| {
            if let Some(recording) = recording_of(local, self.current) {
                let limits = self.current.plan.map_or(Limits::DEFAULT, |plan| plan.limits);
                end_workflow((local, recording, limits), self.id(), ending, write);
            }
        };
        contained(|| Local::with(end));
    }
}

/// The workflow and the task that a workflow is started in, and what sampling says of what is below; where
/// there is none, those of the process that started this one. A task that was left out is no parent, so the
/// nearest one above it that was not is.
fn caller(current: Current, recording: &Recording) -> (Option<WorkflowId>, Option<TaskId>, Fate) {
    let (workflow, task) = (current.workflow.workflow(), current.recorded_task());
    match recording.parent() {
        Some(parent) if (workflow, task) == (None, None) => {
            let fate = if parent.is_left_out { Fate::LeftOut } else { current.fate };
            (parent.workflow, parent.task, fate)
        }
        _ => (workflow, task, current.fate),
    }
}

fn end_workflow(
    (local, recording, limits): (&Local, &Recording, Limits),
    workflow: WorkflowId,
    ending: Ending,
    write: impl FnOnce(&mut Encoder),
) {
    let now = ticks();
    recording.close_workflow(workflow);
    offer_with_items(local, recording, limits, |encoder| {
        write(encoder);
        let (status, error_kind) = ending.status(encoder.has_error());
        if error_kind == Some(ErrorKind::Err) {
            let current = Current { workflow: Bits::new(workflow.as_u128()), ..Current::NONE };
            left::blame(local, recording, current, encoder);
        }
        WorkflowEnd { workflow, ticks: now, status, error_kind }
    });
}

impl Recording {
    /// Ends the workflows that are open, as nobody else will: the process exits.
    pub fn end_open_workflows(&self) {
        Local::with(|local| {
            for workflow in self.open_workflows() {
                end_workflow((local, self, Limits::DEFAULT), workflow, Ending::Unknown, |_| {});
            }
        });
    }
}

/// The record of one call of an async workflow function; it is [`Ending::Cancelled`] when it is
/// dropped before [`finish`](Self::finish).
#[derive(Debug)]
#[must_use = "an async workflow that is dropped counts as cancelled"]
pub struct AsyncWorkflow {
    workflow: Option<StartedWorkflow>,
}

impl AsyncWorkflow {
    /// Polls the function's body within the context of the workflow.
    pub fn poll<F: Future>(&mut self, context: &mut PollContext<'_>, future: Pin<&mut F>) -> Poll<F::Output> {
        let Some(workflow) = &self.workflow else { return future.poll(context) };
        match poll_in(workflow.context(), context, future) {
            Ok(poll) => poll,
            Err(payload) => {
                if let Some(workflow) = self.workflow.take() {
                    workflow.end(Ending::Panicked, |encoder| panic_message(encoder, &*payload));
                }
                resume_unwind(payload)
            }
        }
    }

    /// Ends the workflow with its result.
    pub fn finish<R>(mut self, result: &R, ended: impl FnOnce(&mut Encoder, &R)) {
        if let Some(workflow) = self.workflow.take() {
            workflow.end(Ending::Returned, |encoder| ended(encoder, result));
        }
    }
}

impl Drop for AsyncWorkflow {
    fn drop(&mut self) {
        if let Some(workflow) = self.workflow.take() {
            workflow.end(Ending::Cancelled, |_| {});
        }
    }
}
