//! Records the provenance of workflows and model code while they run, and makes it answerable with SQL.
#![forbid(unsafe_code)]

#[cfg(feature = "sqlite")]
mod drain;
#[cfg(not(feature = "sqlite"))]
#[path = "drain/none.rs"]
mod drain;
mod error;
mod facts;
mod not_yet;
mod recorder;
mod sampler;
#[cfg(feature = "sensors")]
mod sensors;
#[cfg(not(feature = "sensors"))]
#[path = "sensors/none.rs"]
mod sensors;
mod task;
#[cfg(feature = "sqlite")]
pub mod testing;
mod warning;
mod workflow;

pub use error::Error;
pub use recorder::{Flushed, Recorder};

pub use task::Task;
pub use telemetry_core::id::{ParseIdError, TaskId, WorkflowId};
pub use telemetry_core::level::Level;
pub use telemetry_core::runtime::{Context, Entered};
pub use telemetry_core::settings::{Settings, SettingsError};
pub use telemetry_core::status::{ErrorKind, Status};
pub use telemetry_journal::{Counters, DropReason};
pub use telemetry_macros::{task, workflow};
pub use workflow::Workflow;

#[cfg(feature = "sqlite")]
pub use telemetry_export as export;
#[cfg(feature = "sqlite")]
pub use telemetry_store as store;

/// What generated code needs. No interface: it may change in any version.
#[doc(hidden)]
pub mod __private {
    pub use crate::workflow::{begin_workflow, run_workflow};
    pub use telemetry_core::capture::Outcome;
    pub use telemetry_core::encoder::Encoder;
    pub use telemetry_core::level::Level;
    pub use telemetry_core::runtime::{
        AsyncTask, AsyncWorkflow, Callsite, Guard, WorkflowOptions, WorkflowSite, begin, run,
    };
    pub use telemetry_core::{__capture as capture, __capture_error as capture_error, __outcome as outcome};
}
