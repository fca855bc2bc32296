//! The results: one entry a comparison.

use std::error::Error;
use std::fs;

use serde::Serialize;

use crate::options::Options;
use crate::rounds::Rounds;
use crate::table;

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
    pub(crate) limit: f64,
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
        let (ratio, spread) = rounds.ratio();
        self.push(Comparison {
            ours: Some(digits(rounds.ours())),
            other: Some(digits(rounds.other())),
            ratio: Some(digits(ratio)),
            met: Some(target.bound.is_met(ratio, target.limit)),
            spread: Some(spread.map(digits)),
            ..empty(target)
        });
    }

    /// A figure that is held against the limit itself.
    pub(crate) fn figure(&mut self, target: Target, ours: f64, note: String) {
        let met = Some(target.bound.is_met(ours, target.limit));
        self.push(Comparison { ours: Some(digits(ours)), met, note: Some(note), ..empty(target) });
    }

    /// A comparison whose other side is not to be had here.
    pub(crate) fn without_other(&mut self, target: Target, ours: Option<f64>, why: &str) {
        self.push(Comparison { ours: ours.map(digits), note: Some(why.to_owned()), ..empty(target) });
    }

    fn push(&mut self, comparison: Comparison) {
        println!("{}", table::line(&comparison));
        self.comparisons.push(comparison);
    }

    /// Prints the table and writes the files that are asked for.
    pub(crate) fn write(&self, options: &Options) -> Result<(), Box<dyn Error>> {
        let markdown = table::markdown(&self.comparisons);
        println!("\n{markdown}");
        if let Some(path) = &options.markdown {
            fs::write(path, &markdown)?;
        }
        if let Some(path) = &options.json {
            fs::write(path, serde_json::to_string_pretty(&self.comparisons)? + "\n")?;
        }
        Ok(())
    }
}

fn empty(Target { goal, name, unit, limit, bound }: Target) -> Comparison {
    let (ours, other, ratio, met, spread, note) = Default::default();
    Comparison { goal, name, ours, other, ratio, limit, bound, met, unit, spread, note }
}

/// The number with the four digits that mean something.
fn digits(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}
