//! What the packets of a session come to: the file that a session leaves, summed up.

mod csv;
mod plots;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;
use serde_json::Value;

pub use csv::{Packet, parse};

use crate::error::ExportError;
use crate::plot::Plot;
use crate::statistics::{median, quantile};

const SLOWEST: usize = 5;

/// A session, summed up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Analysis {
    /// All packets.
    pub overall: Group,
    /// Seconds from the start of the first packet to the end of the last.
    pub span_s: f64,
    /// The most memory that a packet used.
    pub memory_max_mb: Option<f64>,
    /// By device.
    pub devices: Vec<Group>,
    /// By worker.
    pub workers: Vec<Group>,
    /// By layer, in their order.
    pub layers: Vec<Group>,
    /// By operation.
    pub operations: Vec<Group>,
    /// The five packets that took longest.
    pub slowest: Vec<Packet>,
    /// Messages of failed packets, with their number, the most frequent first.
    pub errors: Vec<(String, u64)>,
    /// The figures that the session itself wrote, if it has ended.
    pub summary: Option<Value>,
    #[serde(skip)]
    packets: Vec<Packet>,
}

/// Packets that have something in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// How many.
    pub packets: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How long they took together.
    pub total_ms: f64,
    /// On average.
    pub mean_ms: f64,
    /// Half of them at most.
    pub median_ms: f64,
    /// 95 of 100 at most.
    pub p95_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// Their share of the time of all packets.
    pub share: f64,
}

impl Analysis {
    /// Sums up a file of packets, with the figures beside it.
    pub fn read(path: &Path) -> Result<Self, ExportError> {
        let packets = parse(&fs::read_to_string(path)?)?;
        let summary = match fs::read_to_string(path.with_extension("json")) {
            Ok(text) => serde_json::from_str(&text).ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { summary, ..Self::new(packets) })
    }

    /// Sums up packets.
    #[must_use]
    pub fn new(packets: Vec<Packet>) -> Self {
        let all: Vec<&Packet> = packets.iter().collect();
        let total_ms: f64 = packets.iter().map(|packet| packet.duration_ms).sum();
        let mut slowest = packets.clone();
        slowest.sort_by(|one, other| other.duration_ms.total_cmp(&one.duration_ms));
        slowest.truncate(SLOWEST);
        let (first, last) = span(&packets);
        Self {
            overall: group("all", &all, total_ms),
            span_s: last - first,
            memory_max_mb: packets.iter().filter_map(|packet| packet.memory_used_mb).reduce(f64::max),
            devices: groups(&packets, total_ms, |packet| packet.device.clone()),
            workers: groups(&packets, total_ms, |packet| packet.worker_instance.clone()),
            layers: layers(&packets, total_ms),
            operations: groups(&packets, total_ms, |packet| packet.operation.clone()),
            slowest,
            errors: errors(&packets),
            summary: None,
            packets,
        }
    }

    /// The seven plots with the names of their files.
    pub fn plots(&self) -> Result<Vec<(&'static str, Plot)>, ExportError> {
        plots::draw(self)
    }
}

/// The latest file of packets in a folder; none where there is no such file.
pub fn latest(folder: &Path) -> Result<Option<PathBuf>, ExportError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    let mut newest = None;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            let modified = fs::metadata(&path)?.modified()?;
            newest = newest.max(Some((modified, path)));
        }
    }
    Ok(newest.map(|(_, path)| path))
}

/// When the first packet started and the last one ended.
fn span(packets: &[Packet]) -> (f64, f64) {
    let first = packets.iter().map(Packet::started_s).reduce(f64::min).unwrap_or(0.0);
    (first, packets.iter().map(|packet| packet.timestamp).reduce(f64::max).unwrap_or(first))
}

fn group(name: &str, packets: &[&Packet], all_ms: f64) -> Group {
    let mut sorted: Vec<f64> = packets.iter().map(|packet| packet.duration_ms).collect();
    sorted.sort_by(f64::total_cmp);
    let total_ms: f64 = sorted.iter().sum();
    Group {
        name: name.to_owned(),
        packets: packets.len() as u64,
        failed: packets.iter().filter(|packet| !packet.success).count() as u64,
        total_ms,
        mean_ms: if sorted.is_empty() { 0.0 } else { total_ms / sorted.len() as f64 },
        median_ms: median(&sorted).unwrap_or_default(),
        p95_ms: quantile(&sorted, 0.95).unwrap_or_default(),
        max_ms: sorted.last().copied().unwrap_or_default(),
        share: if all_ms > 0.0 { total_ms / all_ms } else { 0.0 },
    }
}

/// The groups, the one that took longest first.
fn groups(packets: &[Packet], all_ms: f64, name: impl Fn(&Packet) -> String) -> Vec<Group> {
    let mut members: BTreeMap<String, Vec<&Packet>> = BTreeMap::new();
    for packet in packets {
        members.entry(name(packet)).or_default().push(packet);
    }
    let mut groups: Vec<Group> = members.iter().map(|(name, packets)| group(name, packets, all_ms)).collect();
    groups.sort_by(|one, other| other.total_ms.total_cmp(&one.total_ms));
    groups
}

fn layers(packets: &[Packet], all_ms: f64) -> Vec<Group> {
    let mut members: BTreeMap<i64, Vec<&Packet>> = BTreeMap::new();
    for packet in packets {
        if let Some(layer) = packet.layer_idx {
            members.entry(layer).or_default().push(packet);
        }
    }
    members.iter().map(|(layer, packets)| group(&layer.to_string(), packets, all_ms)).collect()
}

fn errors(packets: &[Packet]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for packet in packets.iter().filter(|packet| !packet.success) {
        *counts.entry(&packet.error_message).or_default() += 1;
    }
    let mut errors: Vec<(String, u64)> =
        counts.into_iter().map(|(message, count)| (message.to_owned(), count)).collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    errors
}
