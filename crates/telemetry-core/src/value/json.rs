//! Values as JSON text: what the drain stores.
//!
//! Whatever JSON cannot say is an object whose keys begin with `$`; a key of the user that begins with
//! `$` gets one more in front, so that the two are never mistaken for each other.
//!
//! | value | JSON |
//! |---|---|
//! | integer beyond `i64` | `{"$int":"18446744073709551615"}` |
//! | NaN, infinities | `{"$float":"NaN"}`, `{"$float":"Infinity"}`, `{"$float":"-Infinity"}` |
//! | bytes | `{"$bytes":"00ff"}` |
//! | cut sequence | `[1,2,{"$cut":{"items":9}}]`; `null` for an unknown total; the outermost one has its `type` |
//! | cut map | `{"a":1,"$cut":{"items":9}}`; the outermost one has its `type` |
//! | cut text | `{"$cut":{"bytes":9000,"type":"text","preview":"abc"}}` |
//! | cut bytes | `{"$cut":{"bytes":9000,"type":"bytes","hex":"00ff"}}` |
//! | cut text of unknown length | `{"$cut":{"type":"text","preview":"abc"}}` |
//! | cut `Debug` text | `{"$cut":{"type":"app::Model","preview":"Model { x"}}`; that of a list has its `items` |
//! | name of a type, failure | `{"$type":"app::Model"}`, `{"$error":"panicked"}` |
//! | path that is not UTF-8 | `{"$path":"a\ufffd","$hex":"61ff"}` |
//! | file | `{"$file":{"path":"a.csv","bytes":9,"modified":1700000000.5,"sha256":"00ff…"}}`, `{"$file":{"path":"a.csv","state":"missing"}}` |
//! | too deep, left out | `{"$cut":"depth"}`, `{"$cut":"record"}` |
//! | redacted | `{"$redacted":"password"}` |
//!
//! A key that is no text is its own JSON text. Nesting ends at [`DEPTH_MAX`] whatever the bytes say:
//! common readers refuse deeper texts.

mod file;
mod text;

use super::encoded::{Encoded, read_cut_end, read_varint, skip, take, take_prefixed};
use super::tag;
use text::{write_hex, write_quoted, write_text};

/// `serde_json` reads 128 levels; what surrounds a value in a column or an export needs some of them.
const DEPTH_MAX: usize = 100;

/// Where in the text a value stands.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    /// Keys are quoted once more; a container as the key of a container inside a key is not, because the
    /// quotes would double with each level.
    in_key: bool,
}

impl Place {
    const fn inside(self) -> Self {
        Self { depth: self.depth + 1, in_key: self.in_key }
    }
}

impl Encoded<'_> {
    /// Appends the value as JSON text.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let place = Place { depth: 0, in_key: false };
        if write_value(&mut self.bytes(), out, place).is_none() {
            out.truncate(start);
            out.extend_from_slice(b"null");
        }
    }
}

/// A float as JSON.
pub(crate) fn float_json(number: f64) -> String {
    let mut json = Vec::new();
    write_float(&mut json, number, number);
    String::from_utf8_lossy(&json).into_owned()
}

/// A text as JSON.
pub(crate) fn quoted_json(text: &str) -> String {
    let mut json = Vec::new();
    write_quoted(&mut json, text.as_bytes());
    String::from_utf8_lossy(&json).into_owned()
}

fn write_value(bytes: &mut &[u8], out: &mut Vec<u8>, place: Place) -> Option<()> {
    match *bytes.first()? {
        tag::SEQUENCE | tag::MAP if place.depth >= DEPTH_MAX => {
            skip(bytes)?;
            write_too_deep(out);
            Some(())
        }
        tag::SEQUENCE => write_sequence(bytes, out, place.inside()),
        tag::MAP => write_map(bytes, out, place.inside()),
        _ => write_scalar(bytes, out),
    }
}

fn write_too_deep(out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"$cut":"depth"}"#);
}

fn write_sequence(bytes: &mut &[u8], out: &mut Vec<u8>, place: Place) -> Option<()> {
    take(bytes, 1)?;
    out.push(b'[');
    let mut separator = Separator::new();
    loop {
        match read_end(bytes)? {
            End::Not => {}
            End::Whole => break,
            End::Cut(total, type_name) => {
                separator.write(out);
                out.push(b'{');
                write_cut_items(out, total, type_name);
                out.push(b'}');
                break;
            }
        }
        separator.write(out);
        write_value(bytes, out, place)?;
    }
    out.push(b']');
    Some(())
}

fn write_map(bytes: &mut &[u8], out: &mut Vec<u8>, place: Place) -> Option<()> {
    take(bytes, 1)?;
    out.push(b'{');
    let mut separator = Separator::new();
    loop {
        match read_end(bytes)? {
            End::Not => {}
            End::Whole => break,
            End::Cut(total, type_name) => {
                separator.write(out);
                write_cut_items(out, total, type_name);
                break;
            }
        }
        separator.write(out);
        write_key(bytes, out, place)?;
        out.push(b':');
        if matches!(*bytes.first()?, tag::END | tag::CUT_END | tag::CUT_END_OF) {
            out.extend_from_slice(b"null");
        } else {
            write_value(bytes, out, place)?;
        }
    }
    out.push(b'}');
    Some(())
}

/// What stands where an item or the end of its container is expected.
enum End<'a> {
    Not,
    Whole,
    Cut(Option<u64>, &'a [u8]),
}

fn read_end<'a>(bytes: &mut &'a [u8]) -> Option<End<'a>> {
    match *bytes.first()? {
        tag::END => take(bytes, 1).map(|_| End::Whole),
        first @ (tag::CUT_END | tag::CUT_END_OF) => {
            take(bytes, 1)?;
            read_cut_end(first, bytes).map(|(total, type_name)| End::Cut(total, type_name))
        }
        _ => Some(End::Not),
    }
}

fn write_cut_items(out: &mut Vec<u8>, total: Option<u64>, type_name: &[u8]) {
    out.extend_from_slice(br#""$cut":{"items":"#);
    match total {
        Some(total) => write_number(out, total),
        None => out.extend_from_slice(b"null"),
    }
    if !type_name.is_empty() {
        out.extend_from_slice(br#","type":"#);
        write_quoted(out, type_name);
    }
    out.push(b'}');
}

fn write_key(bytes: &mut &[u8], out: &mut Vec<u8>, place: Place) -> Option<()> {
    let first = *bytes.first()?;
    if let Some(text) = plain_text(bytes)? {
        out.push(b'"');
        if text.first() == Some(&b'$') {
            out.push(b'$');
        }
        write_text(out, text);
        out.push(b'"');
        return Some(());
    }
    let mut json = Vec::new();
    if place.in_key && matches!(first, tag::SEQUENCE | tag::MAP) {
        skip(bytes)?;
        write_too_deep(&mut json);
    } else {
        write_value(bytes, &mut json, Place { depth: place.depth, in_key: true })?;
    }
    write_quoted(out, &json);
    Some(())
}

/// Takes a value that is a plain JSON string off the front; the inner none is for other values.
#[expect(clippy::option_option, reason = "the outer one is for bytes that are no value")]
fn plain_text<'a>(bytes: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (&first, mut rest) = bytes.split_first()?;
    let text = match first {
        tag::SHORT_TEXT..=0xBF => take(&mut rest, usize::from(first - tag::SHORT_TEXT))?,
        tag::TEXT | tag::DEBUG => take_prefixed(&mut rest)?,
        tag::PATH => match take_prefixed(&mut rest)? {
            path if std::str::from_utf8(path).is_ok() => path,
            _ => return Some(None),
        },
        _ => return Some(None),
    };
    *bytes = rest;
    Some(Some(text))
}

fn write_scalar(bytes: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    if let Some(text) = plain_text(bytes)? {
        write_quoted(out, text);
        return Some(());
    }
    let first = take(bytes, 1)?[0];
    match first {
        tag::NULL => out.extend_from_slice(b"null"),
        tag::FALSE => out.extend_from_slice(b"false"),
        tag::TRUE => out.extend_from_slice(b"true"),
        tag::SMALL_INT..=0x7F => write_number(out, first - tag::SMALL_INT),
        tag::TOO_DEEP => write_too_deep(out),
        tag::LEFT_OUT => out.extend_from_slice(br#"{"$cut":"record"}"#),
        tag::INT | tag::UINT | tag::INT128 | tag::UINT128 => write_integer(first, bytes, out)?,
        tag::F32 => {
            let number = f32::from_le_bytes(take(bytes, 4)?.try_into().ok()?);
            write_float(out, number, number.into());
        }
        tag::F64 => {
            let number = f64::from_le_bytes(take(bytes, 8)?.try_into().ok()?);
            write_float(out, number, number);
        }
        tag::TEXT_CUT | tag::BYTES_CUT => write_cut(first, bytes, out)?,
        tag::DEBUG_CUT_OF => write_cut_debug(bytes, out)?,
        tag::FILE => file::write(out, take_prefixed(bytes)?)?,
        _ => write_marked(first, take_prefixed(bytes)?, out)?,
    }
    Some(())
}

fn write_integer(first: u8, bytes: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    match first {
        tag::INT => {
            let zigzag = read_varint(bytes)?;
            write_number(out, (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64));
        }
        tag::UINT => write_wide(out, read_varint(bytes)?),
        tag::INT128 => write_wide(out, i128::from_le_bytes(take(bytes, 16)?.try_into().ok()?)),
        _ => write_wide(out, u128::from_le_bytes(take(bytes, 16)?.try_into().ok()?)),
    }
    Some(())
}

fn write_wide(out: &mut Vec<u8>, number: impl serde::Serialize) {
    out.extend_from_slice(br#"{"$int":""#);
    write_number(out, number);
    out.extend_from_slice(br#""}"#);
}

fn write_float(out: &mut Vec<u8>, number: impl serde::Serialize, class: f64) {
    let word: &[u8] = match class {
        _ if class.is_finite() => return write_number(out, number),
        _ if class.is_nan() => br#"{"$float":"NaN"}"#,
        _ if class > 0.0 => br#"{"$float":"Infinity"}"#,
        _ => br#"{"$float":"-Infinity"}"#,
    };
    out.extend_from_slice(word);
}

/// Writes a finite number in its shortest form that reads back the same.
fn write_number(out: &mut Vec<u8>, number: impl serde::Serialize) {
    serde_json::to_writer(out, &number).expect("a number can always be written to memory");
}

fn write_cut(first: u8, bytes: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(br#"{"$cut":{"bytes":"#);
    write_number(out, read_varint(bytes)?);
    let kept = take_prefixed(bytes)?;
    if first == tag::TEXT_CUT {
        out.extend_from_slice(br#","type":"text","preview":"#);
        write_quoted(out, kept);
    } else {
        out.extend_from_slice(br#","type":"bytes","hex":"#);
        write_hex(out, kept);
    }
    out.extend_from_slice(b"}}");
    Some(())
}

fn write_cut_debug(bytes: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(br#"{"$cut":{"#);
    if let Some(items) = read_varint(bytes)?.checked_sub(1) {
        out.extend_from_slice(br#""items":"#);
        write_number(out, items);
        out.push(b',');
    }
    out.extend_from_slice(br#""type":"#);
    write_quoted(out, take_prefixed(bytes)?);
    out.extend_from_slice(br#","preview":"#);
    write_quoted(out, take_prefixed(bytes)?);
    out.extend_from_slice(b"}}");
    Some(())
}

fn write_marked(first: u8, payload: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (before, after): (&[u8], &[u8]) = match first {
        tag::BYTES => (br#"{"$bytes":"#, b"}"),
        tag::DEBUG_CUT => (br#"{"$cut":{"type":"text","preview":"#, b"}}"),
        tag::TYPE_NAME => (br#"{"$type":"#, b"}"),
        tag::FAILED => (br#"{"$error":"#, b"}"),
        tag::PATH => (br#"{"$path":"#, b"}"),
        tag::REDACTED => (br#"{"$redacted":"#, b"}"),
        _ => return None,
    };
    out.extend_from_slice(before);
    match first {
        tag::BYTES => write_hex(out, payload),
        _ => write_quoted(out, payload),
    }
    if first == tag::PATH {
        out.extend_from_slice(br#","$hex":"#);
        write_hex(out, payload);
    }
    out.extend_from_slice(after);
    Some(())
}

/// The comma before every item but the first.
struct Separator {
    first: bool,
}

impl Separator {
    const fn new() -> Self {
        Self { first: true }
    }

    fn write(&mut self, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.first) {
            out.push(b',');
        }
    }
}

#[cfg(test)]
mod tests;
