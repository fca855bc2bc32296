//! What a database file says about itself, without the schema.

use std::path::Path;

use rusqlite::Connection;
use serde::Serialize;

use super::{connect, opening};
use crate::error::StoreError;
use crate::schema;

/// What a database file says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The version of its schema.
    pub schema_version: i32,
    /// How commits reach it: `wal` on local file systems.
    pub journal_mode: String,
    /// What a quick look at all pages found; nothing if the file is sound.
    pub problems: Vec<String>,
}

/// Looks at a database file, and changes nothing.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("provenance.db");
/// # let _store = telemetry_store::Store::open(&path, Default::default())?;
/// let inspection = telemetry_store::inspect(&path)?;
/// assert_eq!(inspection.schema_version, telemetry_store::SCHEMA_VERSION);
/// assert!(inspection.problems.is_empty());
/// # Ok(()) }
/// ```
pub fn inspect(path: &Path) -> Result<Inspection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    let connection = connect(path)?;
    read(&connection).map_err(|source| opening(path, source))
}

/// The version of the database library.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

fn read(connection: &Connection) -> rusqlite::Result<Inspection> {
    let mut check = connection.prepare("pragma quick_check")?;
    let lines = check.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    Ok(Inspection {
        schema_version: schema::version(connection)?,
        journal_mode: connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?,
        problems: lines.into_iter().filter(|line| line != "ok").collect(),
    })
}
