//! JSON strings: escapes what JSON or a terminal would take for something else, and nothing more.

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends a string with its quotes.
pub(super) fn write_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    write_text(out, text);
    out.push(b'"');
}

/// Appends the inside of a string; bytes that are not UTF-8 become replacement characters.
pub(super) fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    // Most texts are short and plain: one look, without leaving it early, is the fastest.
    let is_plain = text.iter().fold(true, |all, byte| all & IS_PLAIN[usize::from(*byte)]);
    if is_plain {
        return out.extend_from_slice(text);
    }
    if std::str::from_utf8(text).is_ok() {
        return write_valid(out, text);
    }
    for chunk in text.utf8_chunks() {
        write_valid(out, chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
}

fn write_valid(out: &mut Vec<u8>, mut text: &[u8]) {
    while let Some(position) = text.iter().position(|&byte| NEEDS_ESCAPE[usize::from(byte)]) {
        out.extend_from_slice(&text[..position]);
        write_escape(out, text[position]);
        text = &text[position + 1..];
    }
    out.extend_from_slice(text);
}

const NEEDS_ESCAPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table[0x7F] = true;
    table
};

/// ASCII that stands for itself.
const IS_PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7F {
        table[byte] = !NEEDS_ESCAPE[byte];
        byte += 1;
    }
    table
};

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => {
            out.extend_from_slice(b"\\u00");
            write_hex_byte(out, byte);
        }
    }
}

/// Appends a string of hexadecimal digits with its quotes.
pub(super) fn write_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    for &byte in bytes {
        write_hex_byte(out, byte);
    }
    out.push(b'"');
}

fn write_hex_byte(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[HEX_DIGITS[usize::from(byte >> 4)], HEX_DIGITS[usize::from(byte & 0x0F)]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &[u8]) -> String {
        let mut out = Vec::new();
        write_quoted(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_only_what_must_be() {
        assert_eq!(
            quoted("aé\"\\\n\u{1}\u{7f}/\u{1F600}".as_bytes()),
            "\"aé\\\"\\\\\\n\\u0001\\u007f/\u{1F600}\""
        );
    }

    #[test]
    fn replaces_what_is_not_utf8() {
        assert_eq!(quoted(b"a\xFF\xFEb"), "\"a\u{FFFD}\u{FFFD}b\"");
    }

    #[test]
    fn writes_hex_in_lower_case() {
        let mut out = Vec::new();
        write_hex(&mut out, &[0, 0xAB, 0xFF]);
        assert_eq!(out, b"\"00abff\"");
    }
}
