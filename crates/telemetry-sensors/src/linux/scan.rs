//! Words, numbers and lines of kernel texts, without allocation. Whatever the text is, nothing panics.

use memchr::memchr;

/// The lines of a text.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
}

/// The lines of `text`, without their ends.
pub(crate) fn lines(text: &[u8]) -> Lines<'_> {
    Lines { rest: text }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(line)
    }
}

/// The words of a line.
pub(crate) struct Words<'a> {
    rest: &'a [u8],
}

/// The words of `line`, between blanks.
pub(crate) fn words(line: &[u8]) -> Words<'_> {
    Words { rest: line }
}

impl Words<'_> {
    /// The next word as a number; none at the end, and none if it does not begin with a digit.
    pub(crate) fn number(&mut self) -> Option<u64> {
        self.skip_blanks();
        let (number, len) = leading_number(self.rest)?;
        self.rest = &self.rest[len..];
        Some(number)
    }

    /// Passes over `count` words.
    pub(crate) fn skip_words(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let len = self.rest.iter().take_while(|byte| !matches!(byte, b' ' | b'\t' | b'\n')).count();
        let (word, rest) = self.rest.split_at(len);
        self.rest = rest;
        (len > 0).then_some(word)
    }
}

/// The number that `bytes` begin with, and its length.
fn leading_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    let mut len = 0;
    while let Some(digit) = bytes.get(len).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        len += 1;
    }
    (len > 0).then_some((number, len))
}

/// The number that follows `key` at the start of `line`, after blanks.
pub(crate) fn number_after(line: &[u8], key: &[u8]) -> Option<u64> {
    words(line.strip_prefix(key)?).number()
}

/// The first word of `text` as a number.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    words(text).number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_and_without_an_end() {
        let found: Vec<_> = lines(b"a\n\nb").collect();
        assert_eq!(found, [b"a".as_slice(), b"", b"b"]);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn words_and_numbers() {
        let mut some = words(b"  cpu\t12 18446744073709551615 -1");
        assert_eq!(some.next(), Some(b"cpu".as_slice()));
        assert_eq!((some.number(), some.number(), some.number()), (Some(12), Some(u64::MAX), None));
        assert_eq!(some.next(), Some(b"-1".as_slice()));
        assert_eq!((some.next(), some.number()), (None, None));
    }

    #[test]
    fn numbers_after_a_key() {
        assert_eq!(number_after(b"pswpin 7", b"pswpin "), Some(7));
        assert_eq!(number_after(b"pswpout 7", b"pswpin "), None);
    }
}
