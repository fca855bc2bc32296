//! Which activities take longer for sure: Mann–Whitney for each, corrected by Holm for all of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::statistics::{holm, mann_whitney, median};

/// With fewer finished calls on a side than this there is no verdict.
pub const CALLS_MIN: usize = 8;
/// The chance of any false alarm among all activities of equal runs.
pub const SIGNIFICANCE: f64 = 0.05;

/// What an activity did on one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// How often it was called.
    pub calls: u64,
    /// How often it failed.
    pub errors: u64,
    /// How long the calls took that finished, in nanoseconds, in any order.
    pub durations_ns: Vec<f64>,
}

/// What is to be said about an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It takes longer.
    Slower,
    /// It takes less time.
    Faster,
    /// No difference that chance would not make.
    Same,
    /// Too few calls to tell.
    TooFew,
    /// Only the second side has it.
    Appeared,
    /// Only the first side has it.
    Gone,
}

/// An activity on both sides; of two numbers, the first is that of the first side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ActivityChange {
    /// The activity.
    pub activity_id: String,
    /// What is to be said about it.
    pub verdict: Verdict,
    /// Calls.
    pub calls: [u64; 2],
    /// Failed calls.
    pub errors: [u64; 2],
    /// How long finished calls took together.
    pub total_ns: [f64; 2],
    /// How long half of the finished calls took at most.
    pub median_ns: [Option<f64>; 2],
    /// By which share the median changed; 0.1 is 10 % longer.
    pub median_change: Option<f64>,
    /// How often a call of the second side takes longer than one of the first; 0.5 is no difference.
    pub effect: Option<f64>,
    /// The chance of such a difference between equal runs, for this activity alone.
    pub p_value: Option<f64>,
    /// The same, corrected for the number of activities.
    pub p_corrected: Option<f64>,
}

/// Compares the activities of two sides: those with a verdict first, the largest change first.
///
/// ```
/// use std::collections::BTreeMap;
/// use telemetry_export::comparison::{Sample, Verdict, judge};
///
/// let sample = |ns: f64| Sample { calls: 9, errors: 0, durations_ns: (0..9).map(|n| ns + f64::from(n)).collect() };
/// let before = BTreeMap::from([("parse".to_owned(), sample(1000.0))]);
/// let after = BTreeMap::from([("parse".to_owned(), sample(2000.0))]);
/// assert_eq!(judge(&before, &after)[0].verdict, Verdict::Slower);
/// ```
#[must_use]
pub fn judge(a: &BTreeMap<String, Sample>, b: &BTreeMap<String, Sample>) -> Vec<ActivityChange> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut changes: Vec<ActivityChange> =
        names.into_iter().map(|name| compare(name, a.get(name), b.get(name))).collect();
    decide(&mut changes);
    let change = |change: &ActivityChange| change.median_change.unwrap_or(0.0).abs();
    changes.sort_by(|one, other| {
        rank(one.verdict).cmp(&rank(other.verdict)).then(change(other).total_cmp(&change(one)))
    });
    changes
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::Appeared => 2,
        Verdict::Gone => 3,
        Verdict::TooFew => 4,
        Verdict::Same => 5,
    }
}

fn compare(name: &str, a: Option<&Sample>, b: Option<&Sample>) -> ActivityChange {
    let verdict = match (a, b) {
        (None, _) => Verdict::Appeared,
        (_, None) => Verdict::Gone,
        _ => Verdict::TooFew,
    };
    let both = [a, b].map(|sample| sample.cloned().unwrap_or_default());
    let sorted = both.clone().map(|sample| sorted(sample.durations_ns));
    let median_ns = [median(&sorted[0]), median(&sorted[1])];
    let outcome = if sorted.iter().all(|values| values.len() >= CALLS_MIN) {
        mann_whitney(&sorted[0], &sorted[1])
    } else {
        None
    };
    ActivityChange {
        activity_id: name.to_owned(),
        verdict,
        calls: both.each_ref().map(|sample| sample.calls),
        errors: both.each_ref().map(|sample| sample.errors),
        total_ns: sorted.each_ref().map(|values| values.iter().sum()),
        median_ns,
        median_change: ratio(median_ns),
        effect: outcome.map(|outcome| outcome.effect),
        p_value: outcome.map(|outcome| outcome.p_value),
        p_corrected: None,
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn ratio(median_ns: [Option<f64>; 2]) -> Option<f64> {
    let [a, b] = median_ns;
    a.zip(b).filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a - 1.0)
}

/// Corrects the p-values, and gives verdicts where there are some.
fn decide(changes: &mut [ActivityChange]) {
    let p_values: Vec<f64> = changes.iter().filter_map(|change| change.p_value).collect();
    let tested = changes.iter_mut().filter(|change| change.p_value.is_some());
    for (change, p_corrected) in tested.zip(holm(&p_values)) {
        change.p_corrected = Some(p_corrected);
        change.verdict = match change.effect {
            _ if p_corrected >= SIGNIFICANCE => Verdict::Same,
            Some(effect) if effect > 0.5 => Verdict::Slower,
            _ => Verdict::Faster,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_calls_get_no_verdict() {
        let sample = |calls: usize, ns: f64| Sample {
            calls: calls as u64,
            errors: 1,
            durations_ns: (0..calls).map(|number| ns + number as f64).collect(),
        };
        let a = BTreeMap::from([("few".to_owned(), sample(7, 100.0)), ("gone".to_owned(), sample(1, 5.0))]);
        let b = BTreeMap::from([("few".to_owned(), sample(70, 900.0)), ("new".to_owned(), sample(1, 5.0))]);
        let changes = judge(&a, &b);
        let verdicts: Vec<(&str, Verdict)> =
            changes.iter().map(|change| (&*change.activity_id, change.verdict)).collect();
        assert_eq!(verdicts, [("new", Verdict::Appeared), ("gone", Verdict::Gone), ("few", Verdict::TooFew)]);
        assert_eq!(changes[2].median_change.map(f64::round), Some(8.0));
        assert_eq!(changes[2].p_value, None);
    }
}
