//! Keys set by the environment.

use std::ffi::OsString;

use serde_json::{Value, json};

use super::lookup_with;
use crate::settings::{Settings, schema};

/// Every key, with a value for it that is not the default.
const EVERY: &[(&str, &str, &str)] = &[
    ("telemetry_capture.gpu", "[used, clocks]", r#"["used", "clocks"]"#),
    ("telemetry_capture.cpu", "false", "false"),
    ("telemetry_capture.per_cpu", "false", "false"),
    ("telemetry_capture.process_info", "false", "false"),
    ("telemetry_capture.mem", "false", "false"),
    ("telemetry_capture.disk", "false", "false"),
    ("telemetry_capture.network", "false", "false"),
    ("telemetry_capture.machine_info", "false", "false"),
    ("telemetry_capture.max_age_ms", "0", "0"),
    ("telemetry_capture.slow_age_ms", "5", "5"),
    ("telemetry_capture.sample_every_ms", "250", "250"),
    ("instrumentation.enabled", "false", "false"),
    ("instrumentation.model.what", "~", "null"),
    ("instrumentation.model.children_mode", "telemetry", "\"telemetry\""),
    ("instrumentation.model.epoch_loop", "default", "\"default\""),
    ("instrumentation.model.batch_loop", "", "null"),
    ("instrumentation.model.capture_epochs_at_every", "3", "3"),
    ("instrumentation.model.register_workflow", "false", "false"),
    ("capture.default_level", "off", "\"off\""),
    (
        "capture.rules",
        "[{activity: 'a::*', level: data, sample: 1}]",
        r#"[{"activity": "a::*", "level": "data", "sample": 1.0, "per_second": null, "value_bytes_max": null,
             "record_bytes_max": null, "depth_max": null, "items_max": null}]"#,
    ),
    ("capture.value_bytes_max", "0", "0"),
    ("capture.record_bytes_max", "1024", "1024"),
    ("capture.depth_max", "1", "1"),
    ("capture.items_max", "9", "9"),
    ("capture.reload", "true", "true"),
    ("capture.sampling.keep_errors", "false", "false"),
    ("capture.events", "[tx_*]", r#"["tx_*"]"#),
    ("capture.critical_tags", "{high_mem: 2.5, low_output: 10}", r#"{"high_mem": 2.5, "low_output": 10.0}"#),
    ("redaction.enabled", "false", "false"),
    ("redaction.names", "[pin]", r#"["pin"]"#),
    ("redaction.patterns", "['sk-*']", r#"["sk-*"]"#),
    ("redaction.allow", "[token_count]", r#"["token_count"]"#),
    ("redaction.email", "true", "true"),
    ("redaction.environment_allow", "[]", "[]"),
    ("journal.lane_bytes", "4096", "4096"),
    ("journal.lanes_max", "1", "1"),
    ("journal.on_full", "degrade", "\"degrade\""),
    ("journal.wait_ms_max", "0", "0"),
    ("journal.drain", "external", "\"external\""),
    ("journal.drain_interval_ms", "1", "1"),
    ("journal.dir", "/lanes", "\"/lanes\""),
    ("journal.name", "agent", "\"agent\""),
    ("store.path", "/p.db", "\"/p.db\""),
    ("store.durability", "power", "\"power\""),
    ("store.retention", "30d", "\"30d\""),
    ("session.enabled", "true", "true"),
    ("session.output_dir", "/sessions", "\"/sessions\""),
    ("session.session_name", "first", "\"first\""),
    ("experiment.user", "ada", "\"ada\""),
    ("experiment.campaign", "'2024'", "\"2024\""),
];

#[test]
fn every_key_can_be_overridden() {
    let named: Vec<&str> = EVERY.iter().map(|(key, ..)| *key).collect();
    assert_eq!(named, schema::keys());
    let defaults = Settings::load_from(&lookup_with(&[])).unwrap().settings.to_json();
    for (key, value, expected) in EVERY {
        let variable = format!("TELEMETRY_{}", key.replace('.', "__").to_uppercase());
        let loaded = Settings::load_from(&lookup_with(&[(&variable, value)])).unwrap();
        let mut settings = defaults.clone();
        let pointer = format!("/{}", key.replace('.', "/"));
        *settings.pointer_mut(&pointer).unwrap() = serde_json::from_str(expected).unwrap();
        assert_ne!(settings, defaults, "{key}");
        assert_eq!(loaded.settings.to_json(), settings, "{key}");
        assert_eq!(loaded.overrides, [((*key).to_owned(), variable)]);
    }
}

#[test]
fn variables_of_others_are_left_alone() {
    let names = ["TELEMETRY_ENABLED", "TELEMETRY_", "TELEMETRY", "CAPTURE__DEFAULT_LEVEL", "telemetry_x__y"];
    let variables: Vec<(&str, &str)> = names.iter().map(|name| (*name, "[")).collect();
    assert_eq!(Settings::load_from(&lookup_with(&variables)).unwrap().overrides, []);
}

#[test]
fn a_group_of_keys_can_be_given_as_one() {
    let lookup = lookup_with(&[
        ("TELEMETRY_CAPTURE__SAMPLING", "{keep_errors: false}"),
        ("TELEMETRY_INSTRUMENTATION__TORCH__WHAT", "parent_only"),
    ]);
    let loaded = Settings::load_from(&lookup).unwrap();
    let json = loaded.settings.to_json();
    assert_eq!(json.pointer("/capture/sampling/keep_errors"), Some(&Value::Bool(false)));
    assert_eq!(json.pointer("/instrumentation/model/what"), Some(&json!("parent_only")));
    assert_eq!(
        loaded.overrides,
        [
            ("capture.sampling".into(), "TELEMETRY_CAPTURE__SAMPLING".into()),
            ("instrumentation.model.what".into(), "TELEMETRY_INSTRUMENTATION__TORCH__WHAT".into()),
        ]
    );
}

fn check_error(variables: &[(&str, &str)], expected: &str) {
    let message = Settings::load_from(&lookup_with(variables)).unwrap_err().to_string();
    assert_eq!(message.trim(), expected.trim(), "\n--- found ---\n{message}\n-------------");
}

#[test]
fn mistakes_name_the_variable() {
    check_error(
        &[
            ("TELEMETRY_CAPTUR__DEFAULT_LEVEL", "full"),
            ("TELEMETRY_CAPTURE__CRITICAL_TAGS__LOSS", "1"),
            ("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "ful"),
            ("TELEMETRY_CAPTURE__MAX_AGE_MS", "5"),
            ("TELEMETRY_CAPTURE__RULES", "[{activty: x}]"),
            ("TELEMETRY_JOURNAL__DRAIN", "[thread"),
            ("TELEMETRY_NOTHING__LIKE_IT", "1"),
            ("TELEMETRY_TELEMETRY_CAPTURE__CPU", "no"),
        ],
        "
TELEMETRY_CAPTURE__CRITICAL_TAGS__LOSS: unknown key `capture.critical_tags.loss`
      | TELEMETRY_CAPTURE__CRITICAL_TAGS__LOSS=1
hint: `TELEMETRY_CAPTURE__CRITICAL_TAGS` takes the whole value, as YAML

TELEMETRY_CAPTURE__DEFAULT_LEVEL: `capture.default_level` must be one of off, lightweight, data, telemetry, full, not `ful`
      | TELEMETRY_CAPTURE__DEFAULT_LEVEL=ful
hint: did you mean `full`?

TELEMETRY_CAPTURE__MAX_AGE_MS: unknown key `capture.max_age_ms`
      | TELEMETRY_CAPTURE__MAX_AGE_MS=5
hint: did you mean `TELEMETRY_TELEMETRY_CAPTURE__MAX_AGE_MS`?

TELEMETRY_CAPTURE__RULES: `capture.rules[0].activity` is missing
      | TELEMETRY_CAPTURE__RULES=[{activty: x}]

TELEMETRY_CAPTURE__RULES: unknown key `capture.rules[0].activty`
      | TELEMETRY_CAPTURE__RULES=[{activty: x}]
hint: did you mean `capture.rules[0].activity`?

TELEMETRY_CAPTUR__DEFAULT_LEVEL: unknown key `captur.default_level`
      | TELEMETRY_CAPTUR__DEFAULT_LEVEL=full
hint: did you mean `TELEMETRY_CAPTURE__DEFAULT_LEVEL`?

TELEMETRY_JOURNAL__DRAIN: not valid YAML: did not find expected ',' or ']' at line 2 column 1, while parsing a flow sequence
      | TELEMETRY_JOURNAL__DRAIN=[thread

TELEMETRY_NOTHING__LIKE_IT: unknown key `nothing.like_it`
      | TELEMETRY_NOTHING__LIKE_IT=1

TELEMETRY_TELEMETRY_CAPTURE__CPU: `telemetry_capture.cpu` must be true or false, not `no`
      | TELEMETRY_TELEMETRY_CAPTURE__CPU=no
hint: write `false`",
    );
}

#[test]
fn one_key_twice_is_an_error() {
    check_error(
        &[
            ("TELEMETRY_CAPTURE__SAMPLING", "{keep_errors: false}"),
            ("TELEMETRY_CAPTURE__SAMPLING__KEEP_ERRORS", "true"),
            ("TELEMETRY_INSTRUMENTATION__MODEL__WHAT", "~"),
            ("TELEMETRY_INSTRUMENTATION__TORCH__WHAT", "~"),
        ],
        "
TELEMETRY_CAPTURE__SAMPLING__KEEP_ERRORS: duplicate key `capture.sampling.keep_errors`
      | TELEMETRY_CAPTURE__SAMPLING__KEEP_ERRORS=true
hint: it is given before, in TELEMETRY_CAPTURE__SAMPLING

TELEMETRY_INSTRUMENTATION__TORCH__WHAT: `instrumentation.torch` and `instrumentation.model` are the same key
      | TELEMETRY_INSTRUMENTATION__TORCH__WHAT=~
hint: keep one of them",
    );
}

#[cfg(unix)]
#[test]
fn a_value_that_is_not_text_is_an_error() {
    use std::os::unix::ffi::OsStringExt;

    let mut lookup = lookup_with(&[]);
    lookup.variables.insert("TELEMETRY_STORE__PATH".into(), OsString::from_vec(b"/\xff".to_vec()));
    let message = Settings::load_from(&lookup).unwrap_err().to_string();
    assert!(message.contains("the value for `store.path` is not UTF-8 text"), "{message}");
}
