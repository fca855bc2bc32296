//! Takes a name apart into words, whatever its style: `DB_PASSWORD`, `x-api-key`, `userPassword`, `app.auth.token`.
//!
//! Limits: of a longer name the last [`BYTES_MAX`] bytes count, and of those the last [`WORDS_MAX`] words; what a name
//! is about stands at its end.

const BYTES_MAX: usize = 96;
const WORDS_MAX: usize = 12;

/// The words of a name, in lower case.
pub(super) struct Words {
    /// The words with `_` between them.
    normal: [u8; 2 * BYTES_MAX],
    length: usize,
    starts: [u8; WORDS_MAX],
    count: usize,
}

impl Words {
    pub(super) fn of(name: &[u8]) -> Self {
        let name = &name[name.len().saturating_sub(BYTES_MAX)..];
        let mut words = Self { normal: [0; 2 * BYTES_MAX], length: 0, starts: [0; WORDS_MAX], count: 0 };
        let mut before = Class::Other;
        for (index, byte) in name.iter().enumerate() {
            let class = Class::of(*byte);
            if class == Class::Other {
                before = Class::Other;
                continue;
            }
            let is_before_lower = name.get(index + 1).is_some_and(|next| Class::of(*next) == Class::Lower);
            if class.begins_word_after(before, is_before_lower) {
                words.begin();
            }
            words.normal[words.length] = byte.to_ascii_lowercase();
            words.length += 1;
            before = class;
        }
        words
    }

    fn begin(&mut self) {
        if self.length > 0 {
            self.normal[self.length] = b'_';
            self.length += 1;
        }
        if self.count == WORDS_MAX {
            self.starts.copy_within(1.., 0);
            self.count -= 1;
        }
        self.starts[self.count] = self.length as u8;
        self.count += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The word at this place; empty where there is none.
    pub(super) fn word(&self, index: usize) -> &[u8] {
        if index >= self.count {
            return b"";
        }
        let start = usize::from(self.starts[index]);
        let end = match self.starts[..self.count].get(index + 1) {
            Some(next) => usize::from(*next) - 1,
            None => self.length,
        };
        &self.normal[start..end]
    }

    pub(super) fn last(&self) -> &[u8] {
        self.word(self.count.wrapping_sub(1))
    }

    /// The whole name with `_` between its words.
    pub(super) fn normal(&self) -> &[u8] {
        &self.normal[..self.length]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

impl Class {
    const fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Lower,
            b'A'..=b'Z' => Self::Upper,
            b'0'..=b'9' => Self::Digit,
            _ => Self::Other,
        }
    }

    /// In `APIKey` a word begins at `K`, the last capital before small letters.
    fn begins_word_after(self, before: Self, is_before_lower: bool) -> bool {
        match (before, self) {
            (Self::Other, _) | (Self::Lower | Self::Digit, Self::Upper) => true,
            (Self::Upper, Self::Upper) => is_before_lower,
            (Self::Digit, digit) | (digit, Self::Digit) => digit != Self::Digit,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_is_taken_apart() {
        for (name, expected) in [
            ("DB_PASSWORD", "db_password"),
            ("x-api-key", "x_api_key"),
            ("userPassword", "user_password"),
            ("APIKey", "api_key"),
            ("HTTPAuthorization2", "http_authorization_2"),
            ("app.auth.token", "app_auth_token"),
            ("__token__", "token"),
            ("--db-password", "db_password"),
            ("password1", "password_1"),
            ("s3SecretKey", "s_3_secret_key"),
            ("", ""),
            ("ünicode", "nicode"),
        ] {
            let words = Words::of(name.as_bytes());
            assert_eq!(String::from_utf8_lossy(words.normal()), expected, "{name}");
            let joined: Vec<&[u8]> = (0..words.count()).map(|index| words.word(index)).collect();
            assert_eq!(joined.join(&b'_'), words.normal(), "{name}");
        }
    }

    #[test]
    fn the_end_of_a_long_name_counts() {
        let long = format!("{}_password", "aB".repeat(500));
        assert_eq!(Words::of(long.as_bytes()).last(), b"password");
        assert_eq!(Words::of(&[b'_'; 1000]).count(), 0);
    }
}
