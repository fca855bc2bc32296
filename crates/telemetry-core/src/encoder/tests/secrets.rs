//! What is secret is hidden wherever it stands in a value, and before the value is cut.

use super::super::{Encoder, HiddenKeys, Limits, ValueEncoder};
use crate::record::{Field, Items, Key};
use crate::redaction::{Redactor, WINDOW_BYTES};
use crate::settings::Settings;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;

const TOKEN: &str = "ghp_Zq7Xw2Vr9Tk4Mn6Bp1Jd8Fh3Gs5Lc0YaWeRt";

fn redactor() -> &'static Redactor {
    let redactor = Redactor::new(&Settings::default().redaction).expect("there are no patterns");
    Box::leak(Box::new(redactor.expect("redaction is on")))
}

fn encoder(limits: Limits) -> Encoder {
    let mut encoder = Encoder::new();
    encoder.reset(limits);
    encoder.redact_with(Some(redactor()));
    encoder
}

fn shown(encoder: &Encoder) -> String {
    let mut json = Vec::new();
    for item in Items::new(encoder.bytes()) {
        if let Some(Key::Inline(key)) = item.key {
            json.extend_from_slice(format!("{key}:").as_bytes());
        }
        item.value.write_json(&mut json);
    }
    String::from_utf8(json).unwrap()
}

fn check(write: impl FnOnce(&mut ValueEncoder<'_>), expected: &str) {
    let mut encoder = encoder(Limits::DEFAULT);
    encoder.result(write);
    assert_eq!(shown(&encoder), expected);
}

#[derive(Clone, Serialize)]
struct Login {
    user: &'static str,
    #[serde(rename = "userPassword")]
    password: &'static str,
    limit: u8,
}

const LOGIN: Login = Login { user: "me", password: "hunter2", limit: 3 };

#[derive(Debug, Serialize)]
struct SecretString(&'static str);

#[derive(Serialize)]
struct Config {
    inner: SecretString,
    n: u8,
}

struct Failing;

impl Serialize for Failing {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(format_args!("{} {TOKEN}", "x".repeat(1020))))
    }
}

#[derive(Debug, Serialize)]
enum Auth {
    Password(&'static str),
    Token { value: &'static str },
    Secret(u8, u8),
    Key(&'static str),
}

#[test]
fn fields_and_keys_are_hidden_by_name_at_any_depth() {
    let hidden = r#"{"user":"me","userPassword":{"$redacted":"password"},"limit":3}"#;
    check(|value| value.serialize(&LOGIN), hidden);
    check(|value| value.serialize(&[Some(&LOGIN)]), &format!("[{hidden}]"));
    let map = BTreeMap::from([("n", "1"), ("x-api-key", "abc")]);
    check(|value| value.serialize(&vec![map]), r#"[{"n":"1","x-api-key":{"$redacted":"key"}}]"#);
    check(
        |value| value.serialize(&[("accept", "x"), ("Authorization", "Basic x")]),
        r#"[["accept","x"],["Authorization",{"$redacted":"authorization"}]]"#,
    );
    check(|value| value.serialize(&["--pin", "12", "13"]), r#"["--pin",{"$redacted":"pin"},"13"]"#);
}

#[test]
fn variants_are_hidden_by_name() {
    let auths = [Auth::Password("x"), Auth::Token { value: "x" }, Auth::Secret(1, 2), Auth::Key("x")];
    check(
        |value| value.serialize(&(auths, 1)),
        r#"[[{"Password":{"$redacted":"password"}},{"Token":{"$redacted":"token"}},{"Secret":{"$redacted":"secret"}},{"Key":"x"}],1]"#,
    );
}

#[test]
fn types_are_hidden_wherever_they_are_known() {
    let hidden = r#"{"$redacted":"type"}"#;
    check(|value| value.serialize(&SecretString("x")), hidden);
    check(|value| value.serialize(&Some(Box::new(SecretString("x")))), hidden);
    check(|value| value.serialize(&(1, SecretString("x"))), hidden);
    check(|value| value.debug_of(&SecretString("x")), hidden);
    check(|value| value.debug_slice(&[SecretString("x")]), hidden);
    check(
        |value| value.serialize(&Config { inner: SecretString("x"), n: 1 }),
        r#"{"inner":{"$redacted":"type"},"n":1}"#,
    );
    check(|value| value.debug(&(SecretString("x"), 1)), r#""(SecretString([redacted:type]), 1)""#);
}

#[test]
fn texts_lose_their_secrets_in_every_form() {
    let hidden = r#""a [redacted:github token] b""#;
    let text = format!("a {TOKEN} b");
    check(|value| value.text(&text), hidden);
    check(|value| value.display(&text), hidden);
    check(|value| value.serialize(&text), hidden);
    check(|value| value.path(Path::new(&text)), hidden);
    check(|value| value.serialize(&serde_json::json!({"x": text})), &format!("{{\"x\":{hidden}}}"));
    check(
        |value| value.serialize(&BTreeMap::from([(&text, 1)])),
        &format!("{{{hidden}:{{\"$redacted\":\"token\"}}}}"),
    );
    check(|value| value.failed(&text), &format!("{{\"$error\":{hidden}}}"));
    let mut encoder = encoder(Limits::DEFAULT);
    encoder.result(|value| value.serialize(&Failing));
    assert!(!shown(&encoder).contains("ghp_"), "{}", shown(&encoder));
}

#[test]
fn bytes_and_paths_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt;
    let raw = [b"\xFF ", TOKEN.as_bytes(), b" \xFE"].concat();
    let mut encoder = encoder(Limits::DEFAULT);
    encoder.used_named("a", |value| value.bytes(&raw));
    encoder.used_named("b", |value| value.path(Path::new(std::ffi::OsStr::from_bytes(&raw))));
    let bytes = encoder.bytes();
    assert!(!bytes.windows(8).any(|window| window == b"Zq7Xw2Vr"), "{}", shown(&encoder));
}

#[test]
fn items_are_hidden_by_their_keys() {
    static KEYS: &[&str] = &["x", "password"];
    let mut encoder = encoder(Limits::DEFAULT);
    encoder.hide(HiddenKeys::new(HiddenKeys::mask(Some(redactor()), KEYS), KEYS));
    encoder.used(0, |value| value.int(1));
    encoder.used(1, |_| panic!("not called"));
    encoder.output(1, |_| panic!("not called"));
    encoder.metadata("token", |_| panic!("not called"));
    encoder.generated_named(TOKEN, |value| value.int(2));
    encoder.text(Field::Tag, "pwd=x");
    assert_eq!(
        shown(&encoder),
        concat!(
            r#"1{"$redacted":"password"}{"$redacted":"password"}token:{"$redacted":"token"}"#,
            r#"[redacted:github token]:2"pwd=[redacted:password]""#,
        )
    );
    encoder.reset(Limits::DEFAULT);
    encoder.used(1, |value| value.int(1));
    assert_eq!(shown(&encoder), "1");
}

/// Wherever a value is cut, no part of a secret is left.
#[test]
fn a_secret_is_found_before_the_cut() {
    let limits = Limits { value_bytes_max: 256, ..Limits::DEFAULT };
    let write: [fn(&mut ValueEncoder<'_>, &str); 4] = [
        |value, text| value.text(text),
        |value, text| value.display(&text),
        |value, text| value.serialize(&[text]),
        |value, text| value.bytes(text.as_bytes()),
    ];
    for before in (150..320).chain([WINDOW_BYTES + 240, WINDOW_BYTES + 256]) {
        let long = "k".repeat(3 * WINDOW_BYTES);
        for text in [
            format!("{} {TOKEN} end", "x".repeat(before)),
            format!("{} {TOKEN} {long}", "x".repeat(before)),
            format!("{} password=\"{}\"", "x".repeat(before), "Zq7Xw2Vr".repeat(2000)),
            // The first secret makes room for what lies at the end of the window.
            format!("pwd=\"{}\" {} {TOKEN}", "y".repeat(WINDOW_BYTES - 100), "x".repeat(before)),
        ] {
            for write in write {
                let mut encoder = encoder(limits);
                encoder.result(|value| write(value, &text));
                let kept = encoder.bytes();
                assert!(kept.len() <= 257, "{} bytes", kept.len());
                assert!(!kept.windows(4).any(|window| window == b"Zq7X"), "{before}: {}", shown(&encoder));
            }
        }
    }
}

#[test]
fn without_a_redactor_everything_is_written() {
    let mut encoder = encoder(Limits::DEFAULT);
    encoder.redact_with(None);
    encoder.result(|value| value.serialize(&(LOGIN, TOKEN, SecretString("x"))));
    assert_eq!(
        shown(&encoder),
        format!(r#"[{{"user":"me","userPassword":"hunter2","limit":3}},"{TOKEN}","x"]"#)
    );
}
