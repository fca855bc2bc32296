//! Writes one nested value within its budgets and keeps the bytes well-formed wherever it stops.
//!
//! A stop has two reaches. `Stop::Container`: one sequence or map has reached its items, or lies too
//! deep; the error that ends the user's iteration is taken back by the enclosing item, which goes on.
//! `Stop::Value`: the bytes are used up; the error goes all the way out, and then every open container
//! is closed. The stop is state of the writer and not of the error, because user code may replace or
//! swallow the error. The bytes of the closing marks are set aside when a container opens, so that
//! closing never exceeds the budget.

use super::append;
use super::error::Error;
use super::formatted::Formatted;
use super::hiding::{Instead, text_of};
use super::within::{self, TEXT_HEADER_MAX};
use crate::redaction::{Redactor, Verdicts};
use crate::value::{Encoded, tag};
use serde::Serialize;
use std::fmt::Display;

/// What one value may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Where in the buffer the value must end.
    pub(super) end: usize,
    pub(super) depth_max: usize,
    pub(super) items_max: usize,
}

/// A sequence or map that is being written.
#[derive(Debug)]
pub(super) struct Open {
    /// The budget's end before the bytes of the closing mark were set aside.
    end_before: usize,
    total: Option<usize>,
    /// Items begun so far.
    begun: usize,
    /// Where the last item begins: a map's item is a key and a value.
    item_start: usize,
    /// Where the last item's value begins; [`KEY_UNFINISHED`] while the key is being written.
    value_start: usize,
}

const KEY_UNFINISHED: usize = usize::MAX;

/// A value with less room than this does not say its type.
const TYPE_ROOM_MIN: usize = 8 * within::TYPE_BYTES_MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    None,
    /// The container with this index among the open ones is cut; one past the last: it was not opened.
    Container(usize),
    Value,
}

/// Where the writer stood, so that it can go back there.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    length: usize,
    open: usize,
    end: usize,
    depth: usize,
}

pub(super) struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    open: &'a mut Vec<Open>,
    verdicts: &'a mut Verdicts,
    budget: Budget,
    depth: usize,
    stop: Stop,
    /// Whether something was cut to the last bytes: then not even a short item follows it.
    spent: bool,
    /// The type of the whole value; empty where there is no room to say it.
    type_name: &'static str,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        bytes: &'a mut Vec<u8>,
        open: &'a mut Vec<Open>,
        verdicts: &'a mut Verdicts,
        budget: Budget,
        type_name: &'static str,
    ) -> Self {
        open.clear();
        let room = budget.end.saturating_sub(bytes.len());
        let type_name = if room < TYPE_ROOM_MIN { "" } else { within::short_type(type_name) };
        Self { bytes, open, verdicts, budget, depth: 0, stop: Stop::None, spent: false, type_name }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { length: self.bytes.len(), open: self.open.len(), end: self.budget.end, depth: self.depth }
    }

    fn roll_back(&mut self, mark: Mark) {
        self.bytes.truncate(mark.length);
        self.open.truncate(mark.open);
        self.budget.end = mark.end;
        self.depth = mark.depth;
        self.spent = false;
    }

    /// Replaces everything since the mark with a failure; for use outside of all containers.
    pub(super) fn fail(&mut self, mark: Mark, message: &str) {
        self.roll_back(mark);
        self.stop = Stop::None;
        // Outside of containers there is always room for a short mark.
        let _ = self.failed(message);
    }

    /// Ends the whole value after its `Serialize` returned.
    pub(super) fn finish(&mut self, mark: Mark, result: Result<(), Error>) {
        match (self.stop, result) {
            (Stop::Value, _) => self.close_all(),
            (_, Ok(())) => {}
            (_, Err(error)) => {
                if self.settle(mark, &error).is_err() {
                    self.close_all();
                }
            }
        }
    }

    /// Writes a value inside of a container; its failure becomes its own mark and stays there.
    pub(super) fn nested<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if let Some(kind) = self.verdicts.type_of::<T>() {
            return self.redacted(kind);
        }
        let mark = self.mark();
        match value.serialize(super::serializer::Serializer::new(self)) {
            Ok(()) => Ok(()),
            Err(error) => self.settle(mark, &error),
        }
    }

    fn settle(&mut self, mark: Mark, error: &Error) -> Result<(), Error> {
        match self.stop {
            Stop::None => {
                self.roll_back(mark);
                self.failed(error.message())
            }
            Stop::Container(level) if level >= mark.open => {
                self.stop = Stop::None;
                while self.open.len() > mark.open {
                    self.close(self.open.len() - 1 == level);
                }
                self.depth = mark.depth;
                Ok(())
            }
            Stop::Container(_) | Stop::Value => Err(Error::Stopped),
        }
    }

    /// Makes sure that so many bytes fit. Outside of all containers they always do: a value is never
    /// less than its shortest mark.
    #[inline]
    fn room(&mut self, bytes: usize) -> Result<(), Error> {
        if self.stop != Stop::None {
            return Err(Error::Stopped);
        }
        let full = self.spent || self.bytes.len() + bytes > self.budget.end;
        if full && !self.open.is_empty() {
            self.stop = Stop::Value;
            return Err(Error::Stopped);
        }
        Ok(())
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.budget.end.saturating_sub(self.bytes.len())
    }

    #[inline]
    pub(super) fn number(&mut self, append: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        self.room(1)?;
        let before = self.bytes.len();
        append(self.bytes);
        self.room(0).inspect_err(|_| self.bytes.truncate(before))
    }

    #[inline]
    pub(super) fn mark_byte(&mut self, tag: u8) -> Result<(), Error> {
        self.room(1)?;
        self.bytes.push(tag);
        Ok(())
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Result<(), Error> {
        if let Some(instead) = Instead::of(self.redactor(), text.as_bytes(), self.bytes_left()) {
            self.room(within::cut_header_length(text.len()))?;
            self.spent = !instead.append_text(self.bytes, self.budget.end);
            return Ok(());
        }
        self.plain_text(text)
    }

    /// A text that is known to have no secret in it: the name of a field.
    #[inline]
    pub(super) fn plain_text(&mut self, text: &str) -> Result<(), Error> {
        if text.len() + TEXT_HEADER_MAX <= self.bytes_left() && self.stop == Stop::None {
            append::text(self.bytes, text);
            return Ok(());
        }
        let header = within::cut_header_length(text.len());
        self.room(header)?;
        self.spent = !within::text(self.bytes, text, self.budget.end);
        Ok(())
    }

    pub(super) fn bytes(&mut self, payload: &[u8]) -> Result<(), Error> {
        self.room(within::cut_header_length(payload.len()))?;
        let is_whole = match Instead::of(self.redactor(), payload, self.bytes_left()) {
            Some(instead) => instead.append_bytes(self.bytes, self.budget.end),
            None => within::bytes(self.bytes, payload, self.budget.end),
        };
        self.spent = !is_whole;
        Ok(())
    }

    pub(super) fn display(&mut self, value: &dyn Display) -> Result<(), Error> {
        self.room(TEXT_HEADER_MAX)?;
        let redactor = self.redactor();
        let formatted = Formatted::new(self.bytes, self.budget.end, self.budget.depth_max);
        let mut formatted = formatted.redacted_by(redactor);
        let written = formatted.write_text(value);
        self.spent = formatted.is_cut();
        if written { Ok(()) } else { Err(Error::Failed(FORMATTING_FAILED.into())) }
    }

    fn failed(&mut self, message: &str) -> Result<(), Error> {
        self.room(TEXT_HEADER_MAX)?;
        within::mark(self.bytes, tag::FAILED, &text_of(self.redactor(), message), self.budget.end);
        Ok(())
    }

    /// The kind of secret that stands here.
    pub(super) fn redacted(&mut self, kind: &str) -> Result<(), Error> {
        self.room(TEXT_HEADER_MAX)?;
        within::mark(self.bytes, tag::REDACTED, kind, self.budget.end);
        Ok(())
    }

    #[inline]
    pub(super) fn redactor(&self) -> Option<&'static Redactor> {
        self.verdicts.redactor()
    }

    /// The kind of secret that the name of a field announces.
    #[inline]
    pub(super) fn kind_of_field(&mut self, name: &'static str) -> Option<&'static str> {
        self.verdicts.name(name)
    }

    /// The kind of secret that the key of the last item announces, if that is a text.
    pub(super) fn kind_of_key(&self) -> Option<&'static str> {
        let map = self.open.last()?;
        self.redactor()?.name(text_at(self.bytes, map.item_start)?)
    }

    /// The kind of secret that the next item of a list is because of the one before it: the second of a pair, or what
    /// follows an option of a command line.
    pub(super) fn kind_after_item(&self) -> Option<&'static str> {
        let redactor = self.redactor()?;
        let list = self.open.last().filter(|list| list.begun > 0)?;
        let before = text_at(self.bytes, list.item_start)?;
        match (list.total, list.begun) {
            (Some(2), 1) => redactor.name(before),
            _ => redactor.option(before),
        }
    }

    /// Goes one level down for something that has no bytes of its own.
    pub(super) fn transparent<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if self.depth >= self.budget.depth_max {
            return self.mark_byte(tag::TOO_DEEP);
        }
        if let Some(kind) = self.verdicts.type_of::<T>() {
            return self.redacted(kind);
        }
        self.depth += 1;
        let result = value.serialize(super::serializer::Serializer::new(self));
        self.depth -= usize::from(result.is_ok());
        result
    }

    pub(super) fn open(&mut self, tag: u8, total: Option<usize>) -> Result<(), Error> {
        if self.depth >= self.budget.depth_max {
            self.mark_byte(tag::TOO_DEEP)?;
            self.stop = Stop::Container(self.open.len());
            return Err(Error::Stopped);
        }
        let closing = 1 + append::varint_length((total.unwrap_or(0) as u64).saturating_add(1));
        // The outermost container says its type if it is cut.
        let closing = if self.open.is_empty() { closing + 1 + self.type_name.len() } else { closing };
        self.room(1 + closing)?;
        self.bytes.push(tag);
        self.depth += 1;
        let end_before = self.budget.end;
        self.budget.end = end_before.saturating_sub(closing);
        let start = self.bytes.len();
        self.open.push(Open { end_before, total, begun: 0, item_start: start, value_start: start });
        Ok(())
    }

    /// Begins an item of the innermost container.
    pub(super) fn begin_item(&mut self) -> Result<(), Error> {
        self.begin(self.bytes.len())
    }

    pub(super) fn begin_key(&mut self) -> Result<(), Error> {
        if self.key_waits() {
            self.mark_byte(tag::NULL)?;
        }
        self.begin(KEY_UNFINISHED)
    }

    fn begin(&mut self, value_start: usize) -> Result<(), Error> {
        self.room(1)?;
        let item_start = self.bytes.len();
        let level = self.open.len().saturating_sub(1);
        let Some(container) = self.open.last_mut() else { return Err(Error::Stopped) };
        if container.begun >= self.budget.items_max {
            self.stop = Stop::Container(level);
            return Err(Error::Stopped);
        }
        container.begun += 1;
        container.item_start = item_start;
        container.value_start = value_start;
        Ok(())
    }

    pub(super) fn end_key(&mut self) {
        let length = self.bytes.len();
        if let Some(container) = self.open.last_mut() {
            container.value_start = length;
        }
    }

    /// Whether the innermost map has a key that still lacks its value.
    pub(super) fn key_waits(&self) -> bool {
        self.open.last().is_some_and(|map| map.begun > 0 && map.value_start == self.bytes.len())
    }

    /// Ends the innermost container after its last item.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        match self.stop {
            Stop::None => {
                if self.key_waits() {
                    self.mark_byte(tag::NULL)?;
                }
                self.close(false);
                Ok(())
            }
            Stop::Container(level) if level + 1 == self.open.len() => {
                self.stop = Stop::None;
                self.close(true);
                Ok(())
            }
            Stop::Container(_) | Stop::Value => Err(Error::Stopped),
        }
    }

    fn close_all(&mut self) {
        while let Some(container) = self.open.last() {
            let complete = container.total == Some(self.items_kept(container));
            self.close(!complete);
        }
    }

    fn close(&mut self, cut: bool) {
        let Some(container) = self.open.pop() else { return };
        if self.bytes.len() <= container.value_start && container.begun > 0 {
            self.bytes.truncate(container.item_start);
        }
        if cut {
            // A hint that the items have proved wrong is no total.
            let total = container.total.filter(|&total| total >= container.begun);
            let type_name = if self.open.is_empty() { self.type_name } else { "" };
            append::cut_end(self.bytes, total, type_name);
        } else {
            self.bytes.push(tag::END);
        }
        self.budget.end = container.end_before;
        self.depth = self.depth.saturating_sub(1);
    }

    /// The items whose value has at least begun.
    fn items_kept(&self, container: &Open) -> usize {
        let unfinished = self.bytes.len() <= container.value_start;
        container.begun.saturating_sub(usize::from(unfinished))
    }
}

/// The text that begins there, if one does.
#[inline]
fn text_at(bytes: &[u8], start: usize) -> Option<&str> {
    let mut bytes = bytes.get(start..)?;
    match *bytes.first()? {
        tag::TEXT | tag::SHORT_TEXT..=0xBF => Encoded::read(&mut bytes)?.as_str(),
        _ => None,
    }
}

pub(super) const FORMATTING_FAILED: &str = "its formatting returned an error";
