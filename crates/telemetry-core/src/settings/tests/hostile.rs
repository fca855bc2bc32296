//! Files that want to do harm get an error, and get it soon.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{lookup_with, read};
use crate::settings::{Place, Settings, SettingsError};

const LARGE: usize = 1_000_000;

fn keys(count: usize) -> String {
    (0..count).map(|index| format!("k{index}: 1")).collect::<Vec<_>>().join("\n")
}

fn check_refused(name: &str, text: &str) {
    let begin = Instant::now();
    let message = read(text).expect_err(name).to_string();
    // A second would do on an idle machine; work that grows with the square takes minutes.
    assert!(begin.elapsed() < Duration::from_secs(20), "{name} took {:?}", begin.elapsed());
    assert!(message.len() < 50_000, "{name} is answered with {} bytes", message.len());
}

#[test]
fn harmful_files_are_refused() {
    check_refused("huge", &"# nothing\n".repeat(LARGE));
    check_refused("open lists", &"[".repeat(LARGE));
    check_refused("open mappings", &"{a: ".repeat(LARGE / 4));
    check_refused("nested lists", &format!("a: {}{}", "[".repeat(900), "]".repeat(900)));
    check_refused("nested dashes", &"- ".repeat(LARGE / 2));
    check_refused("nested questions", &"? ".repeat(LARGE / 2));
    check_refused("many keys", &keys(80_000));
    check_refused("many wrong keys", &keys(40_000));
    check_refused("long key", &format!("{}: 1", "k".repeat(1000)));
    check_refused("long value", &format!("store: {{durability: {}}}", "x".repeat(LARGE)));
    check_refused("same key", &"store: {}\n".repeat(40_000));
    check_refused("many anchors", &format!("a: [{}]", "&a x, ".repeat(LARGE / 8)));
    check_refused("itself", "store: &a [*a, *a]");
    check_refused("unknown anchor", "store: *nothing");
    check_refused("a tag", "store: !python/object:os.system {}");
    check_refused("two files", "store: {}\n---\nstore: {}\n");
}

#[test]
fn a_billion_laughs_are_refused() {
    let laughs = (1..20).map(|level| {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("  a{level}: &a{level} [{aliases}]")
    });
    let first = "extra_metadata:\n  a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]".to_owned();
    let text = std::iter::once(first).chain(laughs).collect::<Vec<_>>().join("\n");
    check_refused("a billion laughs", &text);
}

#[test]
fn a_few_aliases_are_fine() {
    let loaded = read("redaction:\n  names: &secret [pin]\n  patterns: *secret\n").unwrap();
    assert_eq!(loaded.settings.redaction.patterns, ["pin"]);
}

/// Text made of pieces that mean something in YAML, or to us.
fn yaml_like() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "capture",
        "store",
        "journal",
        "rules",
        "gpu",
        "model",
        "torch",
        ": ",
        ":",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "~",
        "true",
        "1",
        "-1.5",
        ".nan",
        "\"",
        "'",
        "#",
        "&a ",
        "*a",
        "!t ",
        "|",
        ">",
        "---",
        "...",
        "<<",
        "%",
        "@",
        "\t",
        "\r\n",
        "\u{feff}",
        "é",
        "\u{0}",
        "? ",
        "99999999999999999999999",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = read(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn no_yaml_panics(text in yaml_like()) {
        let _ = read(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn no_variable_panics(name in "TELEMETRY_(CAPTURE|STORE|_|[A-Zé]{0,4})__([A-Z_]{0,9}|RULES)", value in yaml_like()) {
        let _ = Settings::load_from(&lookup_with(&[(&name, &value)])).map_err(|error| error.to_string());
    }

    #[test]
    fn problems_quote_the_line_that_they_name(text in yaml_like()) {
        let lines: Vec<&str> = text.lines().collect();
        for problem in read(&text).err().iter().flat_map(SettingsError::problems) {
            if let Place::File { line: Some(line), .. } = &problem.place {
                prop_assert!(*line >= 1 && *line <= lines.len() + 1, "{line} of {}", lines.len());
            }
        }
    }
}
