//! The results: one entry a comparison.

use std::error::Error;
use std::fs;

use serde::Serialize;

use crate::line::line;
use crate::options::Options;
use crate::rounds::Rounds;

/// On which side of the limit the goal lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost,
    AtLeast,
}

impl Bound {
    fn is_met(self, value: f64, limit: f64) -> bool {
        match self {
            Self::AtMost => value <= limit,
            Self::AtLeast => value >= limit,
        }
    }
}

/// Which figure the limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LimitOf {
    /// Ours by the other's.
    Ratio,
    /// Ours alone, in its unit.
    Ours,
}

/// What a goal asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) goal: u8,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) limit: f64,
    pub(crate) bound: Bound,
}

/// One comparison. A value is none where it could not be had or makes no sense.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    pub(crate) goal: u8,
    pub(crate) name: &'static str,
    pub(crate) ours: Option<f64>,
    pub(crate) other: Option<f64>,
    pub(crate) ratio: Option<f64>,
    /// None where the goal is about somebody else and this peer is only shown beside.
    pub(crate) limit: Option<f64>,
    pub(crate) limit_of: LimitOf,
    pub(crate) bound: Bound,
    pub(crate) met: Option<bool>,
    pub(crate) unit: &'static str,
    /// The 10th and 90th percentile of the rounds' ratios.
    pub(crate) spread: Option<[f64; 2]>,
    pub(crate) note: Option<String>,
}

/// All comparisons of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    comparisons: Vec<Comparison>,
}

impl Report {
    /// A ratio of two sides that took turns.
    pub(crate) fn ratio(&mut self, target: Target, rounds: &Rounds) {
        self.push(held(target, rounds));
    }

    /// The same, with what helps to read it.
    pub(crate) fn ratio_with_note(&mut self, target: Target, rounds: &Rounds, note: &str) {
        self.push(Comparison { note: Some(note.to_owned()), ..held(target, rounds) });
    }

    /// A ratio that is shown and has no limit.
    pub(crate) fn ratio_without_limit(&mut self, goal: u8, name: &'static str, rounds: &Rounds) {
        let target = Target { goal, name, unit: "ns", limit: 0.0, bound: Bound::AtMost };
        self.push(Comparison { limit: None, ..beside(target, rounds) });
    }

    /// A figure that is held against the limit itself, and a yardstick beside it.
    pub(crate) fn figure_beside(&mut self, target: Target, rounds: &Rounds, note: &str) {
        let met = Some(target.bound.is_met(rounds.ours(), target.limit));
        let note = Some(note.to_owned());
        self.push(Comparison { met, note, limit_of: LimitOf::Ours, ..beside(target, rounds) });
    }

    /// A figure that is held against the limit itself.
    pub(crate) fn figure(&mut self, target: Target, ours: f64, note: String) {
        let met = Some(target.bound.is_met(ours, target.limit));
        let (ours, note) = (Some(digits(ours)), Some(note));
        self.push(Comparison { ours, met, note, limit_of: LimitOf::Ours, ..empty(target) });
    }

    /// A comparison whose other side is not to be had here.
    pub(crate) fn without_other(&mut self, target: Target, ours: Option<f64>, why: &str) {
        self.push(Comparison { ours: ours.map(digits), note: Some(why.to_owned()), ..empty(target) });
    }

    fn push(&mut self, comparison: Comparison) {
        println!("{}", line(&comparison));
        self.comparisons.push(comparison);
    }

    /// A peer that is only shown beside and is not to be had here.
    pub(crate) fn without_peer(&mut self, goal: u8, name: &'static str, why: &str) {
        let target = Target { goal, name, unit: "ns", limit: 0.0, bound: Bound::AtMost };
        self.push(Comparison { limit: None, note: Some(why.to_owned()), ..empty(target) });
    }

    /// Writes the file that is asked for.
    pub(crate) fn write(&self, options: &Options) -> Result<(), Box<dyn Error>> {
        if let Some(path) = &options.json {
            fs::write(path, serde_json::to_string_pretty(&self.comparisons)? + "\n")?;
        }
        Ok(())
    }
}

fn empty(Target { goal, name, unit, limit, bound }: Target) -> Comparison {
    let (ours, other, ratio, met, spread, note) = Default::default();
    let (limit, limit_of) = (Some(limit), LimitOf::Ratio);
    Comparison { goal, name, ours, other, ratio, limit, limit_of, bound, met, unit, spread, note }
}

/// A ratio against its limit.
fn held(target: Target, rounds: &Rounds) -> Comparison {
    let met = Some(target.bound.is_met(rounds.ratio(), target.limit));
    Comparison { met, ..beside(target, rounds) }
}

fn beside(target: Target, rounds: &Rounds) -> Comparison {
    Comparison {
        ours: Some(digits(rounds.ours())),
        other: Some(digits(rounds.other())),
        ratio: Some(digits(rounds.ratio())),
        spread: rounds.spread().map(|ends| ends.map(digits)),
        ..empty(target)
    }
}

/// The number with the four digits that mean something.
fn digits(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}
