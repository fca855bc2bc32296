//! Whole messages, as a person reads them.

use super::{check_error, read};

#[test]
fn an_unknown_key_is_quoted_and_the_nearest_one_suggested() {
    check_error(
        "# mine\ncapture:\n  default_levl: full\n",
        "
settings.yaml:3: unknown key `capture.default_levl`
    3 |   default_levl: full
hint: did you mean `capture.default_level`?",
    );
}

#[test]
fn an_unknown_section_is_too() {
    check_error(
        "captur: {default_level: full}\nstoree:\n  path: x\n",
        "
settings.yaml:1: unknown key `captur`
    1 | captur: {default_level: full}
hint: did you mean `capture`?

settings.yaml:2: unknown key `storee`
    2 | storee:
hint: did you mean `store`?",
    );
}

#[test]
fn a_key_in_the_wrong_section_is_found_in_the_right_one() {
    check_error(
        "capture:\n  max_age_ms: 5\ndefault_level: off\n",
        "
settings.yaml:2: unknown key `capture.max_age_ms`
    2 |   max_age_ms: 5
hint: did you mean `telemetry_capture.max_age_ms`?

settings.yaml:3: unknown key `default_level`
    3 | default_level: off
hint: did you mean `capture.default_level`?",
    );
}

#[test]
fn a_key_like_no_other_gets_the_list() {
    check_error(
        "store:\n  compression: zstd\n",
        "
settings.yaml:2: unknown key `store.compression`
    2 |   compression: zstd
hint: the keys of store are path, durability, retention",
    );
}

#[test]
fn all_mistakes_are_reported_at_once_in_the_order_of_their_lines() {
    check_error(
        "
store:
  durability: powr
telemetry_capture:
  cpu: yes
  mem: \"true\"
  max_age_ms: -1
  gpu: [used, tempereture, wattage]
capture:
  default_level: everything
  depth_max: 0
  value_bytes_max: 4096.5
  record_bytes_max: \"65536\"
journal:
  lane_bytes: 5000
  dir: 12
",
        "
settings.yaml:3: `store.durability` must be one of process, power, not `powr`
    3 |   durability: powr
hint: did you mean `power`?

settings.yaml:5: `telemetry_capture.cpu` must be true or false, not `yes`
    5 |   cpu: yes
hint: write `true`

settings.yaml:6: `telemetry_capture.mem` must be true or false, not `true`
    6 |   mem: \"true\"
hint: write `true`, without quotes

settings.yaml:7: `telemetry_capture.max_age_ms` must be a whole number from 0 to 86400000, not `-1`
    7 |   max_age_ms: -1

settings.yaml:8: `telemetry_capture.gpu[1]` must be one of used, temperature, power, name, id, activity, \
others, total, utilization, clocks, processes, not `tempereture`
    8 |   gpu: [used, tempereture, wattage]
hint: did you mean `temperature`?

settings.yaml:8: `telemetry_capture.gpu[2]` must be one of used, temperature, power, name, id, activity, \
others, total, utilization, clocks, processes, not `wattage`
    8 |   gpu: [used, tempereture, wattage]

settings.yaml:10: `capture.default_level` must be one of off, lightweight, data, telemetry, full, not `everything`
   10 |   default_level: everything

settings.yaml:11: `capture.depth_max` must be a whole number from 1 to 512, not `0`
   11 |   depth_max: 0

settings.yaml:12: `capture.value_bytes_max` must be a whole number from 0 to 1073741824, not `4096.5`
   12 |   value_bytes_max: 4096.5

settings.yaml:13: `capture.record_bytes_max` must be a whole number from 0 to 1073741824, not `65536`
   13 |   record_bytes_max: \"65536\"
hint: write it without quotes

settings.yaml:15: `journal.lane_bytes` must be a power of two, not `5000`
   15 |   lane_bytes: 5000
hint: the next larger one is 8192

settings.yaml:16: `journal.dir` must be text, not `12`
   16 |   dir: 12
hint: put it in quotes",
    );
}

#[test]
fn rules_are_checked_one_by_one() {
    check_error(
        "
capture:
  rules:
    - activity: \"a::*\"
      sample: 1.5
    - level: data
    - {activity: b, levl: data,
       per_second: many}
    - just text
  critical_tags: {high_cpu: high, high_mem: .inf, high_cpus: 3}
",
        "
settings.yaml:5: `capture.rules[0].sample` must be a number from 0 to 1, not `1.5`
    5 |       sample: 1.5

settings.yaml:6: `capture.rules[1].activity` is missing
    6 |     - level: data

settings.yaml:7: unknown key `capture.rules[2].levl`
    7 |     - {activity: b, levl: data,
hint: did you mean `capture.rules[2].level`?

settings.yaml:8: `capture.rules[2].per_second` must be a whole number from 0 to 4294967295, not `many`
    8 |        per_second: many}

settings.yaml:9: `capture.rules[3]` must be a mapping, not `just text`
    9 |     - just text

settings.yaml:10: `capture.critical_tags.high_cpu` must be a number, not `high`
   10 |   critical_tags: {high_cpu: high, high_mem: .inf, high_cpus: 3}

settings.yaml:10: `capture.critical_tags.high_mem` must be a finite number, not `inf`
   10 |   critical_tags: {high_cpu: high, high_mem: .inf, high_cpus: 3}

settings.yaml:10: `capture.critical_tags.high_cpus` is none of long_duration, high_cpu, high_mem, high_disk, low_output, high_output
   10 |   critical_tags: {high_cpu: high, high_mem: .inf, high_cpus: 3}
hint: did you mean `high_cpu`?",
    );
}

#[test]
fn duplicate_keys_are_errors() {
    check_error(
        "capture:\n  reload: true\n  reload: false\n  critical_tags: {high_cpu: 1, high_cpu: 2}\ncapture: {}\n",
        "
settings.yaml:3: duplicate key `capture.reload`
    3 |   reload: false
hint: it is given before, on line 2

settings.yaml:4: `capture.critical_tags.high_cpu` is given twice
    4 |   critical_tags: {high_cpu: 1, high_cpu: 2}

settings.yaml:5: duplicate key `capture`
    5 | capture: {}
hint: it is given before, on line 1",
    );
}

#[test]
fn a_syntax_error_shows_its_line() {
    check_error(
        "capture:\n  default_level: full\n bad: [1, 2\n",
        "
settings.yaml:3: not valid YAML: did not find expected key at line 3 column 2, while parsing a block mapping
    3 |  bad: [1, 2",
    );
    check_error(
        "store:\n\tpath: x\n",
        "
settings.yaml:2: not valid YAML: found character that cannot start any token at line 2 column 1, while scanning for the next token
    2 |  path: x",
    );
}

#[test]
fn nothing_is_no_value_for_a_key_that_needs_one() {
    check_error(
        "store:\n  path:\n  durability: ~\nsession: {output_dir: \"\"}\nredaction:\n  names:\n  allow: PATH\n",
        "
settings.yaml:2: `store.path` must be text, not nothing
    2 |   path:

settings.yaml:3: `store.durability` must be one of process, power, not nothing
    3 |   durability: ~

settings.yaml:4: `session.output_dir` must not be empty
    4 | session: {output_dir: \"\"}

settings.yaml:6: `redaction.names` must be a list, not nothing
    6 |   names:
hint: an empty list is written `[]`

settings.yaml:7: `redaction.allow` must be a list, not `PATH`
    7 |   allow: PATH
hint: write `[PATH]`",
    );
}

#[test]
fn a_section_must_be_a_mapping() {
    check_error(
        "store: .telemetry\n",
        "
settings.yaml:1: `store` must be a mapping, not `.telemetry`
    1 | store: .telemetry",
    );
    check_error(
        "[store, journal]\n",
        "
settings.yaml:1: the file must be a mapping, not a list
    1 | [store, journal]",
    );
}

#[test]
fn lines_are_right_in_awkward_files() {
    let error = |text: &str| read(text).unwrap_err().problems()[0].place.to_string();
    assert_eq!(error("\u{feff}store:\n  pth: x\n"), "settings.yaml:2");
    assert_eq!(error("store:\r\n  pth: x\r\n"), "settings.yaml:2");
    assert_eq!(error("---\n# ü\n\nstore: {\n  path: x,\n  \"pth\": x}\n"), "settings.yaml:6");
    assert_eq!(error("store:\n  path: >\n    long\n    text\n  'pth': x\n"), "settings.yaml:5");
    assert_eq!(error("? store\n: pth: x\n"), "settings.yaml:2");
}

#[test]
fn a_retention_is_an_age_or_a_size() {
    for good in ["30d", "12 h", "1.5GiB", "\"90d, 10GiB\"", "500MB"] {
        assert!(read(&format!("store: {{retention: {good}}}")).is_ok(), "{good}");
    }
    for bad in ["30", "d", "\"30\"", "forever", "-3d", "\"30d,\"", "0d", "3 m"] {
        assert!(read(&format!("store: {{retention: {bad}}}")).is_err(), "{bad}");
    }
}

#[test]
fn a_pattern_that_is_no_regular_expression_is_found_at_its_line() {
    let error = read("redaction:\n  patterns:\n    - 'ACME-[0-9]+'\n    - '(x'\n").unwrap_err().to_string();
    let expected = "
settings.yaml:4: `redaction.patterns[1]` must be a regular expression, not `(x`
    4 |     - '(x'
hint: ";
    assert!(error.contains(expected.trim_start()), "{error}");
}
