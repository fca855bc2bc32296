//! The block `cpu`.

use serde::Serialize;

/// The processors of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cpu {
    /// Times of all processors together, since boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_avg: Option<CpuTimes>,
    /// How busy all processors were since the previous reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_all: Option<f64>,
    /// The current frequency in MHz, the mean of all processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<f64>,
    /// Times of each processor, since boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_per_cpu: Option<Vec<CpuTimes>>,
    /// How busy each processor was since the previous reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_per_cpu: Option<Vec<f64>>,
}

/// Where processors spent their time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are the kernel's; proc_stat(5) explains them")]
pub struct CpuTimes {
    pub user: f64,
    pub nice: f64,
    pub system: f64,
    pub idle: f64,
    pub iowait: f64,
    pub irq: f64,
    pub softirq: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest_nice: Option<f64>,
}
