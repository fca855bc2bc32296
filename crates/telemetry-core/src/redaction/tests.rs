//! What is found in texts, and what is left alone.

use super::{Redactor, Rule};
use crate::settings::{Redaction, Settings};

pub(super) fn redactor() -> Redactor {
    with(&Settings::default().redaction)
}

fn with(settings: &Redaction) -> Redactor {
    Redactor::new(settings).expect("the patterns are good").expect("redaction is on")
}

fn check(text: &str, expected: &str) {
    assert_eq!(redactor().text(text), expected, "{text}");
}

const JWT: &str =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

#[test]
fn pairs_are_found_in_every_notation() {
    for (text, expected) in [
        ("password=hunter2", "password=[redacted:password]"),
        ("pin=1", "pin=[redacted:pin]"),
        ("password = hunter2, user = me", "password = [redacted:password], user = me"),
        (
            "Config { user: \"me\", password: \"a \\\" b\", n: 1 }",
            "Config { user: \"me\", password: \"[redacted:password]\", n: 1 }",
        ),
        ("Config { password: Some(\"x, (y\"), n: 1 }", "Config { password: [redacted:password], n: 1 }"),
        ("Config { key: Secret { inner: \"x\" }, n: 1 }", "Config { key: Secret {[redacted:type]}, n: 1 }"),
        ("Config { token: Token { inner: [1, 2] }, n: 1 }", "Config { token: [redacted:token], n: 1 }"),
        ("Zeroizing(\"x\")", "Zeroizing([redacted:type])"),
        ("{\"api_key\": \"x\", \"n\": 1}", "{\"api_key\": \"[redacted:key]\", \"n\": 1}"),
        ("{\"token\":12345}", "{\"token\":[redacted:token]}"),
        (r#""{\"password\":\"x\",\"n\":1}""#, r#""{\"password\":\"[redacted:password]\",\"n\":1}""#),
        (
            r#"\\\"pwd\\\":\\\"x\\\\\\\"y\\\",\\\"n\\\""#,
            r#"\\\"pwd\\\":\\\"[redacted:password]\\\",\\\"n\\\""#,
        ),
        ("{\"authorization\": \"Token x y\"}", "{\"authorization\": \"[redacted:authorization]\"}"),
        ("Authorization: Digest a=b, c=d\nHost: x", "Authorization: [redacted:authorization]\nHost: x"),
        (
            "curl -H \"Authorization: Bearer x\" url",
            "curl -H \"Authorization: [redacted:authorization]\" url",
        ),
        ("Cookie: a=b; c=d", "Cookie: [redacted:cookie]"),
        ("https://h/p?a=1&access_token=x&b=2#f", "https://h/p?a=1&access_token=[redacted:token]&b=2#f"),
        ("the API key: abc", "the API key: [redacted:key]"),
        ("cmd --db-password hunter2 --n 1", "cmd --db-password [redacted:password] --n 1"),
        ("cmd --password --n 1", "cmd --password --n 1"),
        ("[(\"x-api-key\", \"x\"), (\"n\", \"1\")]", "[(\"x-api-key\", \"[redacted:key]\"), (\"n\", \"1\")]"),
        ("[\"--token\", \"x\"]", "[\"--token\", \"[redacted:token]\"]"),
        ("<password>x</password>", "<password>[redacted:password]</password>"),
        ("PGPASSWORD=x psql", "PGPASSWORD=[redacted:password] psql"),
        ("AccountName=a;AccountKey=x;", "AccountName=a;AccountKey=[redacted:key];"),
        ("user[password]=x", "user[password]=[redacted:password]"),
        ("passphrase: correct horse", "passphrase: [redacted:password]"),
    ] {
        check(text, expected);
    }
}

#[test]
fn forms_are_found_wherever_they_stand() {
    let forms: &[(String, &str)] = &[
        (JWT.into(), "jwt"),
        ("AKIAIOSFODNN7EXAMPLE".into(), "aws key"),
        (format!("ghp_{}", "a1B2".repeat(9)), "github token"),
        (format!("github_pat_{}_{}", "a1B2c3".repeat(3), "x9".repeat(29)), "github token"),
        (format!("glpat-{}", "a1B-_".repeat(4)), "gitlab token"),
        ("xoxb-1234567890-abcdefGHIJ".into(), "slack token"),
        (format!("AIza{}", "a1_B-".repeat(7)), "google key"),
        (format!("sk-proj-{}", "a1B2".repeat(10)), "api key"),
        (format!("sk_live_{}", "a1B2".repeat(6)), "stripe key"),
        (format!("npm_{}", "a1B2".repeat(9)), "npm token"),
        (format!("hf_{}", "aBcD".repeat(9)), "hugging face token"),
        (format!("pypi-AgEI{}", "a1_B".repeat(20)), "pypi token"),
        (format!("{}==", "a+/Z9".repeat(17) + "x"), "azure key"),
        ("4111 1111 1111 1111".into(), "card number"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----".into(), "private key"),
    ];
    for (secret, kind) in forms {
        for (before, after) in
            [("", ""), ("(", ")"), ("see ", " there"), ("\"", "\""), ("x=", "&y"), ("é", "é")]
        {
            check(&format!("{before}{secret}{after}"), &format!("{before}[redacted:{kind}]{after}"));
        }
    }
}

#[test]
fn schemes_and_addresses_lose_what_is_secret() {
    for (text, expected) in [
        ("Bearer abcdef0123", "Bearer [redacted:bearer token]"),
        ("bearer of good news", "bearer of good news"),
        ("Basic dXNlcjpwYXNz", "Basic [redacted:basic auth]"),
        ("Basic authentication", "Basic authentication"),
        ("postgres://u:p@h/db", "postgres://u:[redacted:password]@h/db"),
        ("a postgres://u:p/w@h:5432/db b", "a postgres://u:[redacted:password]@h:5432/db b"),
        ("redis://:p@h", "redis://:[redacted:password]@h"),
        ("https://0123456789abcdef0123@h/x", "https://[redacted:password]@h/x"),
        ("https://h:8080/@scope/x", "https://h:8080/@scope/x"),
        ("https://me@h/x", "https://me@h/x"),
        (
            "https://a.blob.core.windows.net/c?sv=1&sig=abcdefghijklmnopqrstuvwxyz0123456789%3D&se=2",
            "https://a.blob.core.windows.net/c?sv=1&sig=[redacted:azure key]&se=2",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn what_is_no_secret_is_left_alone() {
    for text in [
        "",
        "x",
        "a=b",
        "12 tokens by the author",
        "tokenizer: bpe",
        "n_tokens=5",
        "max_tokens: 5",
        "std::token::Kind",
        "model-resnet-50x",
        "sk-learn-estimators-are-here",
        "2024-05-17T10:00:00Z",
        "1700000000000000000",
        "f2c1b7d0-1111-4222-8333-123456789012",
        "0x7fff5fbff8a0",
        "sha512-AAAA==",
        "keyboard: us",
        "key: value",
        "path/to/some_file-name.rs:12:3",
        "eyJ",
        "eyJx.y.z",
        "the public_key=abc",
        "-----BEGIN CERTIFICATE-----\nabc",
        "Secretary(\"Ada\")",
        "a, b, c",
        "password",
        "passwords:",
        "https://host/path?q=1",
        "[redacted:jwt]",
        "token=[redacted:token]",
        "me@example.org",
        "(\"a\", \"b\")",
        "grüße: ä=ö",
    ] {
        check(text, text);
    }
}

#[test]
fn every_rule_is_needed() {
    let texts: &[(Rule, String)] = &[
        (Rule::Name, "password=x".into()),
        (Rule::Type, "Zeroizing(\"x\")".into()),
        (Rule::PrivateKey, "-----BEGIN PRIVATE KEY-----\nabc".into()),
        (Rule::Jwt, JWT.into()),
        (Rule::Aws, "AKIAIOSFODNN7EXAMPLE".into()),
        (Rule::GitHub, format!("ghs_{}", "a1B2".repeat(9))),
        (Rule::GitLab, format!("glpat-{}", "a1B2".repeat(5))),
        (Rule::Slack, "xoxp-1234567890".into()),
        (Rule::Google, format!("AIza{}", "a1_B-".repeat(7))),
        (Rule::OpenAi, format!("sk-{}", "a1B2".repeat(10))),
        (Rule::Stripe, format!("rk_test_{}", "a1B2".repeat(6))),
        (Rule::Npm, format!("npm_{}", "a1B2".repeat(9))),
        (Rule::HuggingFace, format!("hf_{}", "aBcD".repeat(9))),
        (Rule::PyPi, format!("pypi-{}", "a1_B".repeat(20))),
        (Rule::Azure, format!("sig={}", "a1B2".repeat(11))),
        (Rule::Bearer, "Bearer abcdef0123".into()),
        (Rule::Basic, "Basic dXNlcjpwYXNz".into()),
        (Rule::Address, "ftp://u:p@h".into()),
        (Rule::Card, "4111111111111111".into()),
        (Rule::EMail, "me@example.org".into()),
    ];
    let settings = Redaction { email: true, ..Settings::default().redaction };
    assert_eq!(texts.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), Rule::ALL);
    for (rule, text) in texts {
        assert_ne!(with(&settings).text(text), *text, "{rule}");
        assert_eq!(with(&settings).without(*rule).text(text), *text, "{rule}");
    }
}

#[test]
fn the_settings_add_patterns() {
    let settings = Redaction {
        patterns: vec!["ACME-[0-9]{4}".to_owned(), "(?i)patient \\w+".to_owned()],
        email: true,
        ..Settings::default().redaction
    };
    let redactor = with(&settings);
    assert_eq!(
        redactor.text("ACME-1234 of Patient Doe, me@example.org, pwd=ACME-1234"),
        "[redacted:pattern] of [redacted:pattern], [redacted:e-mail], pwd=[redacted:password]"
    );
    let bad = Redaction { patterns: vec!["(".to_owned()], ..settings };
    assert!(Redactor::new(&bad).is_err());
    assert!(Redactor::new(&Redaction { enabled: false, ..Settings::default().redaction }).unwrap().is_none());
}

#[test]
fn a_text_full_of_beginnings_takes_no_longer() {
    // Each of these is quadratic in a careless scanner, which is then minutes instead of a moment.
    for beginning in
        ["eyJ-", "sk-", "a://", "ghp_", "x@", "-----BEGIN ", "AIza-", "Basic ", "key:", "<a>", "\"a\","]
    {
        let text = beginning.repeat((1 << 16) / beginning.len());
        redactor().text(&text);
    }
}
