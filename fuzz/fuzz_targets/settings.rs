//! A settings file of any text is read or refused with words, and what is read can be written down.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use telemetry_core::settings::{Lookup, Settings};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    match Settings::from_yaml(text, Path::new("settings.yaml")) {
        Ok(loaded) => {
            assert!(loaded.settings.to_json().is_object());
            assert!(loaded.settings.capture.value_bytes_max > 0 || text.contains("value_bytes_max"));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // The same bytes as what the environment says.
    let variables = text.lines().filter_map(|line| {
        // But not which file is read.
        let (name, value) = line.split_once('=').filter(|(name, _)| *name != "SETTINGS")?;
        Some((format!("TELEMETRY_{name}").into(), value.into()))
    });
    let lookup = Lookup { variables: variables.collect(), working_dir: "/".into(), ..Lookup::default() };
    if let Err(error) = Settings::load_from(&lookup) {
        assert!(!error.to_string().is_empty());
    }
});
