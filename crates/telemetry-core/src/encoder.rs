//! The staging buffer in which a thread puts together the items of one record.
//!
//! Limits: each value has its bytes, items and depth, and the record has its bytes. Beyond
//! `record_bytes_max` there is a reserve for what large values must not displace: the message of an
//! error, names, tags, and the marks of what was left out. When that is used up too, items are dropped.
//! Values end early at their limits, so that a huge argument costs no more than a small one; a mark says
//! what is missing.

mod append;
mod budget;
mod compound;
mod error;
mod file;
mod formatted;
mod guard;
mod hiding;
mod list;
mod serializer;
mod value;
mod within;

pub(crate) use append::{file_payload, prefixed as append_prefixed};
pub(crate) use guard::{guarded, keep_caught_panics_quiet};
pub use value::ValueEncoder;

use crate::record::{Field, FixedWords, HEAD_WORDS};
use crate::redaction::{Redactor, Verdicts};
use crate::value::tag;
use budget::{Budget, Open};
pub use hiding::HiddenKeys;
use serde::Serialize;
use telemetry_journal::Outgoing;

/// How much of the values goes into a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one value.
    pub value_bytes_max: u32,
    /// Bytes of all values of a record.
    pub record_bytes_max: u32,
    /// Levels of nesting; options and newtypes count.
    pub depth_max: u32,
    /// Items of one sequence or map.
    pub items_max: u32,
}

impl Limits {
    /// The limits of the built-in settings.
    pub const DEFAULT: Self =
        Self { value_bytes_max: 4096, record_bytes_max: 65536, depth_max: 64, items_max: 1000 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Bytes in front of the items, where the fixed words of a record find room.
const HEAD_BYTES: usize = HEAD_WORDS * 8;
/// What most records fit into.
const BYTES_AT_FIRST: usize = 1024;
/// Bytes beyond `record_bytes_max` for what large values must not displace.
const RESERVE_BYTES: usize = 1024;
/// Longer keys are shortened.
const KEY_BYTES_MAX: usize = 256;
/// Bytes of an item before its value, where its key is a number below 127.
const ITEM_HEAD_MAX: usize = 2;
/// A reading of the machine is ours and not the user's: it is not cut to the size of an argument.
const TELEMETRY_BYTES_MAX: usize = 1 << 20;

/// Collects the items of one record after another in one buffer.
///
/// ```
/// use telemetry_core::encoder::{Encoder, Limits};
/// use telemetry_core::record::Items;
///
/// let mut encoder = Encoder::new();
/// encoder.reset(Limits { items_max: 2, ..Limits::default() });
/// encoder.used(0, |value| value.int(21));
/// encoder.result(|value| value.serialize(&[1.5, 2.5, 3.5]));
///
/// let mut json = Vec::new();
/// for item in Items::new(encoder.bytes()) {
///     item.value.write_json(&mut json);
/// }
/// assert_eq!(json, br#"21[1.5,2.5,{"$cut":{"items":3,"type":"[f64; 3]"}}]"#);
/// ```
#[derive(Debug)]
pub struct Encoder {
    /// Room for the fixed words, and the items.
    bytes: Vec<u8>,
    open: Vec<Open>,
    /// The limits, as they are counted with: written and read by the same pieces, which costs no wait.
    values_end: usize,
    value_bytes_max: usize,
    depth_max: usize,
    items_max: usize,
    /// Before this, a value has all the room that one may have; nowhere in a record without values.
    easy_end: usize,
    /// Whether what was used and generated is recorded at all.
    has_values: bool,
    has_error: bool,
    verdicts: Verdicts,
    hidden: HiddenKeys,
}

impl Encoder {
    /// An encoder with the default limits.
    pub fn new() -> Self {
        let mut encoder = Self {
            bytes: Vec::with_capacity(BYTES_AT_FIRST),
            open: Vec::new(),
            values_end: 0,
            value_bytes_max: 0,
            depth_max: 0,
            items_max: 0,
            easy_end: 0,
            has_values: true,
            has_error: false,
            verdicts: Verdicts::new(),
            hidden: HiddenKeys::NONE,
        };
        encoder.bytes.resize(HEAD_BYTES, 0);
        encoder.reset(Limits::DEFAULT);
        encoder
    }

    /// Hides from now on what this redactor finds secret; nothing with none.
    #[inline]
    pub fn redact_with(&mut self, redactor: Option<&'static Redactor>) {
        self.verdicts.of(redactor);
    }

    /// Hides these keys of the activity in the record that was begun.
    #[inline]
    pub fn hide(&mut self, keys: HiddenKeys) {
        self.hidden = keys;
    }

    /// Begins the next record.
    #[inline]
    pub fn reset(&mut self, limits: Limits) {
        self.bytes.truncate(HEAD_BYTES);
        self.values_end = HEAD_BYTES + limits.record_bytes_max as usize;
        self.value_bytes_max = limits.value_bytes_max as usize;
        self.depth_max = limits.depth_max as usize;
        self.items_max = limits.items_max as usize;
        self.easy_end = self.values_end.saturating_sub(self.value_bytes_max + ITEM_HEAD_MAX);
        self.has_values = true;
        self.has_error = false;
        self.hidden = HiddenKeys::NONE;
    }

    /// Whether what was used and generated goes into the record that was begun.
    #[inline]
    pub fn keep_values(&mut self, has_values: bool) {
        self.has_values = has_values;
        if !has_values {
            self.easy_end = 0;
        }
    }

    /// The items so far, without the zero byte that ends them.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[HEAD_BYTES..]
    }

    /// The record of these fixed words and the items.
    #[inline]
    pub fn outgoing<F: FixedWords>(&mut self, fixed: &F) -> Outgoing<'_> {
        let length = self.bytes.len().next_multiple_of(8);
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.truncate(length);
        let words = self.bytes.as_chunks_mut().0;
        let start = words.first_chunk_mut().map_or(0, |head| fixed.write(head));
        Outgoing { kind: F::KIND.code(), fixed: HEAD_WORDS - start, words: &words[start..] }
    }

    /// Whether there is no item yet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Whether the record has the message of an error.
    #[inline]
    pub fn has_error(&self) -> bool {
        self.has_error
    }

    /// An input, by its index among the keys of the activity.
    #[inline]
    pub fn used(&mut self, index: usize, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        self.indexed(Field::Used, index, write);
    }

    /// An input that the code says is secret, by its index among the keys of the activity.
    pub fn used_redacted(&mut self, index: usize) {
        let hidden = std::mem::replace(&mut self.hidden, HiddenKeys::NONE);
        self.used(index, |value| value.redacted("argument"));
        self.hidden = hidden;
    }

    /// An output, by its index among the keys of the activity.
    #[inline]
    pub fn output(&mut self, index: usize, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        self.indexed(Field::Generated, index, write);
    }

    /// What the task returned.
    #[inline]
    pub fn result(&mut self, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        if self.bytes.len() < self.easy_end {
            self.bytes.push(Field::Result.code());
            self.easy_value(write);
        } else if self.has_values && self.has_room() {
            self.bytes.push(Field::Result.code());
            self.value(self.values_end, write);
        }
    }

    /// An input with a name of its own.
    pub fn used_named(&mut self, key: &str, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        if self.has_values {
            self.named(Field::Used, key, write);
        }
    }

    /// An output with a name of its own.
    pub fn generated_named(&mut self, key: &str, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        if self.has_values {
            self.named(Field::Generated, key, write);
        }
    }

    /// Free metadata.
    pub fn metadata(&mut self, key: &str, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        self.named(Field::Metadata, key, write);
    }

    /// Metadata that we make ourselves of something large, bounded only by a mebibyte.
    pub fn description(&mut self, key: &str, description: &(impl Serialize + ?Sized)) {
        self.bytes.extend_from_slice(&[Field::Metadata.code(), 0]);
        append::text(&mut self.bytes, &key[..key.floor_char_boundary(KEY_BYTES_MAX)]);
        let end = self.bytes.len() + TELEMETRY_BYTES_MAX;
        let budget = Budget { end, depth_max: self.depth_max, items_max: usize::MAX };
        self.value_within(budget, |value| value.serialize(description));
    }

    /// The message of an error or a panic.
    pub fn error(&mut self, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        self.has_error = true;
        self.plain(Field::Stderr, write);
    }

    /// The text of a field that has no key; a field that has one is left out.
    pub fn text(&mut self, field: Field, text: &str) {
        debug_assert!(!field.has_key(), "{field} needs a key");
        if !field.has_key() {
            self.plain(field, |value| value.text(text));
        }
    }

    /// The text of a field that has no key, as `Display` says it; a field that has one is left out.
    pub fn display(&mut self, field: Field, text: &dyn std::fmt::Display) {
        debug_assert!(!field.has_key(), "{field} needs a key");
        if !field.has_key() {
            self.plain(field, |value| value.display(text));
        }
    }

    /// The reading of a snapshot, bounded only by a mebibyte.
    pub fn telemetry(&mut self, reading: &(impl Serialize + ?Sized)) {
        self.bytes.push(Field::Telemetry.code());
        let end = self.bytes.len() + TELEMETRY_BYTES_MAX;
        let budget = Budget { end, depth_max: self.depth_max, items_max: usize::MAX };
        self.value_within(budget, |value| value.serialize(reading));
    }

    #[inline]
    fn indexed(&mut self, field: Field, index: usize, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        if self.bytes.len() < self.easy_end && index < 0x7F && !self.hidden.has(index) {
            self.bytes.extend_from_slice(&[field.code(), index as u8 + 1]);
            self.easy_value(write);
        } else {
            self.indexed_with_care(field, index, write);
        }
    }

    #[cold]
    fn indexed_with_care(&mut self, field: Field, index: usize, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        if !self.has_values || !self.has_room() {
            return;
        }
        self.bytes.push(field.code());
        append::varint(&mut self.bytes, index as u64 + 1);
        if self.hidden.has(index) {
            self.hide_key(index);
        } else {
            self.value(self.values_end, write);
        }
    }

    /// A value where there is room for the longest one.
    #[inline]
    fn easy_value(&mut self, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        let end = self.bytes.len() + self.value_bytes_max;
        self.value_within(Budget { end, depth_max: self.depth_max, items_max: self.items_max }, write);
    }

    fn hide_key(&mut self, index: usize) {
        let kind = self.hidden.kind(index, self.verdicts.redactor());
        self.value(self.values_end, |value| value.redacted(kind));
    }

    fn named(&mut self, field: Field, key: &str, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        if !self.has_room() {
            return;
        }
        self.bytes.extend_from_slice(&[field.code(), 0]);
        let redactor = self.verdicts.redactor();
        let shown = hiding::text_of(redactor, key);
        append::text(&mut self.bytes, &shown[..shown.floor_char_boundary(KEY_BYTES_MAX)]);
        match redactor.and_then(|redactor| redactor.name(key)) {
            Some(kind) => self.value(self.values_end, |value| value.redacted(kind)),
            None => self.value(self.values_end, write),
        }
    }

    fn plain(&mut self, field: Field, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        if self.has_room() {
            self.bytes.push(field.code());
            self.value(self.record_end(), write);
        }
    }

    #[inline]
    fn value(&mut self, end: usize, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        let start = self.bytes.len();
        if start >= end {
            self.bytes.push(tag::LEFT_OUT);
            return;
        }
        let end = end.min(start + self.value_bytes_max);
        self.value_within(Budget { end, depth_max: self.depth_max, items_max: self.items_max }, write);
    }

    #[inline]
    fn value_within(&mut self, budget: Budget, write: impl FnOnce(&mut ValueEncoder<'_>)) {
        let start = self.bytes.len();
        let (bytes, open, verdicts) = (&mut self.bytes, &mut self.open, &mut self.verdicts);
        write(&mut ValueEncoder { bytes, open, verdicts, start, budget });
        if self.bytes.len() == start {
            self.bytes.push(tag::NULL);
        }
    }

    #[inline]
    fn record_end(&self) -> usize {
        self.values_end + RESERVE_BYTES
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.bytes.len() < self.record_end()
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
