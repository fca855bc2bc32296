//! The results for people: a table in Markdown, and how many goals are met.

use std::fmt::Write;

use super::results::{Bound, Comparison, LimitOf};

const HEAD: &str = "| # | what | ours | other | ratio | of 80 % of the rounds | goal | met |
|---|---|---|---|---|---|---|---|
";

/// All comparisons as a table.
pub(super) fn markdown(comparisons: &[Comparison]) -> String {
    let mut table = HEAD.to_owned();
    for comparison in comparisons {
        let Comparison { goal, name, unit, .. } = comparison;
        let [ours, other, ratio] = [comparison.ours, comparison.other, comparison.ratio].map(number);
        let ours = if comparison.ours.is_some() { format!("{ours} {unit}") } else { ours };
        let spread =
            comparison.spread.map_or_else(|| "–".to_owned(), |[low, high]| format!("{low} to {high}"));
        let note = comparison.note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
        let (goal_text, met) = (limit(comparison), met(comparison));
        let cells = format!("{goal} | {name}{note} | {ours} | {other} | {ratio} | {spread}");
        writeln!(table, "| {cells} | {goal_text} | {met} |").expect("a text takes what is written");
    }
    table
}

/// How many of the limits are met.
pub(super) fn summary(comparisons: &[Comparison]) -> String {
    let count = |met| comparisons.iter().filter(|comparison| comparison.met == met).count();
    let limits = comparisons.iter().filter(|comparison| comparison.limit.is_some()).count();
    let mut text = format!("{} of {limits} limits met, {} missed", count(Some(true)), count(Some(false)));
    for comparison in comparisons.iter().filter(|comparison| comparison.met == Some(false)) {
        let Comparison { goal, name, .. } = comparison;
        write!(text, "\nmissed: {goal} {name}, {}", limit(comparison)).expect("a text takes what is written");
    }
    text
}

fn limit(comparison: &Comparison) -> String {
    let sign = if comparison.bound == Bound::AtMost { "≤" } else { "≥" };
    let unit = match comparison.limit_of {
        LimitOf::Ratio => String::new(),
        LimitOf::Ours => format!(" {}", comparison.unit),
    };
    comparison.limit.map_or_else(|| "–".to_owned(), |limit| format!("{sign} {limit}{unit}"))
}

fn met(comparison: &Comparison) -> &'static str {
    match (comparison.met, comparison.limit) {
        (Some(true), _) => "yes",
        (Some(false), _) => "**no**",
        (None, Some(_)) => "not measured",
        (None, None) => "–",
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}
