//! Why recording could not start.

use std::io;

use telemetry_core::redaction::PatternError;
use telemetry_core::runtime::AlreadyRecording;
use telemetry_core::settings::SettingsError;
use telemetry_journal::JournalError;
#[cfg(feature = "sqlite")]
use telemetry_store::StoreError;

/// Why recording could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings are wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A pattern of the settings is wrong that was not read from a file.
    #[error("redaction.patterns: {0}")]
    Pattern(#[from] PatternError),
    /// The journal could not be made.
    #[error("cannot make the journal: {0}")]
    Journal(#[from] JournalError),
    /// The database could not be opened.
    #[cfg(feature = "sqlite")]
    #[error("cannot open the database: {0}")]
    Store(#[from] StoreError),
    /// This build cannot write a database.
    #[error(
        "this program is built without SQLite: set `journal.drain: external` and let another process write"
    )]
    NoSqlite,
    /// The thread that writes could not be started.
    #[error("cannot start the thread that writes: {0}")]
    Thread(#[source] io::Error),
    /// A fault of this library, which must not become the program's.
    #[error("telemetry has failed to start: {0}")]
    Fault(String),
    /// Something else records in this process.
    #[error(transparent)]
    AlreadyRecording(#[from] AlreadyRecording),
}
