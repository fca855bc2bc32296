//! Writes the one value of an item.

use super::append;
use super::budget::{self, Budget, Open, Writer};
use super::formatted::{Formatted, Whole};
use super::guard::guarded;
use super::hiding::{Instead, text_of};
use super::serializer::Serializer;
use super::within::{self, TEXT_HEADER_MAX};
use crate::capture::Capture;
use crate::inspect::Inspectable;
use crate::redaction::Verdicts;
use crate::value::tag;
use serde::Serialize;
use std::ffi::OsStr;
use std::fmt::{Debug, Display};
use std::path::Path;

/// Writes exactly one value: nothing written counts as null, and of several values the last stays.
///
/// No method fails or panics, whatever the traits of the value do. What they do before they return is
/// theirs: a `Serialize` that waits for a lock waits here too, and the `Debug` of a huge text reads all of
/// it before it writes the first byte.
#[derive(Debug)]
pub struct ValueEncoder<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
    pub(super) open: &'a mut Vec<Open>,
    pub(super) verdicts: &'a mut Verdicts,
    pub(super) start: usize,
    pub(super) budget: Budget,
}

impl ValueEncoder<'_> {
    #[inline]
    fn begin(&mut self) -> &mut Vec<u8> {
        self.bytes.truncate(self.start);
        self.bytes
    }

    /// Nothing.
    #[inline]
    pub fn null(&mut self) {
        self.begin().push(tag::NULL);
    }

    /// A truth value.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        append::boolean(self.begin(), value);
    }

    /// An integer.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "behind a call, what it writes to would go through memory")]
    pub fn int(&mut self, number: i64) {
        append::int(self.begin(), number);
    }

    /// An integer without sign.
    #[inline]
    pub fn unsigned(&mut self, number: u64) {
        append::unsigned(self.begin(), number);
    }

    /// A wide integer.
    #[inline]
    pub fn int128(&mut self, number: i128) {
        append::int128(self.begin(), number);
    }

    /// A wide integer without sign.
    #[inline]
    pub fn unsigned128(&mut self, number: u128) {
        append::unsigned128(self.begin(), number);
    }

    /// A number of double precision.
    #[inline]
    pub fn float(&mut self, number: f64) {
        append::float(self.begin(), number);
    }

    /// A number of single precision.
    #[inline]
    pub fn float32(&mut self, number: f32) {
        append::float32(self.begin(), number);
    }

    /// A character, as text.
    #[inline]
    pub fn character(&mut self, character: char) {
        self.text(character.encode_utf8(&mut [0; 4]));
    }

    /// A text.
    #[inline]
    pub fn text(&mut self, text: &str) {
        let is_easy = self.verdicts.is_plain(text.as_bytes()) && self.budget.end >= self.start + EASY_BYTES;
        if !(is_easy && append::short_text(self.begin(), text.as_bytes())) {
            self.any_text(text);
        }
    }

    #[inline(never)]
    fn any_text(&mut self, text: &str) {
        let end = self.budget.end;
        if let Some(instead) = self.instead(text.as_bytes()) {
            instead.append_text(self.begin(), end);
            return;
        }
        let bytes = self.begin();
        if text.len() + TEXT_HEADER_MAX <= end.saturating_sub(bytes.len()) {
            append::text(bytes, text);
        } else {
            within::text(bytes, text, end);
        }
    }

    /// Raw bytes.
    pub fn bytes(&mut self, payload: &[u8]) {
        let end = self.budget.end;
        match self.instead(payload) {
            Some(instead) => instead.append_bytes(self.begin(), end),
            None => within::bytes(self.begin(), payload, end),
        };
    }

    /// What to write in place of a text with a secret in it.
    #[inline]
    pub(super) fn instead(&self, text: &[u8]) -> Option<Instead> {
        Instead::of(self.verdicts.redactor(), text, self.budget.end.saturating_sub(self.start))
    }

    /// A path, which need not be UTF-8. One with a secret in it is a text: it names no file any more.
    pub fn path(&mut self, path: &Path) {
        let payload = path.as_os_str().as_encoded_bytes();
        let end = self.budget.end;
        if let Some(instead) = self.instead(payload) {
            instead.append_text(self.begin(), end);
            return;
        }
        let bytes = self.begin();
        if payload.len() + TEXT_HEADER_MAX <= end.saturating_sub(bytes.len()) {
            append::prefixed(bytes, tag::PATH, payload);
        } else if let Some(text) = path.to_str() {
            within::text(bytes, text, end);
        } else {
            within::bytes(bytes, payload, end);
        }
    }

    /// A text of the operating system, which need not be UTF-8.
    pub fn os_text(&mut self, text: &OsStr) {
        match text.to_str() {
            Some(text) => self.text(text),
            None => self.path(Path::new(text)),
        }
    }

    /// Only the name of a type.
    pub fn type_name<T: ?Sized>(&mut self) {
        self.mark(tag::TYPE_NAME, std::any::type_name::<T>());
    }

    /// A word on why the value could not be had.
    pub fn failed(&mut self, message: &str) {
        self.mark(tag::FAILED, &text_of(self.verdicts.redactor(), message));
    }

    /// The kind of secret that stood here.
    pub fn redacted(&mut self, kind: &str) {
        self.mark(tag::REDACTED, kind);
    }

    fn mark(&mut self, tag: u8, text: &str) {
        let end = self.budget.end;
        within::mark(self.begin(), tag, text, end);
    }

    /// What `Serialize` says, up to the limits: iteration ends early where they are reached.
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) {
        if let Some(kind) = self.verdicts.type_of::<T>() {
            return self.redacted(kind);
        }
        self.begin();
        let type_name = std::any::type_name::<T>();
        let mut writer = Writer::new(self.bytes, self.open, self.verdicts, self.budget, type_name);
        let mark = writer.mark();
        match guarded(|| value.serialize(Serializer::new(&mut writer))) {
            Some(result) => writer.finish(mark, result),
            None => writer.fail(mark, PANICKED),
        }
    }

    /// What the value's own [`Capture`] writes, unless the type is secret.
    pub fn capture<T: Capture + ?Sized>(&mut self, value: &T) {
        if let Some(kind) = self.verdicts.type_of::<T>() {
            return self.redacted(kind);
        }
        if guarded(|| value.capture(self)).is_none() {
            self.failed(PANICKED);
        }
    }

    /// What is to be seen of a tensor, a number, or a tuple of them.
    pub fn show<T: Inspectable + ?Sized>(&mut self, value: &T) {
        if guarded(|| value.show(self)).is_none() {
            self.failed(PANICKED);
        }
    }

    /// What `Debug` says, up to the limits.
    pub fn debug<T: Debug + ?Sized>(&mut self, value: &T) {
        let whole = Whole { type_name: std::any::type_name::<T>(), items: None };
        self.formatted(Some(whole), |formatted| formatted.write_debug(&value));
    }

    /// What `Debug` says, up to the limits, unless the type is secret.
    pub fn debug_of<T: Debug + ?Sized>(&mut self, value: &T) {
        match self.verdicts.type_of::<T>() {
            Some(kind) => self.redacted(kind),
            None => self.debug(&value),
        }
    }

    /// What `Debug` says of the first items, up to the limits. The `Debug` of a slice visits every item
    /// even after its output was refused, so a long slice must be cut before.
    pub fn debug_slice<T: Debug>(&mut self, items: &[T]) {
        if let Some(kind) = self.verdicts.type_of::<T>() {
            return self.redacted(kind);
        }
        let first = &items[..items.len().min(self.budget.items_max)];
        if first.len() == items.len() {
            self.debug(items);
        } else {
            let whole = Whole { type_name: std::any::type_name::<[T]>(), items: Some(items.len()) };
            self.formatted(Some(whole), |formatted| formatted.write_debug_start(&first));
        }
    }

    /// What `Display` says, up to the limits, as text.
    pub fn display(&mut self, value: &dyn Display) {
        self.formatted(None, |formatted| formatted.write_text(value));
    }

    fn formatted(&mut self, whole: Option<Whole>, write: impl FnOnce(&mut Formatted<'_>) -> bool) {
        let (budget, redactor) = (self.budget, self.verdicts.redactor());
        let formatted = Formatted::new(self.begin(), budget.end, budget.depth_max);
        let mut formatted = formatted.of(whole).redacted_by(redactor);
        match guarded(|| write(&mut formatted)) {
            Some(true) => {}
            Some(false) => self.failed(budget::FORMATTING_FAILED),
            None => self.failed(PANICKED),
        }
    }
}

const PANICKED: &str = "panicked";

/// A short text with its header fits into so many bytes.
const EASY_BYTES: usize = 32;
