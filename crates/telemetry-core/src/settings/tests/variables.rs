//! Variables with names of their own.

use std::path::Path;

use super::lookup_with;
use crate::settings::Settings;

#[test]
fn each_variable_changes_its_key() {
    let lookup = lookup_with(&[
        ("TELEMETRY_ENABLE", "No"),
        ("TELEMETRY_DIR", "out"),
        ("TELEMETRY_BUFFER_SIZE", "5000"),
        ("TELEMETRY_RUN_INTERVAL", "7"),
    ]);
    let loaded = Settings::load_from(&lookup).unwrap();
    let settings = loaded.settings;
    assert!(!settings.instrumentation.enabled);
    assert_eq!(settings.store.path, Path::new("/nowhere/at/all/out/provenance.db"));
    assert_eq!((settings.journal.lane_bytes, settings.journal.drain_interval_ms), (1 << 21, 7));
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.overrides.len(), 4);
    for (events, bytes) in [("1", 4096), ("16", 4096), ("17", 8192), ("4096", 1 << 20), ("4194304", 1 << 30)]
    {
        let loaded = Settings::load_from(&lookup_with(&[("TELEMETRY_BUFFER_SIZE", events)])).unwrap();
        assert_eq!(loaded.settings.journal.lane_bytes, bytes, "{events}");
    }
}

#[test]
fn what_names_the_key_itself_wins() {
    let lookup = lookup_with(&[
        ("TELEMETRY_ENABLE", "0"),
        ("TELEMETRY_INSTRUMENTATION__ENABLED", "true"),
        ("TELEMETRY_DIR", "/out"),
        ("TELEMETRY_STORE__PATH", "/other.db"),
    ]);
    let settings = Settings::load_from(&lookup).unwrap().settings;
    assert!(settings.instrumentation.enabled);
    assert_eq!(settings.store.path, Path::new("/other.db"));
}

#[test]
fn a_wrong_value_is_a_warning_and_has_no_effect() {
    let defaults = Settings::load_from(&lookup_with(&[])).unwrap().settings;
    for (name, value, wanted) in [
        ("TELEMETRY_ENABLE", "maybe", "1 or 0, true or false, yes or no, on or off"),
        ("TELEMETRY_DIR", "", "a folder"),
        ("TELEMETRY_BUFFER_SIZE", "0", "a number of events, 1 to 4194304"),
        ("TELEMETRY_BUFFER_SIZE", "4194305", "a number of events, 1 to 4194304"),
        ("TELEMETRY_BUFFER_SIZE", "99999999999999999999", "a number of events, 1 to 4194304"),
        ("TELEMETRY_RUN_INTERVAL", "-1", "a number of milliseconds, 1 to 86400000"),
    ] {
        let loaded = Settings::load_from(&lookup_with(&[(name, value)])).unwrap();
        assert_eq!(loaded.settings, defaults, "{name}");
        assert_eq!(
            loaded.warnings,
            [format!("{name} is {value:?}, which is not {wanted}; it has no effect")]
        );
    }
}
