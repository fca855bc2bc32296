//! Settings: how much is captured, where it goes, and what happens when there is too much of it.
//!
//! The defaults are the commented file `settings.yaml` at the top of the project, compiled in. A user's
//! file need only contain what differs, and `TELEMETRY_<SECTION>__<KEY>` overrides a single key. Every
//! mistake is reported at once, each with its line; see [`SettingsError`].

mod blank;
mod choices;
pub mod environment;
mod error;
mod load;
mod lookup;
mod nearest;
mod node;
mod overrides;
mod report;
mod schema;
mod section;
mod sections;
#[cfg(test)]
mod tests;
mod values;
mod variables;
mod write;

use std::path::Path;
use std::sync::LazyLock;

use serde::Serialize;

pub use choices::{ChildrenMode, DrainMode, Durability, LoopMode, OnFull, What};
pub use error::{Place, Problem, SettingsError};
pub use load::{Loaded, Origin};
pub use lookup::Lookup;
pub use sections::{
    CRITICAL_TAGS, Capture, Experiment, GPU_METRICS, Instrumentation, Journal, Model, RULES_MAX, Redaction,
    Rule, Sampling, Session, Store, TelemetryCapture,
};

/// The commented default file.
pub const DEFAULT_FILE: &str = include_str!("../../../settings.yaml");

static DEFAULTS: LazyLock<Settings> = LazyLock::new(load::defaults);

/// Everything that a settings file can say, with nothing missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// What a snapshot contains and how often one is taken.
    pub telemetry_capture: TelemetryCapture,
    /// Whether anything is recorded, and how models are.
    pub instrumentation: Instrumentation,
    /// How much a task captures.
    pub capture: Capture,
    /// What must not be written down.
    pub redaction: Redaction,
    /// The shared memory that records pass through.
    pub journal: Journal,
    /// The database.
    pub store: Store,
    /// Files of an inference session.
    pub session: Session,
    /// Labels of this run.
    pub experiment: Experiment,
}

impl Settings {
    /// Finds the settings of this process: the file, then what the environment overrides.
    pub fn load() -> Result<Loaded, SettingsError> {
        Self::load_from(&Lookup::from_process())
    }

    /// Like [`Settings::load`], with the surroundings given instead of taken from the process.
    pub fn load_from(lookup: &Lookup) -> Result<Loaded, SettingsError> {
        load::load(lookup)
    }

    /// Like [`Settings::load_from`], with the file given instead of looked for.
    pub fn load_file(path: &Path, lookup: &Lookup) -> Result<Loaded, SettingsError> {
        load::load_file(path, lookup)
    }

    /// Reads settings from text; `origin` is the file that errors name.
    ///
    /// The environment overrides nothing here. Relative paths are made absolute from the working folder.
    ///
    /// ```
    /// use std::path::Path;
    /// use telemetry_core::level::Level;
    /// use telemetry_core::settings::Settings;
    ///
    /// let loaded = Settings::from_yaml("capture: {default_level: data}", Path::new("settings.yaml"))?;
    /// assert_eq!(loaded.settings.capture.default_level, Level::Data);
    ///
    /// let error = Settings::from_yaml("capture: {default_levl: data}", Path::new("settings.yaml")).unwrap_err();
    /// assert!(error.to_string().contains("did you mean `capture.default_level`?"));
    /// # Ok::<(), telemetry_core::settings::SettingsError>(())
    /// ```
    pub fn from_yaml(text: &str, origin: &Path) -> Result<Loaded, SettingsError> {
        load::from_yaml(text, origin)
    }

    /// Every key, in the order of the default file.
    pub fn keys() -> &'static [String] {
        schema::keys()
    }

    /// These settings as they are stored with each workflow.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("settings are text, numbers, lists and maps with text keys")
    }
}

impl Default for Settings {
    /// What the default file says; its relative paths are still relative.
    fn default() -> Self {
        DEFAULTS.clone()
    }
}
