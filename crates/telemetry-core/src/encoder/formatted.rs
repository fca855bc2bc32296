//! Takes the output of `Display` and `Debug` up to a limit and then ends the formatting.

use super::append;
use super::within::TEXT_HEADER_MAX;
use crate::value::tag;
use std::fmt::{self, Debug, Display, Write};

pub(super) struct Formatted<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    end: usize,
    nesting: usize,
    nesting_max: usize,
    cut: bool,
}

impl<'a> Formatted<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>, end: usize, nesting_max: usize) -> Self {
        let start = bytes.len();
        let end = end.saturating_sub(TEXT_HEADER_MAX).max(start);
        Self { bytes, start, end, nesting: 0, nesting_max, cut: false }
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
        if self.cut {
            append::wrap_prefixed(self.bytes, self.start, tag::DEBUG_CUT);
        } else if result.is_ok() {
            whole(self.bytes, self.start);
        } else {
            self.bytes.truncate(self.start);
            return false;
        }
        true
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
        let kept = text.floor_char_boundary(self.end - self.bytes.len());
        self.bytes.extend_from_slice(&text.as_bytes()[..kept]);
        self.cut = kept < text.len() || self.nesting > self.nesting_max;
        if self.cut { Err(fmt::Error) } else { Ok(()) }
    }
}
