//! What can go wrong between a program and its database.

use std::path::PathBuf;

/// Why the store could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder could not be made, moved or looked at.
    #[error("{}: cannot be used as a store", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no such file.
    #[error("{}: no such file", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file has no schema yet: nobody has recorded into it.
    #[error("{}: nothing is recorded in it yet", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer version.
    #[error("{}: has schema version {found}, this program knows versions up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: i32,
        /// The version of this program.
        known: i32,
    },
    /// The file is a database of something else.
    #[error("{}: is not a telemetry store (application id {application_id:#x})", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the file says that it belongs to.
        application_id: i32,
    },
    /// The file is damaged, or no database at all.
    #[error("{}: is damaged or not a database", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database says.
        source: rusqlite::Error,
    },
    /// The database library can lose committed rows.
    #[error("SQLite {found} can lose committed rows; writing needs {needed} or newer")]
    OldSqlite {
        /// The version at run time.
        found: i32,
        /// The oldest that is good enough.
        needed: i32,
    },
    /// The program closed descriptors that are not its own. Whatever has their numbers now is not ours
    /// to write to, so nothing is written any more; records stay in the journal for a recovery.
    #[error("{}: its descriptors were closed by the program; nothing is written any more", path.display())]
    Closed {
        /// The file.
        path: PathBuf,
    },
    /// The database refused something.
    #[error("{}: {doing}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the database says.
        source: rusqlite::Error,
    },
    /// No workflow or task has this id or name.
    #[error("nothing is called {wanted:?}")]
    NotFound {
        /// What was asked for.
        wanted: String,
    },
    /// More than one id begins like this.
    #[error("{wanted:?} could be {}", found.join(" or "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The first ones that it could be.
        found: Vec<String>,
    },
    /// A query that reads only was asked for, and this is not one.
    #[error("only queries that read are allowed")]
    NotReadOnly {
        /// What the database says.
        source: rusqlite::Error,
    },
    /// A query took longer than it may.
    #[error("the query took longer than {limit_ms} ms")]
    TimedOut {
        /// The limit.
        limit_ms: u64,
    },
    /// A query is wrong.
    #[error("the query cannot be run")]
    Query {
        /// What the database says.
        source: rusqlite::Error,
    },
}

/// Whether the database says that the file itself is bad.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
    )
}

/// Whether another connection is in the way.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}
