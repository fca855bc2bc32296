//! The block `cgroup`: what the control group of this process may use, and uses.

use serde::Serialize;

/// The control group of this process. Limits are the tightest of the group and of those above it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cgroup {
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<CgroupMemory>,
    /// CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CgroupCpu>,
}

/// Memory of a control group in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CgroupMemory {
    /// What it may use; absent when there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// What it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// The share of the limit in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

/// CPU of a control group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CgroupCpu {
    /// How many processors' time it may use; absent when there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// How many periods of its quota have passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periods: Option<u64>,
    /// In how many of them it was held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_periods: Option<u64>,
    /// For how long it was held back, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_time: Option<f64>,
}
