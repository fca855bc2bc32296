//! Where settings are looked for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::environment;
use super::error::SettingsError;
use super::node::{self, Kind, TEXT_BYTES_MAX};
use super::schema::SECTIONS;

const FILE_NAME: &str = "settings.yaml";
const CONFIG_SUBDIR: &str = "telemetry";

/// The surroundings in which settings are looked for.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    /// The environment.
    pub variables: BTreeMap<String, OsString>,
    /// The folder in which the search begins, and in which relative paths do.
    pub working_dir: PathBuf,
    /// The user's config folder, which may hold `telemetry/settings.yaml`.
    pub config_dir: Option<PathBuf>,
}

/// A settings file as it was read.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl Lookup {
    /// The surroundings of this process.
    pub fn from_process() -> Self {
        Self {
            variables: environment::all(),
            working_dir: environment::working_dir(),
            config_dir: environment::config_dir(),
        }
    }

    /// The first file that counts.
    pub(super) fn find(&self) -> Result<Option<Found>, SettingsError> {
        if let Some(path) = self.variables.get(environment::SETTINGS).filter(|path| !path.is_empty()) {
            return read(&self.working_dir.join(path)).map(Some);
        }
        for dir in self.working_dir.ancestors() {
            if let Some(found) = read_existing(&dir.join(FILE_NAME))?
                && found.is_ours()
            {
                return Ok(Some(found));
            }
        }
        match &self.config_dir {
            Some(dir) => read_existing(&dir.join(CONFIG_SUBDIR).join(FILE_NAME)),
            None => Ok(None),
        }
    }
}

impl Found {
    /// Whether a file that merely has the right name was meant for us, however broken it is.
    fn is_ours(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes);
        match node::parse(&text).map(|node| node.kind) {
            Ok(Kind::Map(entries)) => entries.iter().any(|entry| SECTIONS.contains(&entry.key.as_str())),
            Ok(_) => false,
            Err(_) => text.lines().any(begins_section),
        }
    }
}

fn begins_section(line: &str) -> bool {
    let line = line.trim_start_matches(['\u{feff}', '"', '\'', '{']);
    let after_name = SECTIONS.iter().find_map(|name| line.strip_prefix(name));
    after_name.is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ', '\t']).starts_with(':'))
}

/// Reads a file if there is one; what is no plain file, or cannot be looked at, is none.
fn read_existing(path: &Path) -> Result<Option<Found>, SettingsError> {
    if path.metadata().is_ok_and(|metadata| metadata.is_file()) { read(path).map(Some) } else { Ok(None) }
}

/// Reads a file that must be there.
pub(super) fn read(path: &Path) -> Result<Found, SettingsError> {
    let unreadable = |source| SettingsError::Unreadable { path: path.into(), source };
    let bytes = read_bounded(path).map_err(unreadable)?;
    Ok(Found { path: path.into(), bytes })
}

/// Reads one byte more than is allowed at most, so that a file that is too large shows.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
