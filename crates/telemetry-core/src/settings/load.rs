//! From a file and the environment to settings.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::error::{Place, Problem, SettingsError};
use super::lookup::{Found, Lookup, read};
use super::node;
use super::report::Report;
use super::{DEFAULT_FILE, Settings, blank, environment, overrides, schema, variables};

/// Settings, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The settings; their paths are absolute.
    pub settings: Settings,
    /// The file that they come from.
    pub origin: Origin,
    /// Sections of that file that have no meaning here but are accepted.
    pub ignored: Vec<String>,
    /// The keys that the environment overrides, each with the name of the variable.
    pub overrides: Vec<(String, String)>,
    /// Where each key was given that is not left to the defaults.
    pub places: BTreeMap<String, Place>,
    /// Variables whose values are wrong and have no effect.
    pub warnings: Vec<String>,
}

/// Where settings come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// No file was found: the defaults that are compiled in.
    BuiltIn,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::BuiltIn => formatter.write_str("built-in defaults"),
        }
    }
}

/// What the compiled-in file says.
pub(super) fn defaults() -> Settings {
    let mut settings = blank::settings();
    let mut report = Report::new("settings.yaml".as_ref(), DEFAULT_FILE);
    read_text(DEFAULT_FILE, &mut settings, &mut report);
    report.finish().expect("a test reads the compiled-in settings");
    settings
}

/// Finds and reads the settings.
pub(super) fn load(lookup: &Lookup) -> Result<Loaded, SettingsError> {
    let found = lookup.find()?;
    let Some(Found { path, bytes }) = found else {
        return assemble(Origin::BuiltIn, "", lookup);
    };
    let text = decode(&path, &bytes)?;
    assemble(Origin::File(path), text, lookup)
}

/// Reads the settings in this file.
pub(super) fn load_file(path: &Path, lookup: &Lookup) -> Result<Loaded, SettingsError> {
    let Found { path, bytes } = read(&lookup.working_dir.join(path))?;
    let text = decode(&path, &bytes)?;
    assemble(Origin::File(path), text, lookup)
}

/// Reads settings from text, without the environment.
pub(super) fn from_yaml(text: &str, origin: &Path) -> Result<Loaded, SettingsError> {
    let lookup = Lookup { working_dir: environment::working_dir(), ..Lookup::default() };
    assemble(Origin::File(origin.into()), text, &lookup)
}

fn assemble(origin: Origin, text: &str, lookup: &Lookup) -> Result<Loaded, SettingsError> {
    let path = match &origin {
        Origin::File(path) => path.as_path(),
        Origin::BuiltIn => Path::new(""),
    };
    let mut report = Report::new(path, text);
    let mut settings = Settings::default();
    let ignored = read_text(text, &mut settings, &mut report);
    let said = variables::apply(&lookup.variables, &mut settings);
    let overrides = overrides::collect(&lookup.variables, &mut report);
    schema::read(Some(overrides.node), &mut settings, &mut report);
    let places = report.places();
    report.finish()?;
    resolve(&mut settings, &lookup.working_dir);
    let overrides = said.names.into_iter().chain(overrides.names).collect();
    Ok(Loaded { settings, origin, ignored, overrides, places, warnings: said.warnings })
}

fn read_text(text: &str, settings: &mut Settings, report: &mut Report<'_>) -> Vec<String> {
    match node::parse(text) {
        Ok(node) => schema::read(Some(node), settings, report),
        Err(refusal) => {
            report.add(&refusal.mark, refusal.message, None);
            Vec::new()
        }
    }
}

fn decode<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, SettingsError> {
    if bytes.len() > node::TEXT_BYTES_MAX {
        return Err(undecodable(path, None, node::too_large()));
    }
    str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        undecodable(path, Some(line), "not UTF-8 text".into())
    })
}

fn undecodable(path: &Path, line: Option<usize>, message: String) -> SettingsError {
    let place = Place::File { path: path.into(), line };
    SettingsError::Invalid {
        problems: vec![Problem { place, quote: None, message, hint: None }],
        left_out: 0,
    }
}

/// Makes the paths absolute.
pub(super) fn resolve(settings: &mut Settings, working_dir: &Path) {
    let absolute = |path: &mut PathBuf| *path = working_dir.join(&*path);
    absolute(&mut settings.store.path);
    absolute(&mut settings.session.output_dir);
    settings.journal.dir.as_mut().map(absolute);
}
