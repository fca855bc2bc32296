//! Hides what is secret on its way into a record, before anything is cut.

use std::borrow::Cow;

use super::within;
use crate::redaction::{Redactor, WINDOW_BYTES};
use crate::value::tag;

/// A secret that is longer than the window may begin within the last bytes of it and not be known as one: these bytes
/// are not kept.
const MARGIN_BYTES: usize = 1024;

/// Keys of an activity whose values are secret, by index.
#[derive(Clone, Copy, Debug)]
pub struct HiddenKeys {
    mask: u64,
    names: &'static [&'static str],
}

/// Keys from this index on share one bit: one of them hides all.
const LAST_BIT: usize = 63;

impl HiddenKeys {
    pub(super) const NONE: Self = Self { mask: 0, names: &[] };

    /// The keys of these names that a mask has bits for.
    #[inline]
    pub const fn new(mask: u64, names: &'static [&'static str]) -> Self {
        Self { mask, names }
    }

    /// The mask of those names that a redactor finds secret.
    pub fn mask(redactor: Option<&Redactor>, names: &[&str]) -> u64 {
        let Some(redactor) = redactor else { return 0 };
        let secret = names.iter().enumerate().filter(|(_, name)| redactor.name(name).is_some());
        secret.fold(0, |mask, (index, _)| mask | 1 << index.min(LAST_BIT))
    }

    #[inline]
    pub(super) fn has(self, index: usize) -> bool {
        self.mask >> index.min(LAST_BIT) & 1 != 0
    }

    pub(super) fn kind(self, index: usize, redactor: Option<&Redactor>) -> &'static str {
        let kind = redactor.and_then(|redactor| redactor.name(self.names.get(index)?));
        kind.unwrap_or("name")
    }
}

/// A text with what is secret in it replaced.
pub(super) fn text_of<'a>(redactor: Option<&Redactor>, text: &'a str) -> Cow<'a, str> {
    redactor.map_or(Cow::Borrowed(text), |redactor| redactor.text(text))
}

/// What is written instead of a text with a secret in it.
pub(super) struct Instead {
    bytes: Vec<u8>,
    /// How long the text is with its secrets replaced, as far as they were looked for.
    full_length: usize,
    is_whole: bool,
}

impl Instead {
    /// None where no secret is found in what may be kept of the text and the window behind it.
    #[inline]
    pub(super) fn of(redactor: Option<&Redactor>, text: &[u8], kept_max: usize) -> Option<Self> {
        let redactor = redactor?;
        let length = text.len().min(kept_max.saturating_add(WINDOW_BYTES));
        let bytes = redactor.replaced(&text[..length])?;
        let full_length = bytes.len() + text.len() - length;
        Some(Self { bytes, full_length, is_whole: length == text.len() })
    }

    /// Appends it as text, cut where it must be; whether it is whole.
    pub(super) fn append_text(&self, out: &mut Vec<u8>, end: usize) -> bool {
        let text = lossy(&self.bytes);
        if self.is_whole {
            return within::text(out, &text, end);
        }
        within::cut_text(out, &text[..text.floor_char_boundary(self.known())], self.full_length, end);
        false
    }

    /// Appends it as bytes, cut where it must be; whether they are whole.
    pub(super) fn append_bytes(&self, out: &mut Vec<u8>, end: usize) -> bool {
        if self.is_whole {
            return within::bytes(out, &self.bytes, end);
        }
        within::cut(out, tag::BYTES_CUT, &self.bytes[..self.known()], self.full_length, end);
        false
    }

    fn known(&self) -> usize {
        self.bytes.len().saturating_sub(MARGIN_BYTES)
    }
}

/// The start of a text may end within a character.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) if error.error_len().is_none() => {
            Cow::Borrowed(str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""))
        }
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Replaces what is secret in the text from `start` on, of which only what lies before `end` is kept; whether it had to
/// be cut. One that `is_full` may have gone on.
pub(super) fn settle(
    redactor: &Redactor,
    bytes: &mut Vec<u8>,
    start: usize,
    end: usize,
    is_full: bool,
) -> bool {
    if let Some(replaced) = redactor.replaced(&bytes[start..]) {
        bytes.truncate(start);
        bytes.extend_from_slice(&replaced);
    }
    let known = if is_full { bytes.len().saturating_sub(MARGIN_BYTES).max(start) } else { bytes.len() };
    let is_cut = known.min(end) < bytes.len();
    if is_cut {
        let kept = lossy(&bytes[start..known.min(end)]).len();
        bytes.truncate(start + kept);
    }
    is_cut
}
