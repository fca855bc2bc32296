//! The results for people: a line while it runs, and a table in Markdown.

use std::fmt::Write;

use crate::report::{Bound, Comparison};

/// One comparison on one line.
pub(crate) fn line(comparison: &Comparison) -> String {
    let Comparison { goal, name, unit, .. } = comparison;
    let [ours, other, ratio, spread, limit, met] = cells(comparison);
    let note = comparison.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
    format!(
        "{goal:>2} {name}: {ours} {unit}, other {other}, ratio {ratio} [{spread}], goal {limit}: {met}{note}"
    )
}

/// All comparisons as a table.
pub(crate) fn markdown(comparisons: &[Comparison]) -> String {
    let mut table = String::from(
        "| goal | what | unit | ours | other | ratio | p10–p90 | goal | met |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for comparison in comparisons {
        let Comparison { goal, name, unit, .. } = comparison;
        let [ours, other, ratio, spread, limit, met] = cells(comparison);
        let note = comparison.note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
        writeln!(
            table,
            "| {goal} | {name}{note} | {unit} | {ours} | {other} | {ratio} | {spread} | {limit} | {met} |"
        )
        .expect("a text takes what is written");
    }
    table
}

fn cells(comparison: &Comparison) -> [String; 6] {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
    let spread = comparison.spread.map_or_else(|| "–".to_owned(), |[low, high]| format!("{low}–{high}"));
    let sign = match comparison.bound {
        Bound::AtMost => "≤",
        Bound::AtLeast => "≥",
    };
    let met = match comparison.met {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "not measured",
    };
    [
        number(comparison.ours),
        number(comparison.other),
        number(comparison.ratio),
        spread,
        format!("{sign} {}", comparison.limit),
        met.to_owned(),
    ]
}
