//! The canonical text of an id, without an allocation.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// The 36 characters of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdText([u8; 36]);

impl IdText {
    pub(crate) fn new(bits: u128) -> Self {
        let mut digits = [0; 32];
        for (place, shift) in [96, 64, 32, 0].into_iter().enumerate() {
            digits[place * 8..][..8].copy_from_slice(&hexadecimal((bits >> shift) as u32));
        }
        let mut text = [b'-'; 36];
        for (from, to, length) in [(0, 0, 8), (8, 9, 4), (12, 14, 4), (16, 19, 4), (20, 24, 12)] {
            text[to..to + length].copy_from_slice(&digits[from..from + length]);
        }
        Self(text)
    }

    /// As a text of JSON.
    pub(crate) fn quoted(&self) -> String {
        format!("\"{}\"", String::from_utf8_lossy(&self.0))
    }
}

/// Eight digits, all at once: a table would be asked for each, and this runs for every row.
fn hexadecimal(number: u32) -> [u8; 8] {
    let mut nibbles = u64::from(number);
    nibbles = (nibbles << 16 | nibbles) & 0x0000_FFFF_0000_FFFF;
    nibbles = (nibbles << 8 | nibbles) & 0x00FF_00FF_00FF_00FF;
    nibbles = (nibbles << 4 | nibbles) & 0x0F0F_0F0F_0F0F_0F0F;
    let is_letter = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    let to_letter = u64::from(b'a' - b'0' - 10);
    (nibbles + 0x3030_3030_3030_3030 + is_letter * to_letter).to_be_bytes()
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
        for turn in (0..128).step_by(4) {
            let bits: u128 = u128::rotate_left(bits, turn);
            assert_eq!(IdText::new(bits).0, TaskId::from_u128(bits).to_string().as_bytes());
        }
    }
}
