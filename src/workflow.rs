//! Workflows: by hand, and what `#[workflow]` expands to.

use telemetry_core::encoder::Encoder;
use telemetry_core::id::WorkflowId;
use telemetry_core::runtime::{AsyncWorkflow, Context, Ending, Entered, StartedWorkflow, WorkflowSite};

/// A workflow that is started and ended by hand. The calling thread is within it until it ends.
///
/// ```
/// use telemetry::{Task, Workflow};
///
/// let workflow = Workflow::start("nightly");
/// Task::start("step").end();
/// workflow.end();
/// ```
#[derive(Debug)]
#[must_use = "a workflow that is dropped unended has status UNKNOWN"]
pub struct Workflow {
    /// Left before the workflow ends.
    entered: Option<Entered>,
    started: Option<StartedWorkflow>,
}

impl Workflow {
    /// Starts a workflow. Without a recorder it does nothing.
    pub fn start(name: &str) -> Self {
        let started = StartedWorkflow::start(name, |_| {});
        let entered = started.as_ref().map(|started| started.context().enter());
        Self { entered, started }
    }

    /// The id; none without a recorder.
    pub fn id(&self) -> Option<WorkflowId> {
        self.started.as_ref().map(StartedWorkflow::id)
    }

    /// The context in which its tasks run, to be carried to other threads.
    pub fn context(&self) -> Context {
        self.started.as_ref().map_or_else(Context::current, StartedWorkflow::context)
    }

    /// Ends it as `FINISHED`.
    pub fn end(mut self) {
        self.end_as(Ending::Returned, |_| {});
    }

    /// Ends it as `ERROR` with this message.
    pub fn fail(mut self, error: impl std::fmt::Display) {
        self.end_as(Ending::Returned, |encoder| encoder.error(|encoder| encoder.display(&error)));
    }

    fn end_as(&mut self, ending: Ending, write: impl FnOnce(&mut Encoder)) {
        self.entered = None;
        if let Some(started) = self.started.take() {
            started.end(ending, write);
        }
    }
}

impl Drop for Workflow {
    fn drop(&mut self) {
        self.end_as(ending_of_drop(), |_| {});
    }
}

/// How something ends that is dropped before it was ended.
pub(crate) fn ending_of_drop() -> Ending {
    if std::thread::panicking() { Ending::Panicked } else { Ending::Unknown }
}

/// Calls a function that carries `#[workflow]`.
pub fn run_workflow<R>(
    site: &'static WorkflowSite,
    body: impl FnOnce() -> R,
    ended: impl FnOnce(&mut Encoder, &R),
) -> R {
    crate::recorder::start_automatically();
    site.run(body, ended)
}

/// Starts recording an async function that carries `#[workflow]`.
pub fn begin_workflow(site: &'static WorkflowSite) -> AsyncWorkflow {
    crate::recorder::start_automatically();
    site.begin()
}
