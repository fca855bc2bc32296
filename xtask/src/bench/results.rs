//! The results of a run as the bench writes them, and the worst of several runs.

use serde::{Deserialize, Serialize};

/// One comparison. What could not be had or has no limit is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Comparison {
    pub(super) goal: u8,
    pub(super) name: String,
    pub(super) ours: Option<f64>,
    pub(super) other: Option<f64>,
    pub(super) ratio: Option<f64>,
    pub(super) limit: Option<f64>,
    pub(super) limit_of: LimitOf,
    pub(super) bound: Bound,
    pub(super) met: Option<bool>,
    pub(super) unit: String,
    /// The 10th and 90th percentile of the rounds' ratios.
    pub(super) spread: Option<[f64; 2]>,
    pub(super) note: Option<String>,
    /// What the limit is for, in each of the runs.
    #[serde(default)]
    pub(super) runs: Vec<Option<f64>>,
}

/// Which figure the limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LimitOf {
    Ratio,
    Ours,
}

/// On which side of the limit the goal lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bound {
    AtMost,
    AtLeast,
}

impl Comparison {
    /// What is held against the limit.
    fn figure(&self) -> Option<f64> {
        match self.limit_of {
            LimitOf::Ratio => self.ratio,
            LimitOf::Ours => self.ours,
        }
    }

    /// How far it is on the wrong side; what was not measured is on neither.
    fn badness(&self) -> f64 {
        let figure = self.figure().unwrap_or(f64::NAN);
        let badness = if self.bound == Bound::AtMost { figure } else { -figure };
        if badness.is_nan() { f64::NEG_INFINITY } else { badness }
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.goal, &self.name) == (other.goal, &other.name)
    }
}

/// Of each comparison the worst that a run had, in the order in which they came, sorted by goal.
pub(super) fn worst(runs: &[Vec<Comparison>]) -> Vec<Comparison> {
    let mut worst: Vec<Comparison> = Vec::new();
    for comparison in runs.iter().flatten() {
        let figure = comparison.figure();
        if let Some(known) = worst.iter_mut().find(|known| known.is_same(comparison)) {
            known.runs.push(figure);
            if comparison.badness() > known.badness() {
                *known = Comparison { runs: std::mem::take(&mut known.runs), ..comparison.clone() };
            }
        } else {
            worst.push(Comparison { runs: vec![figure], ..comparison.clone() });
        }
    }
    worst.sort_by_key(|comparison| comparison.goal);
    worst
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn comparison(goal: u8, bound: &str, limit_of: &str, figures: [Option<f64>; 2]) -> Comparison {
        let [ours, ratio] = figures;
        let met = ratio.or(ours).map(|_| true);
        serde_json::from_value(json!({
            "goal": goal, "name": "a task", "ours": ours, "other": 1.0, "ratio": ratio, "limit": 1.0,
            "limit_of": limit_of, "bound": bound, "met": met, "unit": "ns", "spread": null, "note": null,
        }))
        .expect("it is what a bench writes")
    }

    /// The figures that stay of two runs, and those that are noted.
    fn check(bound: &str, limit_of: &str, runs: [[Option<f64>; 2]; 2], kept: [Option<f64>; 2]) {
        let runs = runs.map(|figures| vec![comparison(1, bound, limit_of, figures)]);
        let [worst] = worst(&runs).try_into().expect("they are one comparison");
        assert_eq!([worst.ours, worst.ratio], kept, "{bound} {limit_of}");
        assert_eq!(worst.runs.len(), 2);
    }

    #[test]
    fn the_worse_of_two_runs_stays() {
        let (low, high) = ([Some(1.0), Some(0.5)], [Some(2.0), Some(0.4)]);
        check("at_most", "ratio", [low, high], low);
        check("at_most", "ours", [low, high], high);
        check("at_least", "ratio", [low, high], high);
        check("at_least", "ours", [high, low], low);
    }

    #[test]
    fn what_was_measured_once_stays() {
        let (measured, not) = ([Some(1.0), Some(0.5)], [Some(1.0), None]);
        check("at_most", "ratio", [not, measured], measured);
        check("at_least", "ratio", [measured, not], measured);
    }

    #[test]
    fn they_are_in_the_order_of_goals() {
        let runs = [vec![
            comparison(3, "at_most", "ours", [Some(1.0), None]),
            comparison(1, "at_most", "ours", [Some(1.0), None]),
        ]];
        let goals: Vec<u8> = worst(&runs).iter().map(|comparison| comparison.goal).collect();
        assert_eq!(goals, [1, 3]);
    }
}
