//! Two workflows, or two sets of them, side by side: what came, what went, what takes longer, and what else
//! differs that may be the reason.

mod changes;
mod durations;
#[cfg(test)]
mod power;
mod side;

use serde::Serialize;
use telemetry_store::{Reader, StoreError};

pub use changes::Change;
pub(crate) use changes::plain;
pub use durations::{ActivityChange, CALLS_MIN, SIGNIFICANCE, Sample, Verdict, judge};
pub use side::{ResourceChange, Side, SideSummary};

/// The differences between two sides, `a` before and `b` after.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Before.
    pub a: SideSummary,
    /// After.
    pub b: SideSummary,
    /// Settings, arguments, code and machine, where they differ.
    pub changes: Vec<Change>,
    /// What the activities of both sides did, those with a verdict first.
    pub activities: Vec<ActivityChange>,
    /// What the processes used.
    pub resources: Vec<ResourceChange>,
}

impl Comparison {
    /// Compares workflows by their ids; several on a side are taken together.
    ///
    /// ```no_run
    /// use telemetry_export::comparison::Comparison;
    /// use telemetry_store::Reader;
    ///
    /// let reader = Reader::open(".telemetry/provenance.db".as_ref())?;
    /// let (before, after) = (reader.resolve("@last~1")?, reader.resolve("@last")?);
    /// let comparison = Comparison::read(&reader, &[before.id().to_owned()], &[after.id().to_owned()])?;
    /// println!("{} activities", comparison.activities.len());
    /// # Ok::<(), telemetry_store::StoreError>(())
    /// ```
    pub fn read(reader: &Reader, a: &[String], b: &[String]) -> Result<Self, StoreError> {
        let (a, b) = (Side::read(reader, a)?, Side::read(reader, b)?);
        Ok(Self {
            changes: changes::find(&a.workflows, &b.workflows),
            activities: judge(&a.samples, &b.samples),
            resources: side::resource_changes(&a.resources, &b.resources),
            a: a.summary(),
            b: b.summary(),
        })
    }

    /// The activities that are slower for sure, and by at least this share.
    pub fn slower_by(&self, share: f64) -> Vec<&ActivityChange> {
        let is_slower = |change: &&ActivityChange| {
            change.verdict == Verdict::Slower && change.median_change.is_some_and(|change| change >= share)
        };
        self.activities.iter().filter(is_slower).collect()
    }
}
