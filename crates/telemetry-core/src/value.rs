//! Values: the compact self-describing binary form in which a record carries what a task used and
//! generated.
//!
//! A value is a tag byte and what the tag says. The form is part of the journal's format: a tag is
//! never given another meaning.
//!
//! | tag | value | payload |
//! |---|---|---|
//! | `0x00` | end of a sequence, a map, or a record's items | – |
//! | `0x01` | null | – |
//! | `0x02` / `0x03` | false / true | – |
//! | `0x04` | integer within `i64` | zigzag varint |
//! | `0x05` | integer above `i64::MAX` within `u64` | varint |
//! | `0x06` / `0x07` | `i128` / `u128` beyond those | 16 bytes, little endian |
//! | `0x08` / `0x09` | `f32` / `f64` | 4 / 8 bytes, little endian |
//! | `0x0A` | text | varint length, UTF-8 |
//! | `0x0B` | bytes | varint length, bytes |
//! | `0x0C` | sequence | values, then `0x00` or `0x0E` |
//! | `0x0D` | map | key, value, key, value …, then `0x00` or `0x0E` |
//! | `0x0E` | end of a sequence or map that was cut | varint: total items + 1, or 0 if unknown |
//! | `0x0F` / `0x10` | text / bytes that were cut | varint: full length, varint: kept length, kept bytes |
//! | `0x11` | whole `Debug` text | varint length, UTF-8 |
//! | `0x12` | text of `Debug` or `Display` that was cut, its full length unknown | varint length, UTF-8 |
//! | `0x13` | only the type's name | varint length, UTF-8 |
//! | `0x14` | the value's own `Serialize` or `Debug` failed | varint length, UTF-8 message |
//! | `0x15` | path | varint length, the path's bytes |
//! | `0x16` | something nested deeper than the depth limit | – |
//! | `0x17` | redacted | varint length, UTF-8: the kind of secret |
//! | `0x18` | left out: the record's bytes were used up | – |
//! | `0x19` | end of a sequence or map that was cut, with its type | varint: total items + 1, or 0 if unknown, varint length, UTF-8 |
//! | `0x1A` | `Debug` text that was cut, with its type | varint: items + 1, or 0 if unknown, varint length, type in UTF-8, varint length, text in UTF-8 |
//! | `0x1B` | file | varint length of all that follows; varint length, the path's bytes; then what was found there: see [`FileState`] |
//! | `0x40..=0x7F` | integer 0 to 63 | – |
//! | `0x80..=0xBF` | text of 0 to 63 bytes | UTF-8 |

mod encoded;
mod file;
mod fingerprint;
mod json;
#[cfg(test)]
pub(crate) mod testing;

pub use encoded::Encoded;
pub(crate) use encoded::read_varint;
pub(crate) use file::EncodedFile;
pub use file::FileState;
pub use fingerprint::{Evidence, Fingerprint};
pub(crate) use json::{float_json, quoted_json};

pub(crate) mod tag {
    //! The tag bytes of the table above.
    pub(crate) const END: u8 = 0x00;
    pub(crate) const NULL: u8 = 0x01;
    pub(crate) const FALSE: u8 = 0x02;
    pub(crate) const TRUE: u8 = 0x03;
    pub(crate) const INT: u8 = 0x04;
    pub(crate) const UINT: u8 = 0x05;
    pub(crate) const INT128: u8 = 0x06;
    pub(crate) const UINT128: u8 = 0x07;
    pub(crate) const F32: u8 = 0x08;
    pub(crate) const F64: u8 = 0x09;
    pub(crate) const TEXT: u8 = 0x0A;
    pub(crate) const BYTES: u8 = 0x0B;
    pub(crate) const SEQUENCE: u8 = 0x0C;
    pub(crate) const MAP: u8 = 0x0D;
    pub(crate) const CUT_END: u8 = 0x0E;
    pub(crate) const TEXT_CUT: u8 = 0x0F;
    pub(crate) const BYTES_CUT: u8 = 0x10;
    pub(crate) const DEBUG: u8 = 0x11;
    pub(crate) const DEBUG_CUT: u8 = 0x12;
    pub(crate) const TYPE_NAME: u8 = 0x13;
    pub(crate) const FAILED: u8 = 0x14;
    pub(crate) const PATH: u8 = 0x15;
    pub(crate) const TOO_DEEP: u8 = 0x16;
    pub(crate) const REDACTED: u8 = 0x17;
    pub(crate) const LEFT_OUT: u8 = 0x18;
    pub(crate) const CUT_END_OF: u8 = 0x19;
    pub(crate) const DEBUG_CUT_OF: u8 = 0x1A;
    pub(crate) const FILE: u8 = 0x1B;
    pub(crate) const SMALL_INT: u8 = 0x40;
    pub(crate) const SHORT_TEXT: u8 = 0x80;
    /// The largest integer and the longest text that fit their tag byte.
    pub(crate) const SHORT_MAX: u8 = 63;
}
