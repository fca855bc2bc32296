//! The block `disk`.

use std::ops::AddAssign;

use serde::Serialize;

use super::named::Named;

/// Disk traffic and use.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Disk {
    /// How full the root file system is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_usage: Option<DiskUsage>,
    /// The traffic of all whole disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_sum: Option<DiskIo>,
    /// The traffic of each disk and partition, if there is more than one.
    #[serde(skip_serializing_if = "is_single")]
    pub io_per_disk: Named<DiskIo>,
}

/// How full a file system is, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiskUsage {
    /// Its size.
    pub total: u64,
    /// What is in use.
    pub used: u64,
    /// What a user may still write.
    pub free: u64,
    /// The share of what a user may use that is in use.
    pub percent: f64,
}

/// Disk traffic since boot; times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are psutil's; the kernel's iostats.rst explains them")]
pub struct DiskIo {
    pub read_count: u64,
    pub write_count: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub read_time: u64,
    pub write_time: u64,
    pub read_merged_count: u64,
    pub write_merged_count: u64,
    pub busy_time: u64,
}

impl AddAssign for DiskIo {
    fn add_assign(&mut self, other: Self) {
        self.read_count = self.read_count.wrapping_add(other.read_count);
        self.write_count = self.write_count.wrapping_add(other.write_count);
        self.read_bytes = self.read_bytes.wrapping_add(other.read_bytes);
        self.write_bytes = self.write_bytes.wrapping_add(other.write_bytes);
        self.read_time = self.read_time.wrapping_add(other.read_time);
        self.write_time = self.write_time.wrapping_add(other.write_time);
        self.read_merged_count = self.read_merged_count.wrapping_add(other.read_merged_count);
        self.write_merged_count = self.write_merged_count.wrapping_add(other.write_merged_count);
        self.busy_time = self.busy_time.wrapping_add(other.busy_time);
    }
}

fn is_single(disks: &Named<DiskIo>) -> bool {
    disks.len() <= 1
}
