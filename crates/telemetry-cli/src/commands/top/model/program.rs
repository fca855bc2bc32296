//! A program that records, and its workflows.

use telemetry_core::status::Status;
use telemetry_journal::{Counters, Sightings};

use super::{Pace, ProgramNumber};

/// A program.
#[derive(Clone, Debug, Default)]
pub(in crate::commands::top) struct Program {
    pub(in crate::commands::top) pid: u32,
    /// What its recorder is called, or else its executable.
    pub(in crate::commands::top) name: String,
    /// Whether the command line asks for it by name, process or id.
    pub(in crate::commands::top) is_named: bool,
    /// When it was found to be gone.
    pub(in crate::commands::top) ended_unix_ns: Option<i64>,
    pub(in crate::commands::top) counters: Counters,
    pub(in crate::commands::top) sightings: Sightings,
    /// Of all records that it offered.
    pub(in crate::commands::top) pace: Pace,
}

/// A workflow.
#[derive(Clone, Debug, Default)]
pub(in crate::commands::top) struct Workflow {
    pub(in crate::commands::top) program: ProgramNumber,
    /// Not known where its start was not seen.
    pub(in crate::commands::top) name: Option<String>,
    pub(in crate::commands::top) started_unix_ns: Option<i64>,
    pub(in crate::commands::top) ended: Option<(i64, Status)>,
}

impl Program {
    pub(in crate::commands::top) fn dropped(&self) -> u64 {
        self.counters.dropped.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl Workflow {
    /// One of which nothing else is known yet.
    pub(super) fn of(program: ProgramNumber) -> Self {
        Self { program, name: None, started_unix_ns: None, ended: None }
    }
}
