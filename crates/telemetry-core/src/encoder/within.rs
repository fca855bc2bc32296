//! Appends texts and bytes, or as much of them as fits before an end.

use super::append;
use crate::value::tag;

/// The header of a text that is not cut, or of a short mark.
pub(super) const TEXT_HEADER_MAX: usize = 6;

/// Names of types and messages of failures are at most this long.
const MARK_BYTES_MAX: usize = 1024;

/// The name of a type beside something that was cut is at most this long.
pub(super) const TYPE_BYTES_MAX: usize = 80;

pub(super) fn cut_header_length(full_length: usize) -> usize {
    1 + 2 * append::varint_length(full_length as u64)
}

/// Appends the text, or as much of it as fits before `end`; whether it is whole.
pub(super) fn text(out: &mut Vec<u8>, text: &str, end: usize) -> bool {
    let left = end.saturating_sub(out.len());
    if text.len() + 1 + append::varint_length(text.len() as u64) <= left {
        append::text(out, text);
        return true;
    }
    cut_text(out, text, text.len(), end);
    false
}

/// Appends as much as fits before `end` of a text whose full length is given.
pub(super) fn cut_text(out: &mut Vec<u8>, text: &str, full_length: usize, end: usize) {
    let left = end.saturating_sub(out.len());
    let kept = text.floor_char_boundary(left.saturating_sub(cut_header_length(full_length)));
    append::cut(out, tag::TEXT_CUT, full_length, &text.as_bytes()[..kept]);
}

/// Appends as much as fits before `end` of bytes whose full length is given.
pub(super) fn cut(out: &mut Vec<u8>, tag: u8, payload: &[u8], full_length: usize, end: usize) {
    let left = end.saturating_sub(out.len());
    let kept = left.saturating_sub(cut_header_length(full_length)).min(payload.len());
    append::cut(out, tag, full_length, &payload[..kept]);
}

/// Appends the bytes, or as many of them as fit before `end`; whether they are whole.
pub(super) fn bytes(out: &mut Vec<u8>, payload: &[u8], end: usize) -> bool {
    let left = end.saturating_sub(out.len());
    if payload.len() + 1 + append::varint_length(payload.len() as u64) <= left {
        append::prefixed(out, tag::BYTES, payload);
        return true;
    }
    cut(out, tag::BYTES_CUT, payload, payload.len(), end);
    false
}

/// Appends a message or name, shortened without a word where it is very long.
pub(super) fn mark(out: &mut Vec<u8>, tag: u8, text: &str, end: usize) {
    let left = end.saturating_sub(out.len() + TEXT_HEADER_MAX).min(MARK_BYTES_MAX);
    let kept = text.floor_char_boundary(left);
    append::prefixed(out, tag, &text.as_bytes()[..kept]);
}

/// The name of a type, shortened where it is very long.
pub(super) fn short_type(type_name: &'static str) -> &'static str {
    &type_name[..type_name.floor_char_boundary(TYPE_BYTES_MAX)]
}
