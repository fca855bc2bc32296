//! Files as values: where one lies, and what was found there when it was recorded.
//!
//! After the path come a byte that says what was found, and for a file its size (varint), when it was
//! changed (zigzag varint, unix nanoseconds) and its SHA-256 (32 bytes, or none where it was not read).

use super::encoded::{read_varint, take, take_prefixed};

/// What was found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// Nothing.
    Missing,
    /// A folder, or something else that has no content of its own.
    NoFile,
    /// Something that could not be looked at.
    Unreadable,
    /// A file.
    Found {
        /// Its length.
        bytes: u64,
        /// When it was changed last, in unix nanoseconds.
        modified_ns: i64,
        /// The SHA-256 of its content; none where it was not read.
        sha256: Option<[u8; 32]>,
    },
}

impl FileState {
    const MISSING: u8 = 0;
    const NO_FILE: u8 = 1;
    const UNREADABLE: u8 = 2;
    const FOUND: u8 = 3;

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Missing => Self::MISSING,
            Self::NoFile => Self::NO_FILE,
            Self::Unreadable => Self::UNREADABLE,
            Self::Found { .. } => Self::FOUND,
        }
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        match take(&mut bytes, 1)?[0] {
            Self::MISSING => Some(Self::Missing),
            Self::NO_FILE => Some(Self::NoFile),
            Self::UNREADABLE => Some(Self::Unreadable),
            Self::FOUND => {
                let length = read_varint(&mut bytes)?;
                let zigzag = read_varint(&mut bytes)?;
                let modified_ns = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                Some(Self::Found { bytes: length, modified_ns, sha256: bytes.try_into().ok() })
            }
            _ => None,
        }
    }
}

/// A file as it stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EncodedFile<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) state: FileState,
}

impl<'a> EncodedFile<'a> {
    /// Reads what follows the tag and the length.
    pub(crate) fn read(mut payload: &'a [u8]) -> Option<Self> {
        let path = take_prefixed(&mut payload)?;
        Some(Self { path, state: FileState::read(payload)? })
    }
}
