//! Settings that are understood and have no effect in this version: said once, never passed over.

use telemetry_core::settings::{Rule, Settings};

/// The keys that were changed although nothing heeds them yet.
pub(crate) fn not_yet(settings: &Settings) -> Vec<&'static str> {
    let default = Settings::default();
    let is_limited = |rule: &Rule| {
        let limits = [rule.value_bytes_max, rule.record_bytes_max, rule.depth_max, rule.items_max];
        limits.iter().any(Option::is_some) || rule.sample.is_some() || rule.per_second.is_some()
    };
    [
        ("instrumentation.model", settings.instrumentation.model != default.instrumentation.model),
        ("capture.rules: sampling and limits", settings.capture.rules.iter().any(is_limited)),
        ("capture.reload", settings.capture.reload),
        ("capture.sampling", settings.capture.sampling != default.capture.sampling),
        ("capture.critical_tags", !settings.capture.critical_tags.is_empty()),
        ("redaction.names", !settings.redaction.names.is_empty()),
        ("redaction.patterns", !settings.redaction.patterns.is_empty()),
        ("redaction.allow", !settings.redaction.allow.is_empty()),
        ("store.retention", settings.store.retention.is_some()),
        ("session", settings.session.enabled),
    ]
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
        let text = "capture: {reload: true, rules: [{activity: '*', sample: 0.5}]}\nstore: {retention: 30d}";
        let settings = Settings::from_yaml(text, "x.yaml".as_ref()).unwrap().settings;
        assert_eq!(
            not_yet(&settings),
            ["capture.rules: sampling and limits", "capture.reload", "store.retention"]
        );
    }
}
