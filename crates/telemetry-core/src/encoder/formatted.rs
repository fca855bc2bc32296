//! Takes the output of `Display` and `Debug` up to a limit and then ends the formatting.

use super::within::{TEXT_HEADER_MAX, short_type};
use super::{append, hiding};
use crate::redaction::{Redactor, WINDOW_BYTES};
use crate::value::tag;
use std::fmt::{self, Debug, Display, Write};

pub(super) struct Formatted<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    /// Where what is kept must end.
    end: usize,
    /// Where the formatting ends: what lies beyond `end` is only looked at.
    limit: usize,
    nesting: usize,
    nesting_max: usize,
    cut: bool,
    whole_of: Option<Whole>,
    /// Whether it was cut for its length.
    is_full: bool,
    redactor: Option<&'static Redactor>,
}

/// What is known of a value whose text may be cut.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    pub(super) type_name: &'static str,
    pub(super) items: Option<usize>,
}

impl<'a> Formatted<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>, end: usize, nesting_max: usize) -> Self {
        let start = bytes.len();
        let end = end.saturating_sub(TEXT_HEADER_MAX).max(start);
        Self {
            bytes,
            start,
            end,
            limit: end,
            nesting: 0,
            nesting_max,
            cut: false,
            whole_of: None,
            is_full: false,
            redactor: None,
        }
    }

    /// What is said of the value if its text is cut.
    pub(super) fn of(mut self, whole: Option<Whole>) -> Self {
        self.whole_of = whole;
        self
    }

    /// Replaces what is secret in the text.
    pub(super) fn redacted_by(mut self, redactor: Option<&'static Redactor>) -> Self {
        self.redactor = redactor;
        self.limit += if redactor.is_some() { WINDOW_BYTES } else { 0 };
        self
    }

    /// Writes a text; false if the formatting failed, with nothing written.
    pub(super) fn write_text(&mut self, value: &dyn Display) -> bool {
        let result = write!(self, "{value}");
        self.wrap(result, append::wrap_text)
    }

    /// Writes a `Debug` text; false if the formatting failed, with nothing written.
    pub(super) fn write_debug(&mut self, value: &dyn Debug) -> bool {
        let result = write!(self, "{value:?}");
        self.wrap(result, |bytes, start| append::wrap_prefixed(bytes, start, tag::DEBUG))
    }

    /// Writes the `Debug` text of the first items of a longer list, without the bracket that would
    /// close it.
    pub(super) fn write_debug_start(&mut self, value: &dyn Debug) -> bool {
        let result = write!(self, "{value:?}");
        if result.is_ok() && self.bytes.ends_with(b"]") {
            self.bytes.pop();
            self.cut = true;
        }
        self.wrap(result, |_, _| {})
    }

    /// Writes the text alone; what there is when formatting fails.
    pub(super) fn write_raw(&mut self, value: &dyn Display) {
        let _ = write!(self, "{value}");
    }

    /// Whether the text was longer than what was written.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    fn wrap(&mut self, result: fmt::Result, whole: impl FnOnce(&mut Vec<u8>, usize)) -> bool {
        if let Some(redactor) = self.redactor {
            self.cut |= hiding::settle(redactor, self.bytes, self.start, self.end, self.is_full);
        }
        if self.cut {
            self.wrap_cut();
        } else if result.is_ok() {
            whole(self.bytes, self.start);
        } else {
            self.bytes.truncate(self.start);
            return false;
        }
        true
    }

    /// The type takes the place of the preview's end, unless that would leave little of it.
    fn wrap_cut(&mut self) {
        let Some(Whole { type_name, items }) = self.whole_of else {
            return append::wrap_prefixed(self.bytes, self.start, tag::DEBUG_CUT);
        };
        let type_name = short_type(type_name);
        let more = type_name.len() + 1 + append::varint_length(append::total(items));
        let room = self.end - self.start;
        let left = room.saturating_sub(more);
        if left <= room / 2 {
            return append::wrap_prefixed(self.bytes, self.start, tag::DEBUG_CUT);
        }
        let mut kept = self.bytes.len().min(self.start + left);
        while kept > self.start && self.bytes.get(kept).is_some_and(|&byte| (0x80..0xC0).contains(&byte)) {
            kept -= 1;
        }
        self.bytes.truncate(kept);
        append::wrap_debug_cut(self.bytes, self.start, type_name, items);
    }

    /// Follows the brackets that derived implementations write one by one: `Debug` recurses for each,
    /// and the stack may end before the bytes do.
    fn follow(&mut self, text: &str) {
        match text {
            "(" | "[" | "{" | " { " => self.nesting += 1,
            ")" | "]" | "}" | " }" => self.nesting = self.nesting.saturating_sub(1),
            _ => {}
        }
    }
}

impl Write for Formatted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Err(fmt::Error);
        }
        self.follow(text);
        let kept = text.floor_char_boundary(self.limit - self.bytes.len());
        self.bytes.extend_from_slice(&text.as_bytes()[..kept]);
        self.is_full = kept < text.len();
        self.cut = self.is_full || self.nesting > self.nesting_max;
        if self.cut { Err(fmt::Error) } else { Ok(()) }
    }
}
