//! The block `memory`.

use serde::Serialize;

/// Memory and swap of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Memory {
    /// Memory.
    #[serde(rename = "virtual", skip_serializing_if = "Option::is_none")]
    pub virtual_memory: Option<Virtual>,
    /// Swap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<Swap>,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are psutil's; proc_meminfo(5) explains them")]
pub struct Virtual {
    pub total: u64,
    pub available: u64,
    pub percent: f64,
    pub used: u64,
    pub free: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inactive: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slab: Option<u64>,
}

/// Swap in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Swap {
    /// How much there is.
    pub total: u64,
    /// How much is in use.
    pub used: u64,
    /// How much is not.
    pub free: u64,
    /// The share in use.
    pub percent: f64,
    /// How much was swapped in since boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sin: Option<u64>,
    /// How much was swapped out since boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sout: Option<u64>,
}
