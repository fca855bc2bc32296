//! A comparison as a line for people, while it runs.

use std::fmt::Write;

use crate::report::{Bound, Comparison, LimitOf};

const WRITABLE: &str = "a text takes what is written";

/// One comparison on one line.
pub(crate) fn line(comparison: &Comparison) -> String {
    let Comparison { goal, name, unit, .. } = comparison;
    let ours = number(comparison.ours);
    let mut line = format!("{goal:>2} {name}: {ours} {unit}");
    if let Some(other) = comparison.other {
        write!(line, ", other {other}, ratio {}", number(comparison.ratio)).expect(WRITABLE);
    }
    if let Some([low, high]) = comparison.spread {
        write!(line, " [{low}–{high}]").expect(WRITABLE);
    }
    if let Some(limit) = comparison.limit {
        write!(line, ", goal {}{limit}: {}", sign(comparison), met(comparison.met)).expect(WRITABLE);
    }
    if let Some(note) = &comparison.note {
        write!(line, " ({note})").expect(WRITABLE);
    }
    line
}

fn sign(comparison: &Comparison) -> &'static str {
    match (comparison.limit_of, comparison.bound) {
        (LimitOf::Ratio, Bound::AtMost) => "ratio ≤ ",
        (LimitOf::Ratio, Bound::AtLeast) => "ratio ≥ ",
        (LimitOf::Ours, Bound::AtMost) => "≤ ",
        (LimitOf::Ours, Bound::AtLeast) => "≥ ",
    }
}

fn met(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "NOT MET",
        None => "not measured",
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}
