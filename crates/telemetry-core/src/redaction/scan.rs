//! Looks through a text once and finds what is secret in it.
//!
//! Letters and digits are passed over by a table; only where a run of them ends is anything looked at, and mostly that
//! is one comparison. A text without a secret allocates nothing.

use super::pairs::{self, Reach};
use super::tokens::{self, Found};
use super::{MARK, Redactor, Rule, cards, types};

/// A part of a text that is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

/// The shortest text with a secret in it: `pin=1`.
const SHORTEST: usize = 5;

/// Keys and tokens that give themselves away without any sign in them are at least so long.
const SHORTEST_WITHOUT_SIGN: usize = 20;

/// What a byte may be the end of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Letters and digits.
    Run,
    /// `_` and `-`, after the prefix of a key.
    Prefix,
    Equals,
    Colon,
    Space,
    Comma,
    /// Brackets after the name of a type.
    Bracket,
    /// The end of an XML tag.
    Tag,
    At,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => Class::Run,
            b'_' | b'-' => Class::Prefix,
            b'=' => Class::Equals,
            b':' => Class::Colon,
            b' ' => Class::Space,
            b',' => Class::Comma,
            b'(' | b'{' => Class::Bracket,
            b'>' => Class::Tag,
            b'@' => Class::At,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// What a short text must have for a secret to be in it, as bits: a sign, a digit, or all of the others.
const TRAITS: [u8; 256] = {
    let mut traits = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        traits[byte] = match CLASSES[byte] {
            Class::Run | Class::Space | Class::Other => of_basic(byte as u8),
            _ => SIGN,
        };
        byte += 1;
    }
    traits
};
const SIGN: u8 = 1;
const DIGIT: u8 = 2;
/// A space, and letters of `Basic`, behind which a password may stand that is not marked by anything else.
const BASIC: u8 = 0xF0;

const fn of_basic(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => DIGIT,
        b' ' => 0x10,
        b'a' | b'A' => 0x20,
        b'b' | b'B' => 0x40,
        b'c' | b'C' => 0x80,
        _ => 0,
    }
}

/// Whether a text is too short and too plain for a secret: most texts are names and words, and this is one look at
/// each byte without a branch.
#[inline]
fn is_harmless(text: &[u8]) -> bool {
    if text.len() >= SHORTEST_WITHOUT_SIGN {
        return false;
    }
    let traits = text.iter().fold(0, |traits, byte| traits | TRAITS[usize::from(*byte)]);
    text.len() < SHORTEST || (traits & (SIGN | DIGIT) == 0 && traits & BASIC != BASIC)
}

/// Whether a text is short and of letters and spaces alone, and so harmless: seen eight bytes at a time. Not every text
/// that is harmless is plain.
#[inline]
pub(super) fn is_plain(text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) else { return false };
    if text.len() >= SHORTEST_WITHOUT_SIGN {
        return false;
    }
    let mut look = Look::at(*first).and(Look::at(*last));
    if text.len() > 16
        && let Some(middle) = text[8..].first_chunk()
    {
        look = look.and(Look::at(*middle));
    }
    look.plain == HIGH_BITS && (look.spaces == 0 || look.cs == 0)
}

/// What eight bytes are: the high bit of a byte says it.
#[derive(Clone, Copy)]
struct Look {
    /// Letters and spaces, of all that were looked at.
    plain: u64,
    /// Spaces, of any.
    spaces: u64,
    /// The letter without which nothing is `Basic`, of any.
    cs: u64,
}

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

impl Look {
    #[inline]
    fn at(bytes: [u8; 8]) -> Self {
        let word = u64::from_ne_bytes(bytes);
        // Letters become small ones; no sum below goes beyond its byte, since the highest bits are taken off.
        let small = (word | all(0x20)) & !HIGH_BITS;
        let equal = |byte: u8| !((small ^ all(byte)) + all(0x7F));
        let letters = (small + all(0x80 - b'a')) & !(small + all(0x80 - b'z' - 1));
        let spaces = equal(b' ') & HIGH_BITS;
        Self { plain: (letters | spaces) & !word & HIGH_BITS, spaces, cs: equal(b'c') & HIGH_BITS }
    }

    #[inline]
    fn and(self, other: Self) -> Self {
        Self { plain: self.plain & other.plain, spaces: self.spaces | other.spaces, cs: self.cs | other.cs }
    }
}

/// Finds what is secret; sorted, and no two overlap.
#[inline]
pub(super) fn scan(redactor: &Redactor, text: &[u8]) -> Vec<Finding> {
    if is_harmless(text) { Vec::new() } else { scan_all(redactor, text) }
}

#[inline(never)]
fn scan_all(redactor: &Redactor, text: &[u8]) -> Vec<Finding> {
    let mut scan = Scan { redactor, text, findings: Vec::new(), no_web_token_before: 0 };
    scan.run();
    scan.findings
}

struct Scan<'a> {
    redactor: &'a Redactor,
    text: &'a [u8],
    findings: Vec<Finding>,
    /// Up to here there is no web token, and nobody need look again.
    no_web_token_before: usize,
}

impl Scan<'_> {
    fn run(&mut self) {
        let (mut start, mut at) = (0, 0);
        while let Some(byte) = self.text.get(at) {
            let class = CLASSES[usize::from(*byte)];
            if class == Class::Run {
                at += 1;
                continue;
            }
            let mut found = self.at_end_of_run(start, at);
            if found.is_none() && self.is_worth_a_look(class, start, at) {
                found = self.at_sign(class, start, at);
            }
            // What was found may end before the sign, as in `AKIA…:`.
            at = found.map_or(at + 1, |end| end.max(start + 1));
            start = at;
        }
        self.at_end_of_run(start, at);
    }

    /// Looks at a run of letters and digits; where the secret in it ends.
    #[inline]
    fn at_end_of_run(&mut self, start: usize, end: usize) -> Option<usize> {
        let length = end - start;
        if length < 4 {
            return None;
        }
        let first = self.text[start];
        if first.is_ascii_digit()
            && (length == 4 || length >= 13)
            && let Some(end) = cards::end_of(self.text, start)
        {
            return self.add((Rule::Card, start, end));
        }
        if first == b'e' && start >= self.no_web_token_before && self.text[start..end].starts_with(b"eyJ") {
            match tokens::web_token(self.text, start) {
                Ok(found) => return self.add(found),
                Err(end) => self.no_web_token_before = end,
            }
        }
        if length >= 20 || first == b'A' {
            return tokens::in_run(self.text, start, end).and_then(|found| self.add(found));
        }
        None
    }

    /// Whether a sign may have a secret around it; most spaces and commas have none, and cost one comparison.
    #[inline]
    fn is_worth_a_look(&self, class: Class, start: usize, at: usize) -> bool {
        let text = self.text;
        match class {
            Class::Run | Class::Other => false,
            Class::Equals | Class::Colon => true,
            Class::Prefix => matches!(at - start, 2..=6) || text[at..].starts_with(b"--"),
            Class::Space => {
                matches!(at - start, 5 | 6)
                    || (start > 0 && text[start - 1] == b'-')
                    || text.get(at + 1) == Some(&b'{')
            }
            Class::Comma => at > 0 && matches!(text[at - 1], b'"' | b'\'' | b'`'),
            Class::Bracket => at - start >= types::SHORTEST,
            Class::Tag => at > start,
            Class::At => self.redactor.has(Rule::EMail),
        }
    }

    /// Looks at the sign after a run; where the secret around it ends.
    #[inline(never)]
    fn at_sign(&mut self, class: Class, start: usize, at: usize) -> Option<usize> {
        let text = self.text;
        match class {
            Class::Prefix if text[at..].starts_with(b"-----") => self.find(tokens::private_key(text, at)),
            Class::Prefix if at - start >= 2 => self.find(tokens::after_prefix(text, start, at)),
            Class::Equals => {
                let azure = tokens::azure_key(text, at).or_else(|| tokens::azure_signature(text, start, at));
                self.find(azure).or_else(|| self.pair(at))
            }
            Class::Colon if text[at + 1..].starts_with(b"//") => self.find(tokens::in_address(text, at)),
            Class::Colon => self.pair_of_colon(at),
            Class::Space => self.after_word(start, at),
            Class::Comma => self.after_quotes(at),
            Class::Bracket if self.is_secret_type(start, at) => self.in_type(at),
            Class::Tag => self.after_tag(start, at),
            Class::At => self.find(tokens::e_mail(text, at)),
            _ => None,
        }
    }

    fn find(&mut self, found: Option<Found>) -> Option<usize> {
        found.and_then(|found| self.add(found))
    }

    fn add(&mut self, (rule, start, end): Found) -> Option<usize> {
        if self.redactor.has(rule) { self.add_kind(rule.as_str(), start, end) } else { None }
    }

    /// Adds a finding behind the others; none if it is empty or a marker.
    fn add_kind(&mut self, kind: &'static str, start: usize, end: usize) -> Option<usize> {
        let start = start.max(self.findings.last().map_or(0, |last| last.end));
        if start >= end || self.text[start..end].starts_with(MARK) {
            return None;
        }
        self.findings.push(Finding { start, end, kind });
        Some(end)
    }

    /// `::` is a path in code.
    fn pair_of_colon(&mut self, at: usize) -> Option<usize> {
        let is_path = self.text.get(at + 1) == Some(&b':') || (at > 0 && self.text[at - 1] == b':');
        if is_path { None } else { self.pair(at) }
    }

    /// `name=value` and `name: value`.
    fn pair(&mut self, at: usize) -> Option<usize> {
        let name = pairs::name_before(self.text, at);
        let kind = self.redactor.name_in_text(name).or_else(|| {
            let two = pairs::two_words_before(self.text, at);
            if two.is_empty() { None } else { self.redactor.name_in_text(two) }
        })?;
        let reach = if is_of_a_line(name, kind) { Reach::Line } else { Reach::Word };
        let (start, end) = pairs::value_after(self.text, at + 1, reach);
        self.add_kind(kind, start, end)
    }

    /// What follows `Bearer `, `--name ` or `Secret {`.
    fn after_word(&mut self, start: usize, at: usize) -> Option<usize> {
        let text = self.text;
        if matches!(at - start, 5 | 6)
            && let Some(end) = self.find(tokens::after_scheme(text, start, at))
        {
            return Some(end);
        }
        if text.get(at + 1) == Some(&b'{') && self.is_secret_type(start, at) {
            return self.in_type(at + 1);
        }
        let is_option = start > 0 && text[start - 1] == b'-' && at > start;
        let name = if is_option { pairs::option_before(text, at) } else { b"" };
        let kind = self.redactor.name_in_text(name)?;
        let (start, end) = pairs::value_after(text, at + 1, Reach::Word);
        // Another option: this one had no value.
        if text[start..end].starts_with(b"--") { None } else { self.add_kind(kind, start, end) }
    }

    /// `("name", "value")` and `"--name", "value"`.
    fn after_quotes(&mut self, at: usize) -> Option<usize> {
        let kind = self.redactor.name_in_text(pairs::quoted_before(self.text, at))?;
        let (start, end) = pairs::value_after(self.text, at + 1, Reach::Word);
        self.add_kind(kind, start, end)
    }

    fn is_secret_type(&self, start: usize, at: usize) -> bool {
        let length = at - start;
        length >= types::SHORTEST
            && self.redactor.has(Rule::Type)
            && matches!(self.text[start], b'S' | b'P' | b'Z' | b'R')
            && types::is_secret(str::from_utf8(&self.text[start..at]).unwrap_or(""), &self.redactor.names)
    }

    fn in_type(&mut self, at: usize) -> Option<usize> {
        let (start, end) = pairs::in_brackets(self.text, at);
        self.add_kind(Rule::Type.as_str(), start, end)
    }

    /// `<name>value</name>`.
    fn after_tag(&mut self, start: usize, at: usize) -> Option<usize> {
        let name = pairs::name_before(self.text, at);
        let open = at - name.len();
        if at == start || open == 0 || self.text[open - 1] != b'<' {
            return None;
        }
        let kind = self.redactor.name_in_text(name)?;
        let value = &self.text[at + 1..];
        let length = value.iter().position(|byte| *byte == b'<').unwrap_or(value.len());
        self.add_kind(kind, at + 1, at + 1 + length)
    }
}

/// Whether the value of such a name has several words.
fn is_of_a_line(name: &[u8], kind: &str) -> bool {
    let is_phrase = name.len() >= 6 && name[name.len() - 6..].eq_ignore_ascii_case(b"phrase");
    matches!(kind, "authorization" | "cookie" | "connection string") || is_phrase
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::redaction::tests::redactor;

    #[test]
    fn a_short_password_behind_basic_is_found() {
        let text = b"Basic dTpwYXNz";
        assert!(!is_harmless(text) && !scan_all(&redactor(), text).is_empty());
    }

    #[test]
    fn letters_and_spaces_are_plain_and_nothing_else_is() {
        for (length, at) in
            (8..SHORTEST_WITHOUT_SIGN).flat_map(|length| (0..length).map(move |at| (length, at)))
        {
            for byte in 0..=u8::MAX {
                let mut text = vec![b'x'; length];
                text[at] = byte;
                let is_expected = byte.is_ascii_alphabetic() || byte == b' ' || byte == 0;
                assert_eq!(is_plain(&text), is_expected, "{byte} at {at} of {length}");
            }
        }
        assert!(is_plain(b"sixteen bytes ok") && !is_plain(b"Basic dTpwYXNz") && !is_plain(b"basic words"));
        assert!(!is_plain(b"seven..") && !is_plain(&[b'x'; SHORTEST_WITHOUT_SIGN]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn what_is_plain_is_harmless(text in "[ abcisBASICxyz0-9=:@\\PC]{8,19}") {
            prop_assert!(!is_plain(text.as_bytes()) || is_harmless(text.as_bytes()), "{text}");
        }

        #[test]
        fn nothing_is_found_in_what_is_harmless(
            word in "|basic|Basic|bearer|AIza|eyJ|AKIA|sk|ghp|xoxb|pin|Secret|password|4111",
            sign in "[ ]?|[-_=:,({>@\"'./]",
            rest in "[a-f0-9.]{0,13}|[abcdefijsuwXZ 0-9_=:,.{(@/\"-]{0,19}",
        ) {
            let mut text = format!("{word}{sign}{rest}");
            text.truncate(SHORTEST_WITHOUT_SIGN - 1);
            let found = scan_all(&redactor(), text.as_bytes());
            prop_assert!(found.is_empty() || !is_harmless(text.as_bytes()), "{text}: {found:?}");
        }
    }
}
