//! A page of text: a title, fields, and parts under headings.

use std::fmt::Write;

use serde_json::Value;
use telemetry_store::JsonText;

use crate::ink::Ink;
use crate::text::{pad, visible, visible_lines};

/// How wide the names of fields are.
const NAME_WIDTH: usize = 11;

/// A page that is being written.
#[derive(Debug)]
pub(in crate::commands) struct Page {
    text: String,
    ink: Ink,
}

impl Page {
    pub(in crate::commands) fn new(ink: Ink, title: &str, status: &str) -> Self {
        Self { text: format!("{}  {}\n", ink.bold(&visible(title)), ink.status(status)), ink }
    }

    /// A page about several things, which have no status together.
    pub(in crate::commands) fn titled(ink: Ink, title: &str) -> Self {
        Self { text: format!("{}\n", ink.bold(&visible(title))), ink }
    }

    /// A field, unless it has no value.
    pub(in crate::commands) fn field(&mut self, name: &str, value: Option<impl Into<String>>) {
        if let Some(value) = value.map(Into::into).filter(|value| !value.is_empty()) {
            let name = self.ink.dim(&pad(name, NAME_WIDTH));
            let _ = writeln!(self.text, "  {name} {}", visible(&value));
        }
    }

    pub(in crate::commands) fn heading(&mut self, name: &str) {
        let _ = writeln!(self.text, "\n{}", self.ink.bold(name));
    }

    /// A line or several, indented.
    pub(in crate::commands) fn block(&mut self, text: &str) {
        for line in text.lines() {
            let _ = writeln!(self.text, "  {line}");
        }
    }

    /// What somebody recorded, indented.
    pub(in crate::commands) fn quote(&mut self, text: &str) {
        self.block(&visible_lines(text));
    }

    /// The values of an object under a heading, a line each.
    pub(in crate::commands) fn values(&mut self, heading: &str, values: Option<&JsonText>) {
        let Some(Value::Object(values)) = values.map(JsonText::to_value) else { return };
        self.heading(heading);
        let width = values.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, value) in &values {
            let name = self.ink.dim(&pad(&visible(name), width));
            self.block(&format!("{name}  {}", visible(&value.to_string())));
        }
    }

    pub(in crate::commands) fn finish(self) -> String {
        self.text
    }
}
