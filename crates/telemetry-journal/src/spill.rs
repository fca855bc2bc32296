//! Spill files: records that are longer than a lane takes, each in a file that a frame names.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::batch::{Frame, to_words};
use crate::checksum::checksum;
use crate::failpoint;
use crate::lane::Outgoing;
use crate::limit::check_length;

/// The longest record that is spilled; a longer one is dropped.
const SPILL_BYTES_MAX: usize = 1 << 30;

/// What a frame says about a spill file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spill {
    pub(crate) number: u64,
    pub(crate) kind: u8,
    words: u64,
    checksum: u32,
}

impl Spill {
    /// Writes a record to its file. A fault of ours is an error like others: the record is counted as offered by now, and
    /// must be counted as dropped, too.
    pub(crate) fn write(journal: &Path, number: u64, record: Outgoing<'_>) -> io::Result<Self> {
        let written = catch_unwind(AssertUnwindSafe(|| Self::write_file(journal, number, record)));
        written.unwrap_or_else(|fault| {
            // To drop it might panic again.
            std::mem::forget(fault);
            Err(io::Error::other("a fault of ours"))
        })
    }

    fn write_file(journal: &Path, number: u64, record: Outgoing<'_>) -> io::Result<Self> {
        failpoint::reach();
        let words: Vec<u64> = record.words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        if words.len() * 8 > SPILL_BYTES_MAX {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        check_length(words.len() as u64 * 8)?;
        let path = path(journal, number);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let written = options.open(&path).and_then(|mut file| file.write_all(record.words.as_flattened()));
        if let Err(error) = written {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        let checksum = checksum(number, words.len(), |index| words[index]);
        Ok(Self { number, kind: record.kind, words: words.len() as u64, checksum })
    }

    pub(crate) fn words(self) -> [u64; 3] {
        [self.number, u64::from(self.kind) | u64::from(self.checksum) << 32, self.words]
    }

    pub(crate) fn from_frame(frame: &Frame<'_>) -> Option<Self> {
        let &[number, packed, words] = frame.words else { return None };
        Some(Self { number, kind: packed as u8, words, checksum: (packed >> 32) as u32 })
    }

    /// Reads the record back; none where the file is missing or not what the frame says.
    pub(crate) fn read(self, journal: &Path) -> Option<Vec<u64>> {
        let path = path(journal, self.number);
        let length = usize::try_from(self.words).ok()?.checked_mul(8)?;
        if length > SPILL_BYTES_MAX || fs::metadata(&path).ok()?.len() != length as u64 {
            return None;
        }
        let bytes = fs::read(&path).ok()?;
        let words: Vec<u64> = to_words(&[], &bytes).collect();
        let whole = checksum(self.number, words.len(), |index| words[index]) == self.checksum;
        whole.then_some(words)
    }
}

/// Removes the file once its record is committed.
pub(crate) fn remove(journal: &Path, number: u64) {
    let _ = fs::remove_file(path(journal, number));
}

fn path(journal: &Path, number: u64) -> PathBuf {
    journal.with_extension(format!("spill-{number}"))
}
