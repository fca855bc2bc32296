//! Records the provenance of workflows and model code while they run, and makes it answerable with SQL.
//!
//! Put [`#[task]`](task) on a function, and every call is recorded: what it used and generated, how it
//! ended, who called it, and what the machine was doing. [`#[workflow]`](workflow) on `main` starts the
//! recorder with the settings that are found.
//!
//! ```no_run
//! use telemetry::{task, workflow};
//!
//! #[task(output = "y")]
//! fn mult_two(x: i64) -> i64 {
//!     2 * x
//! }
//!
//! #[workflow(name = "demo")]
//! fn main() {
//!     mult_two(21);
//! }
//! ```
//!
//! This leaves `.telemetry/provenance.db`, which any SQLite client reads: see [`store::Reader`], the
//! program `telemetry`, and the cookbook `docs/sql.md`.
//!
//! - [`Recorder`], [`Workflow`] and [`Task`] do the same by hand.
//! - [`Context`] carries the caller into threads.
//! - [`file()`] records a file with its content's hash, and [`Capture`] gives a type a form of its own.
//! - [`track`](track()) records the iterations of a loop; [`#[model]`](macro@model), [`#[forward]`](forward) and
//!   [`Layer`] record models.
//! - [`testing`] records into memory and prints the tree of calls.
//! - [`Settings`] say how much is captured and where it goes.
//!
//! What is accepted survives the process: it lies in shared memory, and the next start in the same folder
//! brings in what a killed process left.
#![forbid(unsafe_code)]

#[cfg(feature = "sqlite")]
mod drain;
#[cfg(not(feature = "sqlite"))]
#[path = "drain/none.rs"]
mod drain;
mod error;
mod event;
mod facts;
mod fork;
#[cfg(doctest)]
mod pages;
mod recorder;
mod reload;
mod sampler;
#[cfg(feature = "sensors")]
mod sensors;
#[cfg(not(feature = "sensors"))]
#[path = "sensors/none.rs"]
mod sensors;
#[cfg(feature = "sqlite")]
mod sessions;
mod task;
#[cfg(feature = "sqlite")]
pub mod testing;
mod ticker;
mod warning;
mod workflow;

pub use error::Error;
pub use event::Event;
pub use recorder::{Flushed, Recorder};

pub use task::Task;
pub use telemetry_core::capture::Capture;
pub use telemetry_core::encoder::ValueEncoder;
pub use telemetry_core::event::{Category, EventKind, EventValue};
pub use telemetry_core::file::{File, file};
pub use telemetry_core::id::{ParseIdError, TaskId, WorkflowId};
pub use telemetry_core::inspect::{
    Inspect, InspectRequest, Inspectable, Inspection, Number, inspect, inspect_fully,
};
pub use telemetry_core::level::Level;
pub use telemetry_core::model::{Describe, Description, Layer, LayerOutput, Model};
pub use telemetry_core::runtime::{CallInCurrentTask, InContext, InCurrentTask};
pub use telemetry_core::runtime::{Context, CurrentTask, Entered, current_task};
pub use telemetry_core::settings::{Settings, SettingsError};
pub use telemetry_core::status::{ErrorKind, Status};
pub use telemetry_core::tap::{Seen, Tap, What};
pub use telemetry_core::track::{Iteration, IterationTask, Track, batches, epochs, track, track_by};
pub use telemetry_core::value::FileState;
pub use telemetry_journal::{Counters, DropReason, JournalError, Sightings};
pub use telemetry_macros::{forward, model, task, workflow};
pub use workflow::Workflow;

#[cfg(feature = "sqlite")]
pub use telemetry_export as export;
#[cfg(feature = "sqlite")]
pub use telemetry_store as store;

/// Runs the examples of the page.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../docs/capture.md")]
mod capture_page {}

/// What generated code needs. No interface: it may change in any version.
#[doc(hidden)]
pub mod __private {
    pub use crate::workflow::{begin_workflow, run_workflow};
    pub use telemetry_core::capture::Outcome;
    pub use telemetry_core::encoder::Encoder;
    pub use telemetry_core::level::Level;
    pub use telemetry_core::model::{Anchor, Describe, Description, Model, Registry, begin_forward};
    pub use telemetry_core::record::Field;
    pub use telemetry_core::runtime::{
        AsyncWorkflow, Callsite, Context, Dependencies, EventSite, Guard, Measured, Parent, Returns,
        TaskFuture, WorkflowOptions, WorkflowSite, begin, run,
    };
    pub use telemetry_core::{__capture as capture, __capture_error as capture_error, __outcome as outcome};
    pub use telemetry_core::{__describe as describe, __identity as identity, __inspect as inspect};
}
