//! What happens when a recorded function is called: the hot path.
//!
//! One relaxed load tells whether anything records at all. If so, the thread's own state (its lane, its
//! current task, its id generator) is all that a call touches; everything that locks or allocates
//! happens once a thread, once a callsite, or when a snapshot is due.
//!
//! A thread's state lies in two thread-locals: one without a destructor, so that reaching it costs
//! nothing and works to the thread's very end, and a keeper with one, which gives the lane back. Tasks
//! in destructors that run after the keeper's go through the shared lane.

mod callsite;
mod carry;
mod current;
mod event;
mod fault;
mod future;
mod guard;
mod handle;
mod ids;
mod keeper;
mod left;
mod local;
mod more;
mod open;
mod policy;
mod recording;
mod sampling;
mod scope;
mod snapshots;
mod step;
mod task;
mod workflow;

pub use callsite::Callsite;
pub use carry::{CallInCurrentTask, InContext, InCurrentTask};
pub use current::{Context, Entered};
pub use event::{EventSite, Measured, record_event};
pub use fault::faults;
pub use future::{Returns, TaskFuture, begin};
pub use guard::Guard;
pub use handle::{CurrentTask, current_task};
pub use more::{Dependencies, More, Parent};
pub use recording::{
    AlreadyRecording, HeldForFork, ProcessParent, Recording, RecordingOptions, active_recording, is_recording,
};
pub use scope::Scope;
pub use step::{Choice, Step};
pub use task::{Ending, StartedTask, run};
pub use workflow::{AsyncWorkflow, StartedWorkflow, WorkflowOptions, WorkflowSite};
