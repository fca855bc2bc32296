//! What the calls of an activity come to.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use telemetry_core::status::Status;
use telemetry_store::{Reader, Run, RunCall, StoreError, ValuesRow};

use super::resources::{ActivityResources, Meter};
use super::values::{self, ValueSummary};
use crate::statistics::{fences, median, quantile};

/// Values of so many calls of an activity are looked at.
pub(super) const EXAMPLES_MAX: u32 = 1_000;
const OUTLIERS_NAMED_MAX: usize = 3;
/// With fewer calls, nothing is an outlier.
const OUTLIER_CALLS_MIN: usize = 8;

/// An activity of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ActivityReport {
    /// The activity.
    pub activity_id: String,
    /// How often it was called.
    pub calls: u64,
    /// How often it failed.
    pub errors: u64,
    /// When the first call started, in unix seconds.
    pub first_started_at: f64,
    /// When the last one ended.
    pub last_ended_at: Option<f64>,
    /// How long the calls took that have ended, together.
    pub total_ns: i64,
    /// On average.
    pub mean_ns: Option<f64>,
    /// Half of them at most.
    pub median_ns: Option<f64>,
    /// 95 of 100 at most.
    pub p95_ns: Option<f64>,
    /// The shortest.
    pub min_ns: Option<f64>,
    /// The longest.
    pub max_ns: Option<f64>,
    /// Calls far outside of what is usual: beyond one and a half times the range of the middle half.
    pub outliers: u64,
    /// The longest of these.
    pub outliers_longest: Vec<Outlier>,
    /// Where its calls ran.
    pub hosts: Vec<String>,
    /// Its kinds.
    pub subtypes: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// What the first calls used.
    pub inputs: Vec<ValueSummary>,
    /// What the first calls generated.
    pub outputs: Vec<ValueSummary>,
    /// What was used meanwhile.
    pub resources: ActivityResources,
}

/// A call that took unusually long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Outlier {
    /// The call.
    pub task_id: String,
    /// How long it took.
    pub duration_ns: i64,
}

pub(super) fn read(reader: &Reader, workflow_id: &str, run: &Run) -> Result<Vec<ActivityReport>, StoreError> {
    let mut members: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut meter = Meter::new(reader);
    for (number, call) in run.calls.iter().enumerate() {
        members.entry(call.activity).or_default().push(number as u32);
        meter.add(call)?;
    }
    let used = meter.finish();
    let mut reports = Vec::with_capacity(members.len());
    for (activity, numbers) in members {
        let name = run.activities.get(&activity).cloned().unwrap_or_else(|| "–".to_owned());
        let mut report = times(reader, &run.calls, &numbers)?;
        report.describe(&reader.values(workflow_id, &name, EXAMPLES_MAX)?);
        report.resources = used.get(&activity).cloned().unwrap_or_default();
        report.activity_id = name;
        reports.push(report);
    }
    reports.sort_by(|one, other| {
        other.total_ns.cmp(&one.total_ns).then_with(|| one.activity_id.cmp(&other.activity_id))
    });
    Ok(reports)
}

fn times(reader: &Reader, calls: &[RunCall], numbers: &[u32]) -> Result<ActivityReport, StoreError> {
    let of = || numbers.iter().map(|number| &calls[*number as usize]);
    let taken = |call: &RunCall| call.ended_ns.map(|ended_ns| ended_ns - call.started_ns);
    let mut sorted: Vec<f64> = of().filter_map(taken).map(|ns| ns as f64).collect();
    sorted.sort_by(f64::total_cmp);
    let total_ns = of().filter_map(taken).sum();
    let fences = fences(&sorted).filter(|_| sorted.len() >= OUTLIER_CALLS_MIN);
    let is_outlier = |ns: i64| fences.is_some_and(|(low, high)| (ns as f64) < low || ns as f64 > high);
    let mut outside: Vec<(i64, i64)> =
        of().filter_map(|call| taken(call).filter(|ns| is_outlier(*ns)).map(|ns| (ns, call.key))).collect();
    outside.sort_unstable_by_key(|(ns, key)| (-ns, *key));
    let name = |&(duration_ns, key): &(i64, i64)| Ok(Outlier { task_id: reader.task_id(key)?, duration_ns });
    Ok(ActivityReport {
        calls: numbers.len() as u64,
        errors: of().filter(|call| call.status == Status::Error.code()).count() as u64,
        first_started_at: of().map(|call| call.started_ns).min().unwrap_or_default() as f64 / 1e9,
        last_ended_at: of().filter_map(|call| call.ended_ns).max().map(|ns| ns as f64 / 1e9),
        total_ns,
        mean_ns: (!sorted.is_empty()).then(|| total_ns as f64 / sorted.len() as f64),
        median_ns: median(&sorted),
        p95_ns: quantile(&sorted, 0.95),
        min_ns: sorted.first().copied(),
        max_ns: sorted.last().copied(),
        outliers: outside.len() as u64,
        outliers_longest: outside
            .iter()
            .take(OUTLIERS_NAMED_MAX)
            .map(name)
            .collect::<Result<_, StoreError>>()?,
        ..ActivityReport::default()
    })
}

impl ActivityReport {
    fn describe(&mut self, rows: &[ValuesRow]) {
        let distinct =
            |values: Vec<String>| values.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        self.hosts = distinct(rows.iter().filter_map(|row| row.hostname.clone()).collect());
        self.subtypes = distinct(rows.iter().filter_map(|row| row.subtype.clone()).collect());
        self.tags = distinct(rows.iter().flat_map(|row| values::items(row.tags.as_ref())).collect());
        self.inputs = values::summarize(rows.iter().filter_map(|row| row.used.as_ref()));
        self.outputs = values::summarize(rows.iter().filter_map(|row| row.generated.as_ref()));
    }
}
