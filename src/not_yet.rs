//! Settings that are understood and have no effect in this version: said once, never passed over.

use telemetry_core::settings::Settings;

/// The keys that were changed although nothing heeds them yet.
pub(crate) fn not_yet(settings: &Settings) -> Vec<&'static str> {
    let default = Settings::default();
    [("instrumentation.model", settings.instrumentation.model != default.instrumentation.model)]
        .into_iter()
        .filter_map(|(key, is_changed)| is_changed.then_some(key))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_promise_nothing_and_each_changed_key_is_named() {
        assert!(not_yet(&Settings::default()).is_empty());
        let text = "instrumentation: {model: {what: ~}}\nstore: {retention: 30d}";
        let settings = Settings::from_yaml(text, "x.yaml".as_ref()).unwrap().settings;
        assert_eq!(not_yet(&settings), ["instrumentation.model"]);
    }
}
