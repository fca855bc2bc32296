//! Where the database and the journals are.

use std::path::{Path, PathBuf};

use telemetry_core::settings::{Origin, Settings};

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
            if path.is_dir() {
                let message = format!("{} is a folder", path.display());
                return Err(Failure::Usage {
                    message,
                    hint: "--database names a file, as .telemetry/provenance.db",
                });
            }
            return Ok(Self::beside(path.clone(), "not looked for: --database names the file".to_owned()));
        }
        let loaded = Settings::load()?;
        let database = loaded.settings.store.path;
        let journals = loaded.settings.journal.dir.unwrap_or_else(|| beside(&database));
        let mut origin = loaded.origin.to_string();
        if is_passed_over(&loaded.origin) {
            origin.push_str("; settings.yaml is passed over: it has none of our sections");
        }
        Ok(Self { database, journals, is_named: false, origin })
    }

    /// A database with the journals beside it.
    pub(crate) fn beside(database: PathBuf, origin: String) -> Self {
        let journals = beside(&database);
        Self { database, journals, is_named: true, origin }
    }
}

/// Whether a file of this folder that seems to have settings is somebody else's: none of its sections is ours.
pub(crate) fn is_passed_over(origin: &Origin) -> bool {
    *origin == Origin::BuiltIn && Path::new("settings.yaml").is_file()
}

fn beside(database: &Path) -> PathBuf {
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).join("journal")
}
