//! Where the database and the journals are.

use std::path::{Path, PathBuf};

use telemetry_core::settings::Settings;

use crate::arguments::Global;
use crate::failure::Failure;

/// Where things are.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) database: PathBuf,
    pub(crate) journals: PathBuf,
    /// Whether the command line names the database.
    pub(crate) is_named: bool,
    /// Which settings say so.
    pub(crate) origin: String,
}

impl Place {
    /// As the command line says, or else the settings that programs started here would find.
    pub(crate) fn find(global: &Global) -> Result<Self, Failure> {
        if let Some(path) = &global.database {
            return Ok(Self::beside(path.clone(), "not looked for: --database names the file".to_owned()));
        }
        let loaded = Settings::load()?;
        let database = loaded.settings.store.path;
        let journals = loaded.settings.journal.dir.unwrap_or_else(|| beside(&database));
        Ok(Self { database, journals, is_named: false, origin: loaded.origin.to_string() })
    }

    /// A database with the journals beside it.
    pub(crate) fn beside(database: PathBuf, origin: String) -> Self {
        let journals = beside(&database);
        Self { database, journals, is_named: true, origin }
    }
}

fn beside(database: &Path) -> PathBuf {
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).join("journal")
}
