//! A copy of the database as it is at one moment, while programs write.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::Connection;
use rusqlite::limits::Limit;

use super::{Reader, connect};
use crate::error::StoreError;
use crate::{file, schema};

impl Reader {
    /// Copies everything that is committed into a new file, readable by its owner only, without holding up writers.
    /// The copy is complete and on disk when it gets its name; a file of that name is replaced.
    ///
    /// ```
    /// # use telemetry_store::{Reader, Store};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("provenance.db");
    /// # let _store = Store::open(&path, Default::default())?;
    /// let copy = folder.path().join("copy.db");
    /// Reader::open(&path)?.copy_to(&copy)?;
    /// assert!(Reader::open(&copy).is_ok());
    /// # Ok(()) }
    /// ```
    pub fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        let target = std::path::absolute(target).map_err(|source| file::file_error(target, source))?;
        let partial = Partial(file::with_suffix(&target, &format!(".partial-{}", std::process::id())));
        file::prepare(&partial.0)?;
        let name = partial.0.to_str().ok_or_else(|| {
            file::file_error(&target, io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8"))
        })?;
        let copy = |connection: &Connection| {
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
            connection.execute("vacuum into ?1", (name,))
        };
        copy(&connect(&self.path)?)
            .map_err(|source| schema::failed(&self.path, "copying the database", source))?;
        let finish = || {
            fs::File::open(&partial.0)?.sync_all()?;
            fs::rename(&partial.0, &target)?;
            fs::File::open(target.parent().unwrap_or(Path::new("/")))?.sync_all()
        };
        finish().map_err(|source| file::file_error(&target, source))
    }
}

/// A file that goes unless it got another name.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
