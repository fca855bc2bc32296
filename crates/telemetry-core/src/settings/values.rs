//! How the value of a key is read: small functions, and functions that make them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use super::choices::Choice;
use super::nearest::nearest;
use super::node::{Kind, Mark, Node};
use crate::redaction::compile;

/// A value, or all that is wrong with it.
pub(super) type Read<T> = Result<T, Vec<Complaint>>;

/// One thing that is wrong with a value.
#[derive(Debug)]
pub(super) struct Complaint {
    pub(super) mark: Mark,
    /// What to add to the key, such as `[2]`.
    pub(super) suffix: String,
    /// What follows the key in a message.
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

const TRUE_WORDS: &[&str] = &["yes", "y", "on"];
const FALSE_WORDS: &[&str] = &["no", "n", "off"];
const RETENTION_UNITS: &[&str] =
    &["s", "min", "h", "d", "w", "b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib"];

/// `true` or `false`.
pub(super) fn flag(node: &Node) -> Read<bool> {
    match &node.kind {
        Kind::Flag(flag) => Ok(*flag),
        Kind::Text(text) => Err(complain(node, "true or false", flag_hint(text))),
        _ => Err(complain(node, "true or false", None)),
    }
}

/// A whole number within a range.
pub(super) fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&Node) -> Read<T>
where
    T: Copy + Display + Into<i128> + TryFrom<i128>,
{
    move |node| {
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        let Kind::Whole(number) = node.kind else {
            return Err(complain(node, &expected(), number_hint(node)));
        };
        let within = ((*range.start()).into()..=(*range.end()).into()).contains(&number);
        let number = T::try_from(number).ok().filter(|_| within);
        number.ok_or_else(|| complain(node, &expected(), None))
    }
}

/// A power of two within a range.
pub(super) fn power_of_two(range: RangeInclusive<u64>) -> impl Fn(&Node) -> Read<u64> {
    move |node| {
        let number = whole(range.clone())(node)?;
        if number.is_power_of_two() {
            return Ok(number);
        }
        let hint = format!("the next larger one is {}", number.next_power_of_two().min(*range.end()));
        Err(complain(node, "a power of two", Some(hint)))
    }
}

/// A number from 0 to 1.
pub(super) fn share(node: &Node) -> Read<f64> {
    let expected = "a number from 0 to 1";
    let number = number(node, expected)?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(complain(node, expected, None)) }
}

/// Any number but infinity and what is none.
pub(super) fn finite(node: &Node) -> Read<f64> {
    let number = number(node, "a number")?;
    if number.is_finite() { Ok(number) } else { Err(complain(node, "a finite number", None)) }
}

/// Text with something in it.
pub(super) fn text(node: &Node) -> Read<String> {
    match &node.kind {
        Kind::Text(text) if !text.is_empty() => Ok(text.clone()),
        Kind::Text(_) => Err(complain_empty(node)),
        Kind::Flag(_) | Kind::Whole(_) | Kind::Fraction(_) => {
            Err(complain(node, "text", Some("put it in quotes".into())))
        }
        _ => Err(complain(node, "text", None)),
    }
}

/// A regular expression.
pub(super) fn pattern(node: &Node) -> Read<String> {
    let pattern = text(node)?;
    match compile(&pattern) {
        Ok(_) => Ok(pattern),
        Err(error) => Err(complain(node, "a regular expression", Some(super::report::shown(&error.reason)))),
    }
}

/// A path.
pub(super) fn path(node: &Node) -> Read<PathBuf> {
    text(node).map(PathBuf::from)
}

/// One word of a few.
pub(super) fn choice<C: Choice>(node: &Node) -> Read<C> {
    let words: Vec<&str> = C::ALL.iter().map(|choice| choice.word()).collect();
    let word = one_of(&words, node)?;
    Ok(*C::ALL.iter().find(|choice| choice.word() == word).expect("the word is one of theirs"))
}

/// One word of a list.
pub(super) fn word_of(words: &'static [&'static str]) -> impl Fn(&Node) -> Read<String> {
    move |node| one_of(words, node).map(ToOwned::to_owned)
}

/// An age, a size, or both with a comma between them.
pub(super) fn retention(node: &Node) -> Read<String> {
    let written = text(node)?;
    if written.split(',').all(|part| is_amount(part.trim())) {
        return Ok(written);
    }
    let hint = format!("a number and one of {}", RETENTION_UNITS.join(", "));
    Err(complain(node, "an age or a size, such as 30d or 10GiB", Some(hint)))
}

/// A value or `~`.
pub(super) fn optional<T>(read: impl Fn(&Node) -> Read<T>) -> impl Fn(&Node) -> Read<Option<T>> {
    move |node| match node.kind {
        Kind::Null => Ok(None),
        _ => read(node).map(Some),
    }
}

/// A list of values.
pub(super) fn list<T>(read: impl Fn(&Node) -> Read<T>) -> impl Fn(&Node) -> Read<Vec<T>> {
    move |node| {
        let Kind::List(nodes) = &node.kind else {
            return Err(complain(node, "a list", list_hint(node)));
        };
        let mut values = Vec::new();
        let mut complaints = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            match read(node) {
                Ok(value) => values.push(value),
                Err(wrong) => {
                    complaints.extend(wrong.into_iter().map(|one| one.below(&format!("[{index}]"))));
                }
            }
        }
        if complaints.is_empty() { Ok(values) } else { Err(complaints) }
    }
}

/// A mapping with any of these keys.
pub(super) fn map_of<T>(
    words: &'static [&'static str],
    read: impl Fn(&Node) -> Read<T>,
) -> impl Fn(&Node) -> Read<BTreeMap<String, T>> {
    move |node| {
        let Kind::Map(entries) = &node.kind else {
            return Err(complain(node, "a mapping", None));
        };
        let mut values = BTreeMap::new();
        let mut complaints = Vec::new();
        for entry in entries {
            let suffix = format!(".{}", super::report::shown(&entry.key));
            if values.contains_key(&entry.key) {
                complaints.push(Complaint::new(&entry.mark, "is given twice".into(), None).below(&suffix));
                continue;
            }
            if !words.contains(&entry.key.as_str()) {
                let message = format!("is none of {}", words.join(", "));
                let hint = nearest(&entry.key, words.iter().copied());
                let hint = hint.map(|word| format!("did you mean `{word}`?"));
                complaints.push(Complaint::new(&entry.mark, message, hint).below(&suffix));
                continue;
            }
            match read(&entry.node) {
                Ok(value) => drop(values.insert(entry.key.clone(), value)),
                Err(wrong) => complaints.extend(wrong.into_iter().map(|one| one.below(&suffix))),
            }
        }
        if complaints.is_empty() { Ok(values) } else { Err(complaints) }
    }
}

impl Complaint {
    fn new(mark: &Mark, message: String, hint: Option<String>) -> Self {
        Self { mark: mark.clone(), suffix: String::new(), message, hint }
    }

    fn below(mut self, suffix: &str) -> Self {
        self.suffix.insert_str(0, suffix);
        self
    }
}

/// Says that a value must be something else.
pub(super) fn complain(node: &Node, expected: &str, hint: Option<String>) -> Vec<Complaint> {
    let message = format!("must be {expected}, not {}", node.described());
    vec![Complaint::new(&node.mark, message, hint)]
}

fn complain_empty(node: &Node) -> Vec<Complaint> {
    vec![Complaint::new(&node.mark, "must not be empty".into(), None)]
}

fn one_of<'a>(words: &[&'a str], node: &Node) -> Read<&'a str> {
    let expected = || format!("one of {}", words.join(", "));
    let Kind::Text(text) = &node.kind else {
        return Err(complain(node, &expected(), None));
    };
    let found = words.iter().find(|word| *word == text).copied();
    found.ok_or_else(|| {
        let hint = nearest(text, words.iter().copied()).map(|word| format!("did you mean `{word}`?"));
        complain(node, &expected(), hint)
    })
}

fn number(node: &Node, expected: &str) -> Read<f64> {
    match node.kind {
        Kind::Whole(number) => Ok(number as f64),
        Kind::Fraction(number) => Ok(number),
        _ => Err(complain(node, expected, number_hint(node))),
    }
}

fn flag_hint(text: &str) -> Option<String> {
    let word = text.to_lowercase();
    if TRUE_WORDS.contains(&word.as_str()) {
        return Some("write `true`".into());
    }
    if FALSE_WORDS.contains(&word.as_str()) {
        return Some("write `false`".into());
    }
    matches!(word.as_str(), "true" | "false").then(|| format!("write `{word}`, without quotes"))
}

fn number_hint(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Text(text) if text.parse::<f64>().is_ok() => Some("write it without quotes".into()),
        _ => None,
    }
}

fn list_hint(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Null => Some("an empty list is written `[]`".into()),
        Kind::Text(text) => Some(format!("write `[{}]`", super::report::shown(text))),
        _ => None,
    }
}

fn is_amount(part: &str) -> bool {
    let unit_at = part.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = part.split_at(unit_at.unwrap_or(part.len()));
    let is_positive = number.parse::<f64>().is_ok_and(|number| number > 0.0);
    is_positive && RETENTION_UNITS.contains(&unit.trim().to_lowercase().as_str())
}
