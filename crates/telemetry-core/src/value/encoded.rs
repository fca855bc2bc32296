//! Reading values back; treats the bytes as hostile.

use super::tag;

/// The bytes of exactly one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded<'a> {
    bytes: &'a [u8],
}

impl<'a> Encoded<'a> {
    /// Takes one value off the front of `bytes`; none where they do not begin with a whole value.
    #[inline]
    pub fn read(bytes: &mut &'a [u8]) -> Option<Self> {
        let whole = *bytes;
        match *whole.first()? {
            // Most values, without the general way.
            tag::SMALL_INT..=0x7F => *bytes = &whole[1..],
            first @ tag::SHORT_TEXT..=0xBF => {
                *bytes = whole.get(1 + usize::from(first - tag::SHORT_TEXT)..)?;
            }
            tag::F64 => *bytes = whole.get(9..)?,
            _ => skip(bytes)?,
        }
        Some(Self { bytes: &whole[..whole.len() - bytes.len()] })
    }

    /// The value's bytes.
    pub const fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The text, if the value is a whole text.
    pub fn as_str(self) -> Option<&'a str> {
        let (&first, mut rest) = self.bytes.split_first()?;
        let text = match first {
            tag::TEXT => take_prefixed(&mut rest)?,
            tag::SHORT_TEXT..=0xBF => rest,
            _ => return None,
        };
        std::str::from_utf8(text).ok()
    }

    /// Whether the value is a map.
    pub fn is_map(self) -> bool {
        self.bytes.first() == Some(&tag::MAP)
    }
}

/// Reads an unsigned number of at most ten bytes, seven bits each, lowest first.
pub(crate) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

pub(super) fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

pub(super) fn take_prefixed<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(read_varint(bytes)?).ok()?;
    take(bytes, length)
}

/// Passes over one value without recursion, so that nesting cannot exhaust the stack.
pub(super) fn skip(bytes: &mut &[u8]) -> Option<()> {
    let mut open = 0usize;
    loop {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        match first {
            tag::SEQUENCE | tag::MAP => open += 1,
            tag::END => open = open.checked_sub(1)?,
            tag::CUT_END | tag::CUT_END_OF => {
                read_cut_end(first, bytes)?;
                open = open.checked_sub(1)?;
            }
            scalar => skip_scalar(scalar, bytes)?,
        }
        if open == 0 {
            return Some(());
        }
    }
}

/// What follows the tag at the end of a container that was cut: its items, if known, and its type.
pub(super) fn read_cut_end<'a>(first: u8, bytes: &mut &'a [u8]) -> Option<(Option<u64>, &'a [u8])> {
    let total = read_varint(bytes)?.checked_sub(1);
    let type_name = if first == tag::CUT_END_OF { take_prefixed(bytes)? } else { &[] };
    Some((total, type_name))
}

pub(super) fn skip_scalar(first: u8, bytes: &mut &[u8]) -> Option<()> {
    match first {
        tag::NULL | tag::FALSE | tag::TRUE | tag::TOO_DEEP | tag::LEFT_OUT | tag::SMALL_INT..=0x7F => {}
        tag::INT | tag::UINT => {
            read_varint(bytes)?;
        }
        tag::F32 => {
            take(bytes, 4)?;
        }
        tag::F64 => {
            take(bytes, 8)?;
        }
        tag::INT128 | tag::UINT128 => {
            take(bytes, 16)?;
        }
        tag::TEXT_CUT | tag::BYTES_CUT => {
            read_varint(bytes)?;
            take_prefixed(bytes)?;
        }
        tag::TEXT | tag::BYTES | tag::DEBUG..=tag::PATH | tag::REDACTED | tag::FILE => {
            take_prefixed(bytes)?;
        }
        tag::DEBUG_CUT_OF => {
            read_varint(bytes)?;
            take_prefixed(bytes)?;
            take_prefixed(bytes)?;
        }
        tag::SHORT_TEXT..=0xBF => {
            take(bytes, usize::from(first - tag::SHORT_TEXT))?;
        }
        _ => return None,
    }
    Some(())
}
