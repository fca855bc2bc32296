//! Names and values within a text: `name=value`, `name: value`, `"name": "value"`, `--name value`, `<name>value<`.

/// The longest name that is looked for before a sign.
const NAME_BYTES_MAX: usize = 80;

/// The most quotes, backslashes and spaces between a name and its sign.
const BETWEEN_BYTES_MAX: usize = 32;

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b'[' | b']')
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// The name before the sign at `at`, quotes and spaces passed over; empty where there is none.
pub(super) fn name_before(text: &[u8], at: usize) -> &[u8] {
    let end = name_end(text, at);
    &text[name_start(text, end)..end]
}

/// The name before the sign with the word before it: `API key: …`.
pub(super) fn two_words_before(text: &[u8], at: usize) -> &[u8] {
    let end = name_end(text, at);
    let last = name_start(text, end);
    if last == 0 || last == end || text[last - 1] != b' ' {
        return b"";
    }
    let first = name_start(text, last - 1);
    if first == last - 1 { b"" } else { &text[first..end] }
}

fn name_end(text: &[u8], at: usize) -> usize {
    let before = &text[at.saturating_sub(BETWEEN_BYTES_MAX)..at];
    let is_between = |byte: &&u8| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\' | b'?');
    at - before.iter().rev().take_while(is_between).count()
}

fn name_start(text: &[u8], end: usize) -> usize {
    let before = &text[end.saturating_sub(NAME_BYTES_MAX)..end];
    end - before.iter().rev().take_while(|byte| is_name(**byte)).count()
}

/// The name of an option, `--name`, whose last word ends at `at`; empty where there is none.
pub(super) fn option_before(text: &[u8], at: usize) -> &[u8] {
    let start = name_start(text, at);
    if text[start..at].starts_with(b"--") { &text[start + 2..at] } else { b"" }
}

/// The name in the quotes that end before the comma at `at`, and whether it is one of a pair or an option: `("name",`
/// or `"--name",`.
pub(super) fn quoted_before(text: &[u8], at: usize) -> &[u8] {
    let Some(close) = at.checked_sub(1).filter(|close| is_quote(text[*close])) else { return b"" };
    let close = if close > 0 && text[close - 1] == b'\\' { close - 1 } else { close };
    let start = name_start(text, close);
    let name = &text[start..close];
    if name.starts_with(b"-") {
        return name;
    }
    let before = text[..start].iter().rev().find(|byte| !is_quote(**byte) && **byte != b'\\');
    if matches!(before, Some(b'(' | b'[')) { name } else { b"" }
}

/// From where to where the value goes that follows a sign; `text[from]` is the first byte after the sign.
pub(super) fn value_after(text: &[u8], from: usize, reach: Reach) -> (usize, usize) {
    let start = from + count_while(&text[from..], |byte| matches!(byte, b' ' | b'\t' | b'=' | b'>'));
    let rest = &text[start..];
    match rest.first() {
        None => (start, start),
        Some(byte) if is_quote(*byte) => in_quotes(text, start),
        Some(b'\\') => after_backslashes(text, start, reach),
        Some(b'[' | b'{' | b'(') => (start, start + bracketed(rest)),
        _ => (start, start + bare(rest, reach)),
    }
}

/// How far a value without quotes goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// One word.
    Word,
    /// The line: what follows `Authorization:` has several words.
    Line,
}

fn in_quotes(text: &[u8], start: usize) -> (usize, usize) {
    let quote = text[start];
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            byte if byte == quote => return (start + 1, at),
            _ => {}
        }
        at += 1;
    }
    (start + 1, text.len())
}

/// JSON within a text within quotes, maybe several times: both quotes have backslashes, and a quote within the value
/// has more of them.
fn after_backslashes(text: &[u8], start: usize, reach: Reach) -> (usize, usize) {
    let slashes = count_while(&text[start..], |byte| byte == b'\\');
    let from = start + slashes + 1;
    let Some(quote) = text.get(from - 1).copied().filter(|byte| is_quote(*byte)) else {
        return (start, start + bare(&text[start..], reach));
    };
    let mut before = 0;
    for (at, byte) in text.iter().enumerate().skip(from) {
        if *byte == quote && before <= slashes {
            return (from, at - before);
        }
        before = if *byte == b'\\' { before + 1 } else { 0 };
    }
    (from, text.len())
}

/// How long what begins with a bracket is, to the one that closes it; texts in quotes are passed over.
fn bracketed(text: &[u8]) -> usize {
    let mut open = 0usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => {
                open -= 1;
                if open == 0 {
                    return at + 1;
                }
            }
            b'"' => at = in_quotes(text, at).1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn bare(text: &[u8], reach: Reach) -> usize {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\n' | b'\r' | b'"' | b'<' => break,
            // `Some("…")`, `b"…"` and the like: the name of a type, then what is in it.
            b'(' | b'[' | b'{' if at > 0 && text[at - 1] != b' ' => return at + bracketed(&text[at..]),
            b' ' if text.get(at + 1) == Some(&b'{') && is_type(&text[..at]) => {
                return at + 1 + bracketed(&text[at + 1..]);
            }
            b' ' | b'\t' | b',' | b';' | b'&' | b'\'' | b'`' | b')' | b']' | b'}' | b'|' | b'#'
                if reach == Reach::Word =>
            {
                break;
            }
            _ => {}
        }
        at += 1;
    }
    match text.get(at) {
        Some(b'"') if matches!(&text[..at], b"b" | b"r" | b"c" | b"br") => in_quotes(text, at).1 + 1,
        _ => at,
    }
    .min(text.len())
}

fn is_type(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_uppercase) && text.iter().all(|byte| is_name(*byte))
}

fn count_while(text: &[u8], is_kind: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_kind(**byte)).count()
}

/// What is in the brackets that open at `at`.
pub(super) fn in_brackets(text: &[u8], at: usize) -> (usize, usize) {
    let end = at + bracketed(&text[at..]);
    let closes = matches!(text[end - 1], b')' | b'}' | b']') && end - 1 > at;
    (at + 1, if closes { end - 1 } else { end })
}
