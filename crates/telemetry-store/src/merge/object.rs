//! JSON objects and lists as text, in memory that is used again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};
use telemetry_core::value::Encoded;

/// Up to this many members are compared with each other; more go through a set.
const COMPARE_MAX: usize = 16;

/// A name that many rows have: what it looks like in JSON is made once.
#[derive(Debug)]
pub(super) struct KnownName {
    plain: String,
    /// With its quotes and the colon behind it.
    json: Vec<u8>,
}

impl KnownName {
    pub(super) fn new(name: &str) -> Self {
        let plain = without_nul(name).into_owned();
        let mut json = Vec::new();
        MemberName::Given(&plain).write(&mut json);
        Self { plain, json }
    }
}

/// The name of a member.
#[derive(Clone, Copy, Debug)]
pub(super) enum MemberName<'a> {
    Known(&'a KnownName),
    Given(&'a str),
}

impl<'a> MemberName<'a> {
    pub(super) fn plain(self) -> &'a str {
        match self {
            Self::Known(name) => &name.plain,
            Self::Given(name) => name,
        }
    }

    /// Writes it with the colon behind it; one that begins with `$` gets one more, as everywhere in the JSON
    /// of values.
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Known(name) => return out.extend_from_slice(&name.json),
            Self::Given(name) if name.starts_with('$') => write_text(&format!("${name}"), out),
            Self::Given(name) => write_text(name, out),
        }
        out.push(b':');
    }
}

/// SQLite's functions for JSON take the name of a member to end at its first NUL.
pub(super) fn without_nul(name: &str) -> Cow<'_, str> {
    if name.contains('\0') { Cow::Owned(name.replace('\0', "\u{2400}")) } else { Cow::Borrowed(name) }
}

/// A JSON object; of members with one name the last stays.
#[derive(Debug, Default)]
pub(super) struct ObjectText {
    text: Vec<u8>,
    members: Vec<Member>,
    is_finished: bool,
}

#[derive(Clone, Debug)]
struct Member {
    name: Range<usize>,
    end: usize,
}

impl ObjectText {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.members.clear();
        self.is_finished = false;
    }

    /// Adds a member.
    pub(super) fn push(&mut self, name: MemberName<'_>, value: Encoded<'_>) {
        self.push_with(|text| name.write(text), |text| value.write_json(text));
    }

    /// Says how many members there were of an object that was cut.
    pub(super) fn push_cut(&mut self, json: &str) {
        self.push_with(
            |text| text.extend_from_slice(br#""$cut":"#),
            |text| text.extend_from_slice(json.as_bytes()),
        );
    }

    fn push_with(&mut self, name: impl FnOnce(&mut Vec<u8>), value: impl FnOnce(&mut Vec<u8>)) {
        self.text.push(if self.members.is_empty() { b'{' } else { b',' });
        let start = self.text.len();
        name(&mut self.text);
        let name = start..self.text.len();
        value(&mut self.text);
        self.members.push(Member { name, end: self.text.len() });
    }

    /// The text of the object, or none where it has no member.
    pub(super) fn finish(&mut self) -> Option<JsonBytes<'_>> {
        if self.members.is_empty() {
            return None;
        }
        if !self.is_finished {
            if self.has_repeated() {
                self.drop_repeated();
            }
            self.text.push(b'}');
            self.is_finished = true;
        }
        Some(JsonBytes(&self.text))
    }

    fn name(&self, index: usize) -> &[u8] {
        &self.text[self.members[index].name.clone()]
    }

    fn has_repeated(&self) -> bool {
        let count = self.members.len();
        if count <= COMPARE_MAX {
            return (1..count).any(|index| (0..index).any(|other| self.name(index) == self.name(other)));
        }
        let mut seen = HashSet::with_capacity(count);
        (0..count).any(|index| !seen.insert(self.name(index)))
    }

    fn drop_repeated(&mut self) {
        let mut seen = HashSet::new();
        let mut kept: Vec<usize> =
            (0..self.members.len()).rev().filter(|&index| seen.insert(self.name(index))).collect();
        kept.reverse();
        let mut text = Vec::with_capacity(self.text.len());
        for index in kept {
            text.push(if text.is_empty() { b'{' } else { b',' });
            let member = &self.members[index];
            text.extend_from_slice(&self.text[member.name.start..member.end]);
        }
        self.text = text;
    }
}

/// A JSON list.
#[derive(Debug, Default)]
pub(super) struct ListText {
    text: Vec<u8>,
    is_finished: bool,
}

impl ListText {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.is_finished = false;
    }

    pub(super) fn push(&mut self, json: &str) {
        self.text.push(if self.text.is_empty() { b'[' } else { b',' });
        self.text.extend_from_slice(json.as_bytes());
    }

    pub(super) fn push_text(&mut self, text: &str) {
        self.text.push(if self.text.is_empty() { b'[' } else { b',' });
        write_text(text, &mut self.text);
    }

    /// The text of the list, or none where it is empty.
    pub(super) fn finish(&mut self) -> Option<JsonBytes<'_>> {
        if self.text.is_empty() {
            return None;
        }
        if !std::mem::replace(&mut self.is_finished, true) {
            self.text.push(b']');
        }
        Some(JsonBytes(&self.text))
    }
}

/// JSON that is UTF-8 because names are, and because that is what the core writes: not checked again.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonBytes<'a>(&'a [u8]);

impl ToSql for JsonBytes<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

/// Writes a JSON text; most names need no escape.
fn write_text(text: &str, out: &mut Vec<u8>) {
    let is_plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if is_plain {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        serde_json::to_writer(out, text).expect("a text can be written into memory");
    }
}
