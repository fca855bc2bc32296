//! One side of a comparison: workflows, taken together.

use std::collections::BTreeMap;

use serde::Serialize;
use telemetry_core::status::Status;
use telemetry_store::{Reader, Resources, StoreError, WorkflowRow};

use super::durations::Sample;

/// Workflows that are taken together.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Side {
    /// The workflows.
    pub workflows: Vec<WorkflowRow>,
    /// What their activities did.
    pub samples: BTreeMap<String, Sample>,
    /// What their processes used.
    pub resources: Vec<Resources>,
}

/// A side in a few words.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SideSummary {
    /// The workflows.
    pub workflow_ids: Vec<String>,
    /// The name of the first.
    pub name: Option<String>,
    /// How the first stands.
    pub status: Option<String>,
    /// When the first started, in unix seconds.
    pub started_at: Option<f64>,
    /// How long they took on average.
    pub duration_ns: Option<f64>,
    /// Calls in all of them.
    pub calls: u64,
    /// Failed calls in all of them.
    pub errors: u64,
}

/// A resource on both sides, on average for a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResourceChange {
    /// Which resource, with its unit at the end.
    pub resource: &'static str,
    /// Before.
    pub a: Option<f64>,
    /// After.
    pub b: Option<f64>,
    /// By which share it changed.
    pub change: Option<f64>,
}

impl Side {
    pub(super) fn read(reader: &Reader, workflow_ids: &[String]) -> Result<Self, StoreError> {
        let mut side = Self::default();
        for workflow_id in workflow_ids {
            side.workflows.push(reader.workflow(workflow_id)?);
            side.resources.push(reader.resources(workflow_id)?);
            side.add(reader, workflow_id)?;
        }
        Ok(side)
    }

    /// Only what finished tells how long something takes: what failed may have ended early.
    fn add(&mut self, reader: &Reader, workflow_id: &str) -> Result<(), StoreError> {
        let run = reader.run_of(workflow_id)?;
        let mut samples: BTreeMap<u32, Sample> = BTreeMap::new();
        for call in &run.calls {
            let sample = samples.entry(call.activity).or_default();
            sample.calls += 1;
            sample.errors += u64::from(call.status == Status::Error.code());
            let ended_ns = call.ended_ns.filter(|_| call.status == Status::Finished.code());
            sample.durations_ns.extend(ended_ns.map(|ended_ns| (ended_ns - call.started_ns) as f64));
        }
        for (activity, sample) in samples {
            let name = run.activities.get(&activity).cloned().unwrap_or_else(|| "–".to_owned());
            let all = self.samples.entry(name).or_default();
            all.calls += sample.calls;
            all.errors += sample.errors;
            all.durations_ns.extend(sample.durations_ns);
        }
        Ok(())
    }

    pub(super) fn summary(&self) -> SideSummary {
        let first = self.workflows.first();
        let durations = self.workflows.iter().map(|workflow| workflow.duration_ns.map(|ns| ns as f64));
        SideSummary {
            workflow_ids: self.workflows.iter().map(|workflow| workflow.workflow_id.clone()).collect(),
            name: first.and_then(|workflow| workflow.name.clone()),
            status: first.map(|workflow| workflow.status.clone()),
            started_at: first.and_then(|workflow| workflow.started_at),
            duration_ns: mean(durations),
            calls: self.samples.values().map(|sample| sample.calls).sum(),
            errors: self.samples.values().map(|sample| sample.errors).sum(),
        }
    }
}

type Part = (&'static str, fn(&Resources) -> Option<f64>);
const PARTS: [Part; 6] = [
    ("process_cpu_s", |all| all.process_cpu_s),
    ("process_rss_peak_bytes", |all| all.process_rss_peak_bytes.map(|bytes| bytes as f64)),
    ("process_read_bytes", |all| all.process_read_bytes.map(|bytes| bytes as f64)),
    ("process_write_bytes", |all| all.process_write_bytes.map(|bytes| bytes as f64)),
    ("machine_cpu_percent", |all| all.machine_cpu_percent),
    ("machine_memory_peak_bytes", |all| all.machine_memory_peak_bytes.map(|bytes| bytes as f64)),
];

/// Resources that at least one side knows.
pub(super) fn resource_changes(a: &[Resources], b: &[Resources]) -> Vec<ResourceChange> {
    let change = |&(resource, part): &Part| {
        let (a, b) = (mean(a.iter().map(part)), mean(b.iter().map(part)));
        let change = a.zip(b).filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a - 1.0);
        ResourceChange { resource, a, b, change }
    };
    PARTS.iter().map(change).filter(|change| change.a.or(change.b).is_some()).collect()
}

/// The mean of what is known.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for value in values.flatten() {
        (sum, count) = (sum + value, count + 1);
    }
    (count > 0).then(|| sum / f64::from(count))
}
