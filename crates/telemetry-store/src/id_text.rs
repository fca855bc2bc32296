//! The canonical text of an id, without an allocation.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

const DIGITS: &[u8; 16] = b"0123456789abcdef";
/// Where the bytes of an id begin in its text.
const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/// The 36 characters of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdText([u8; 36]);

impl IdText {
    pub(crate) fn new(bits: u128) -> Self {
        let mut text = [b'-'; 36];
        for (byte, place) in bits.to_be_bytes().into_iter().zip(PLACES) {
            text[place] = DIGITS[usize::from(byte >> 4)];
            text[place + 1] = DIGITS[usize::from(byte & 15)];
        }
        Self(text)
    }

    /// As a text of JSON.
    pub(crate) fn quoted(&self) -> String {
        format!("\"{}\"", String::from_utf8_lossy(&self.0))
    }
}

impl ToSql for IdText {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry_core::id::TaskId;

    #[test]
    fn is_what_the_id_displays() {
        let bits = 0x0199_0a2b_3c4d_7e5f_8a9b_0123_4567_89ab;
        assert_eq!(IdText::new(bits).0, TaskId::from_u128(bits).to_string().as_bytes());
    }
}
