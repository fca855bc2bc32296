//! What can go wrong with session files.

use std::path::{Path, PathBuf};

use telemetry_store::StoreError;

/// Why a session file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A file or folder could not be written.
    #[error("{}: cannot write the session file", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The database refused something.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SessionError {
    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
