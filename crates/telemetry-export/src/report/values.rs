//! What the values of many calls have in common.

use serde::Serialize;
use serde_json::Value;
use telemetry_store::JsonText;

use crate::comparison::plain;
use crate::plot::cut;

const NAMES_MAX: usize = 15;
const EXAMPLES_MAX: usize = 3;
const EXAMPLE_CHARACTERS_MAX: usize = 40;

/// The values under one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValueSummary {
    /// The name.
    pub name: String,
    /// How many calls have it.
    pub calls: u64,
    /// The lowest number.
    pub min: Option<f64>,
    /// The highest number.
    pub max: Option<f64>,
    /// Different values, the first few.
    pub examples: Vec<String>,
    /// Whether there are more.
    pub has_more: bool,
}

impl ValueSummary {
    fn add(&mut self, value: &Value) {
        self.calls += 1;
        if let Some(number) = value.as_f64() {
            self.min = Some(self.min.map_or(number, |least| least.min(number)));
            self.max = Some(self.max.map_or(number, |most| most.max(number)));
        }
        let path = value.get("$file").and_then(|file| file.get("path"));
        let text = cut(&plain(path.unwrap_or(value)), EXAMPLE_CHARACTERS_MAX);
        if self.examples.contains(&text) {
            return;
        }
        if self.examples.len() < EXAMPLES_MAX { self.examples.push(text) } else { self.has_more = true }
    }

    /// In a few words.
    pub(super) fn text(&self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) if self.has_more => format!("{min} … {max}"),
            _ => self.examples.join(", ") + if self.has_more { ", …" } else { "" },
        }
    }
}

/// Summaries by name, in the order in which names come; at most 15.
pub(super) fn summarize<'a>(objects: impl Iterator<Item = &'a JsonText>) -> Vec<ValueSummary> {
    let mut summaries: Vec<ValueSummary> = Vec::new();
    for object in objects {
        let Value::Object(members) = object.to_value() else { continue };
        for (name, value) in &members {
            let place = summaries.iter().position(|summary| summary.name == *name);
            let place = place.unwrap_or_else(|| {
                summaries.push(ValueSummary { name: name.clone(), ..ValueSummary::default() });
                summaries.len() - 1
            });
            summaries[place].add(value);
        }
    }
    summaries.truncate(NAMES_MAX);
    summaries
}

/// The members of a list, as text.
pub(super) fn items(list: Option<&JsonText>) -> Vec<String> {
    match list.map(JsonText::to_value) {
        Some(Value::Array(items)) => items.iter().map(plain).collect(),
        _ => Vec::new(),
    }
}
