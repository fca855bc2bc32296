//! Appends the bytes of single values; budgets are the business of the callers.

use crate::value::{FileState, tag};

#[inline]
pub(super) fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) const fn varint_length(number: u64) -> usize {
    let bits = 64 - (number | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

#[inline]
pub(super) fn boolean(out: &mut Vec<u8>, value: bool) {
    out.push(if value { tag::TRUE } else { tag::FALSE });
}

#[inline]
pub(super) fn int(out: &mut Vec<u8>, number: i64) {
    match number {
        0..=63 => out.push(tag::SMALL_INT + number as u8),
        _ => tagged_varint(out, tag::INT, ((number << 1) ^ (number >> 63)) as u64),
    }
}

#[inline]
pub(super) fn unsigned(out: &mut Vec<u8>, number: u64) {
    match i64::try_from(number) {
        Ok(number) => int(out, number),
        Err(_) => tagged_varint(out, tag::UINT, number),
    }
}

pub(super) fn int128(out: &mut Vec<u8>, number: i128) {
    if let Ok(number) = i64::try_from(number) {
        int(out, number);
    } else if let Ok(number) = u64::try_from(number) {
        unsigned(out, number);
    } else {
        out.push(tag::INT128);
        out.extend_from_slice(&number.to_le_bytes());
    }
}

pub(super) fn unsigned128(out: &mut Vec<u8>, number: u128) {
    if let Ok(number) = i128::try_from(number) {
        int128(out, number);
    } else {
        out.push(tag::UINT128);
        out.extend_from_slice(&number.to_le_bytes());
    }
}

#[inline]
pub(super) fn float32(out: &mut Vec<u8>, number: f32) {
    let mut bytes = [tag::F32; 5];
    bytes[1..].copy_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&bytes);
}

#[inline]
pub(super) fn float(out: &mut Vec<u8>, number: f64) {
    let mut bytes = [tag::F64; 9];
    bytes[1..].copy_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&bytes);
}

#[inline]
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    text_header(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

#[inline]
fn text_header(out: &mut Vec<u8>, length: usize) {
    if length <= usize::from(tag::SHORT_MAX) {
        out.push(tag::SHORT_TEXT + length as u8);
    } else {
        tagged_varint(out, tag::TEXT, length as u64);
    }
}

/// A tag, the payload's length and the payload.
pub(crate) fn prefixed(out: &mut Vec<u8>, tag: u8, payload: &[u8]) {
    tagged_varint(out, tag, payload.len() as u64);
    out.extend_from_slice(payload);
}

/// Text or bytes of which only `kept` go into the record.
pub(super) fn cut(out: &mut Vec<u8>, tag: u8, full_length: usize, kept: &[u8]) {
    tagged_varint(out, tag, full_length as u64);
    varint(out, kept.len() as u64);
    out.extend_from_slice(kept);
}

/// Turns the bytes from `start` on, written before their length was known, into a text.
pub(super) fn wrap_text(out: &mut Vec<u8>, start: usize) {
    let length = out.len() - start;
    text_header(out, length);
    out[start..].rotate_left(length);
}

/// Turns the bytes from `start` on, written before their length was known, into the payload of `tag`.
pub(super) fn wrap_prefixed(out: &mut Vec<u8>, start: usize, tag: u8) {
    let length = out.len() - start;
    tagged_varint(out, tag, length as u64);
    out[start..].rotate_left(length);
}

#[inline]
fn tagged_varint(out: &mut Vec<u8>, tag: u8, number: u64) {
    match number {
        0..0x80 => out.extend_from_slice(&[tag, number as u8]),
        0x80..0x4000 => out.extend_from_slice(&[tag, number as u8 | 0x80, (number >> 7) as u8]),
        _ => tagged_long_varint(out, tag, number),
    }
}

#[inline(never)]
fn tagged_long_varint(out: &mut Vec<u8>, tag: u8, number: u64) {
    out.push(tag);
    varint(out, number);
}

/// A text that is short, but not too short for this, by pieces of eight bytes that overlap: a copy of any length costs a
/// call.
#[inline]
pub(super) fn short_text(out: &mut Vec<u8>, text: &[u8]) -> bool {
    let length = text.len();
    let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) else { return false };
    if length > SHORT_BYTES_MAX {
        return false;
    }
    out.push(tag::SHORT_TEXT + length as u8);
    let end = out.len() + length;
    out.extend_from_slice(first);
    if let Some(middle) = text.get(8..16).filter(|_| length > 16) {
        out.extend_from_slice(middle);
    }
    out.truncate(end - 8);
    out.extend_from_slice(last);
    true
}

/// The longest text that [`short_text`] takes.
const SHORT_BYTES_MAX: usize = 23;
const _: () = assert!(SHORT_BYTES_MAX <= tag::SHORT_MAX as usize);

/// Turns the bytes from `start` on into the preview of a `Debug` text that was cut.
pub(super) fn wrap_debug_cut(out: &mut Vec<u8>, start: usize, type_name: &str, items: Option<usize>) {
    let length = out.len() - start;
    tagged_varint(out, tag::DEBUG_CUT_OF, total(items));
    varint(out, type_name.len() as u64);
    out.extend_from_slice(type_name.as_bytes());
    varint(out, length as u64);
    out[start..].rotate_left(length);
}

/// A number of items as the form has it: one more, or 0 where it is not known.
pub(super) fn total(items: Option<usize>) -> u64 {
    items.map_or(0, |items| (items as u64).saturating_add(1))
}

/// A file without tag and length: its path and what was found there.
pub(crate) fn file_payload(path: &[u8], state: FileState) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + 64);
    varint(&mut out, path.len() as u64);
    out.extend_from_slice(path);
    out.push(state.code());
    if let FileState::Found { bytes, modified_ns, sha256 } = state {
        varint(&mut out, bytes);
        varint(&mut out, ((modified_ns << 1) ^ (modified_ns >> 63)) as u64);
        out.extend_from_slice(sha256.as_ref().map_or(&[], |sha256| &sha256[..]));
    }
    out
}

/// The end of a container that was cut.
pub(super) fn cut_end(out: &mut Vec<u8>, items: Option<usize>, type_name: &str) {
    if type_name.is_empty() {
        return tagged_varint(out, tag::CUT_END, total(items));
    }
    tagged_varint(out, tag::CUT_END_OF, total(items));
    varint(out, type_name.len() as u64);
    out.extend_from_slice(type_name.as_bytes());
}
