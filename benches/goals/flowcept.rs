//! The peer Flowcept: Python processes beside us that run a burst of bare tasks, take snapshots, or describe
//! the machine, when asked.

use crate::options::Options;
use crate::script::Script;

const BURST: &str = include_str!("flowcept_burst.py");
const SNAPSHOTS: &str = include_str!("flowcept_snapshots.py");
const MACHINE: &str = include_str!("flowcept_machine.py");

/// What a burst is measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Time,
    Cpu,
}

/// A Flowcept that records.
pub(crate) struct Flowcept {
    script: Script,
}

impl Flowcept {
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        Script::python(options, BURST, "").map(|script| Self { script })
    }

    /// Nanoseconds a bare task.
    pub(crate) fn burst(&mut self, cost: Cost) -> f64 {
        self.script.ask(match cost {
            Cost::Time => "time",
            Cost::Cpu => "cpu",
        })
    }
}

/// A Flowcept that takes snapshots with psutil.
pub(crate) struct Snapshots {
    script: Script,
}

impl Snapshots {
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        Script::python(options, SNAPSHOTS, "").map(|script| Self { script })
    }

    /// Nanoseconds of processor time a snapshot.
    pub(crate) fn each_cpu_ns(&mut self) -> f64 {
        self.script.ask("snapshots")
    }
}

/// A Flowcept that describes the machine.
pub(crate) struct Machine {
    script: Script,
}

impl Machine {
    /// Starts it; why not, where it cannot be had.
    pub(crate) fn start(options: &Options) -> Result<Self, String> {
        Script::python(options, MACHINE, "").map(|script| Self { script })
    }

    /// Milliseconds that a description takes.
    pub(crate) fn describe_ms(&mut self) -> f64 {
        self.script.ask("machine")
    }
}
