//! Collects problems while settings are read, each with the line that it is about.
//!
//! Limits: [`PROBLEMS_MAX`] problems are kept and the rest counted; a quoted line is cut at
//! [`QUOTE_CHARS_MAX`]; control characters are not passed on to the reader's terminal.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::{Place, Problem, SettingsError};
use super::node::Mark;
use super::overrides::canonical;

/// Nobody mends more than this at once.
const PROBLEMS_MAX: usize = 50;
const QUOTE_CHARS_MAX: usize = 160;

/// The problems found so far.
pub(super) struct Report<'a> {
    /// Every key that was looked for.
    pub(super) keys: Vec<String>,
    /// Every key that was given, and where; of a key that is given twice, the last one counts.
    given: Vec<(String, Mark)>,
    path: &'a Path,
    lines: Vec<&'a str>,
    problems: Vec<Problem>,
    left_out: usize,
}

impl<'a> Report<'a> {
    /// A report about this file, or without one about the environment alone.
    pub(super) fn new(path: &'a Path, text: &'a str) -> Self {
        Self {
            keys: Vec::new(),
            given: Vec::new(),
            path,
            lines: text.lines().collect(),
            problems: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a problem.
    pub(super) fn add(&mut self, mark: &Mark, message: String, hint: Option<String>) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        self.problems.push(Problem { place: self.place(mark), quote: self.quote(mark), message, hint });
    }

    /// Whether further problems are only counted, so that nobody need think of hints for them.
    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= PROBLEMS_MAX
    }

    /// Notes where a key was given.
    pub(super) fn give(&mut self, key: String, mark: &Mark) {
        self.given.push((key, mark.clone()));
    }

    /// Where each key was given.
    pub(super) fn places(&self) -> BTreeMap<String, Place> {
        self.given.iter().map(|(key, mark)| (canonical(key), self.place(mark))).collect()
    }

    /// The problems as an error, if there are any.
    pub(super) fn finish(mut self) -> Result<(), SettingsError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        self.problems.sort_by(|left, right| left.place.cmp(&right.place));
        Err(SettingsError::Invalid { problems: self.problems, left_out: self.left_out })
    }

    fn place(&self, mark: &Mark) -> Place {
        match mark {
            Mark::Line(line) => Place::File { path: self.path.into(), line: Some(*line) },
            Mark::Nowhere => Place::File { path: self.path.into(), line: None },
            Mark::Variable(variable) => Place::Variable { name: variable.name.clone() },
        }
    }

    fn quote(&self, mark: &Mark) -> Option<String> {
        match mark {
            Mark::Line(line) => self.lines.get(line.checked_sub(1)?).map(|line| shown(line)),
            Mark::Nowhere => None,
            Mark::Variable(variable) => Some(shown(&format!("{}={}", variable.name, variable.value))),
        }
    }
}

/// Text from outside, fit for a terminal.
pub(super) fn shown(text: &str) -> String {
    let clean = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut shown: String = text.trim_end().chars().take(QUOTE_CHARS_MAX).map(clean).collect();
    if text.trim_end().chars().nth(QUOTE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_without_control_characters() {
        assert_eq!(shown("a\u{1b}[31mred\tb\r"), "a [31mred b");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), QUOTE_CHARS_MAX + 1);
    }

    #[test]
    fn the_rest_of_the_problems_is_counted() {
        let mut report = Report::new(Path::new("settings.yaml"), "");
        for _ in 0..PROBLEMS_MAX + 7 {
            report.add(&Mark::Nowhere, "wrong".into(), None);
        }
        let text = report.finish().unwrap_err().to_string();
        assert!(text.ends_with("settings.yaml: wrong\n\nand 7 more"), "{text}");
    }
}
