//! Settings as a whole.

mod defaults;
mod errors;
mod flowcept;
mod hostile;
mod lookup;
mod overrides;
mod variables;

use std::path::Path;

use super::{Loaded, Lookup, Settings, SettingsError};

/// Reads text as the file `settings.yaml`.
fn read(text: &str) -> Result<Loaded, SettingsError> {
    Settings::from_yaml(text, Path::new("settings.yaml"))
}

/// Compares the whole message about a file with what is expected.
fn check_error(text: &str, expected: &str) {
    let message = read(text).expect_err(text).to_string();
    assert_eq!(message.trim(), expected.trim(), "\n--- found ---\n{message}\n-------------");
}

/// Surroundings with these variables and nothing else.
fn lookup_with(variables: &[(&str, &str)]) -> Lookup {
    Lookup {
        variables: variables.iter().map(|(name, value)| ((*name).into(), value.into())).collect(),
        working_dir: "/nowhere/at/all".into(),
        config_dir: None,
    }
}
