//! What can go wrong with a journal file.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with a journal file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system said no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else under a journal's name.
    #[error("{path} is not a journal, or its header is damaged", path = path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// Shorter than its directory says.
    #[error("{path} is truncated: it names a block that ends behind the end of the file", path = path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// Written by a newer version of this crate.
    #[error("{path} is a journal of version {found}; this program reads version {known}", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that this program reads.
        known: u64,
    },
    /// The process that writes it is alive, or another one is recovering it.
    #[error("{path} is in use by process {pid}", path = path.display())]
    InUse {
        /// The file.
        path: PathBuf,
        /// The process that made it.
        pid: u32,
    },
    /// Another host made it; only that host can tell whether its owner lives.
    #[error("{path} belongs to another host", path = path.display())]
    OtherHost {
        /// The file.
        path: PathBuf,
    },
}

impl JournalError {
    /// Whether there was no room: a full disk, a quota, or a limit on the length of files.
    pub fn is_no_room(&self) -> bool {
        let kinds = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
        matches!(self, Self::Io { source, .. } if kinds.contains(&source.kind()))
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}
