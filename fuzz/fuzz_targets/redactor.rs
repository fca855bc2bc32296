//! The redactor never panics, keeps UTF-8, and finds a token whatever stands around it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use telemetry_core::redaction::Redactor;
use telemetry_core::settings::Settings;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
    let mut settings = Settings::default().redaction;
    settings.email = true;
    Redactor::new(&settings).expect("there are no patterns").expect("redaction is on by default")
});

/// A token that no text around it may save, unless that joins it to another word.
const TOKEN: &[u8] = b"ghp_Zq7Xw2Vr9Tk4Mn6Bp1Jd8Fh3Gs5Lc0YaWeRt";

fuzz_target!(|data: &[u8]| {
    let redacted = REDACTOR.replaced(data);
    if let (Ok(text), Some(redacted)) = (str::from_utf8(data), &redacted) {
        assert!(str::from_utf8(redacted).is_ok(), "{text:?} is no text any more");
    }
    if let Ok(name) = str::from_utf8(data) {
        REDACTOR.name(name);
        REDACTOR.type_name(name);
    }
    let (before, after) = data.split_at(data.len() / 2);
    let planted = [before, b"\n", TOKEN, b"\n", after].concat();
    let redacted = REDACTOR.replaced(&planted).expect("there is a token in it");
    assert!(!redacted.windows(12).any(|window| TOKEN[4..].windows(12).any(|part| part == window)));
});
