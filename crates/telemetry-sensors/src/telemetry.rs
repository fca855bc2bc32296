//! What one snapshot holds. A block is there when its toggle is on; a key is absent when the system
//! does not tell it.

mod cgroup;
mod cpu;
mod disk;
mod gpu;
mod memory;
mod named;
mod network;
mod process;

use serde::Serialize;

pub use cgroup::{Cgroup, CgroupCpu, CgroupMemory};
pub use cpu::{Cpu, CpuTimes};
pub use disk::{Disk, DiskIo, DiskUsage};
pub use gpu::{Gpu, GpuActivity, GpuClocks, GpuOthers, GpuPower, GpuProcesses, GpuSensors, GpuTemperature};
pub use memory::{Memory, Swap, Virtual};
pub use named::Named;
pub use network::{Network, NetworkIo};
pub use process::{ContextSwitches, IoCounters, Process, ProcessCpuTimes, ProcessMemory};

/// One reading of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Telemetry {
    /// This process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// Memory and swap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Network traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Disk traffic and use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<Disk>,
    /// The cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Named<Gpu>>,
    /// What the control group of this process may use, and uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<Cgroup>,
}

impl Telemetry {
    /// The snapshot as JSON, in the order in which psutil's users know it.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
