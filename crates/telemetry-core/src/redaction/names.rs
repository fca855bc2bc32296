//! Which names announce a secret: the built-in words, what the settings add, and what they allow.

use crate::glob::matches;
use crate::settings;

use super::split::Words;
use super::vocabulary;

/// Longer names are no names.
const NAME_BYTES_MAX: usize = 1 << 10;

/// What makes a name secret.
#[derive(Debug)]
pub(super) struct Names {
    /// Names of the settings, with `_` between their words.
    own: Vec<String>,
    allowed: Vec<String>,
    has_built_in: bool,
}

impl Names {
    pub(super) fn new(settings: &settings::Redaction) -> Self {
        let normal = |names: &[String]| names.iter().map(|name| normal(name)).collect();
        Self { own: normal(&settings.names), allowed: normal(&settings.allow), has_built_in: true }
    }

    pub(super) fn without_built_in(&mut self) {
        self.has_built_in = false;
    }

    /// The kind of secret that a name announces.
    pub(super) fn kind_of(&self, name: &[u8]) -> Option<&'static str> {
        // The shortest words have three letters.
        if name.len() < 3 || name.len() > NAME_BYTES_MAX {
            return None;
        }
        let words = Words::of(name);
        let own = || self.own.iter().any(|own| is_part(own, words.normal())).then_some("name");
        let built_in = || if self.has_built_in { vocabulary::kind_of(&words) } else { None };
        let kind = if self.own.is_empty() { built_in() } else { own().or_else(built_in) };
        kind.filter(|_| !self.allows(words.normal()))
    }

    /// Whether the settings allow a name that is otherwise secret.
    pub(super) fn allows(&self, normal: &[u8]) -> bool {
        let fits = |allowed: &String| allowed.as_bytes() == normal || is_glob_match(allowed, normal);
        self.allowed.iter().any(fits)
    }
}

/// A name of the settings in the form in which names are compared; stars stay.
fn normal(name: &str) -> String {
    let part = |part: &str| {
        let words = Words::of(part.as_bytes());
        let text = String::from_utf8_lossy(words.normal()).into_owned();
        let starts = part.starts_with(is_separator) && !text.is_empty();
        let ends = part.ends_with(is_separator) && !text.is_empty();
        format!("{}{text}{}", if starts { "_" } else { "" }, if ends { "_" } else { "" })
    };
    if name.contains('*') {
        name.split('*').map(part).collect::<Vec<_>>().join("*")
    } else {
        part(name.trim_matches(is_separator))
    }
}

fn is_separator(character: char) -> bool {
    !character.is_ascii_alphanumeric()
}

/// Whether the words of `own` follow each other in `name`, or its glob fits.
fn is_part(own: &str, name: &[u8]) -> bool {
    if own.contains('*') {
        return is_glob_match(own, name);
    }
    let own = own.as_bytes();
    !own.is_empty()
        && name.len() >= own.len()
        && (0..=name.len() - own.len()).any(|start| {
            let end = start + own.len();
            name[start..end] == *own
                && (start == 0 || name[start - 1] == b'_')
                && (end == name.len() || name[end] == b'_')
        })
}

fn is_glob_match(glob: &str, name: &[u8]) -> bool {
    glob.contains('*') && std::str::from_utf8(name).is_ok_and(|name| matches(glob, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn names(own: &[&str], allowed: &[&str]) -> Names {
        let text = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let settings =
            settings::Redaction { names: text(own), allow: text(allowed), ..Settings::default().redaction };
        Names::new(&settings)
    }

    #[test]
    fn secret_names_are_found_in_every_style() {
        let names = names(&[], &[]);
        for name in [
            "password",
            "userPassword",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "passwd",
            "pwd",
            "passphrase",
            "db_pass",
            "secret",
            "client_secret",
            "clientsecret",
            "SECRET_KEY",
            "token",
            "accessToken",
            "X-CSRF-Token",
            "GITHUB_TOKEN",
            "idtoken",
            "api_key",
            "apikey",
            "x-api-key",
            "APIKey",
            "ApiKeys",
            "access_key",
            "aws_secret_access_key",
            "AccountKey",
            "authorization",
            "Proxy-Authorization",
            "auth",
            "basic_auth",
            "cookie",
            "Set-Cookie",
            "session",
            "session_id",
            "sessionid",
            "private_key",
            "rsaKey",
            "private_key_pem",
            "sentry_dsn",
            "connection_string",
            "connStr",
            "credential",
            "credentials",
            "otp",
            "totp_secret",
            "pin",
            "card_pin",
            "pin_code",
            "sas",
            "bearer",
            "cvv",
            "card_number",
            "ssh_key",
            "token2",
            "app.auth.token",
            "password_hash",
            "csrfmiddlewaretoken",
        ] {
            assert!(names.kind_of(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn names_that_only_look_so_are_kept() {
        let names = names(&[], &[]);
        for name in [
            "tokenizer",
            "tokens",
            "n_tokens",
            "num_tokens",
            "max_tokens",
            "tokens_per_second",
            "author",
            "authority",
            "authors",
            "secretary",
            "keyboard",
            "key",
            "keys",
            "public_key",
            "primary_key",
            "pinned",
            "spin",
            "led_pin",
            "opinion",
            "session_name",
            "sessions",
            "password_length",
            "has_password",
            "token_count",
            "eos_token",
            "pad_token_id",
            "next_token",
            "token_type",
            "cancellation_token",
            "page_token",
            "cookie_name",
            "secret_name",
            "private_key_path",
            "compass",
            "forward_pass",
            "bypass",
            "passed",
            "tokio",
            "hashmap",
            "monkey",
            "x",
            "",
            "dns",
            "spot",
            "sassy",
            "description",
            "oauth",
        ] {
            assert_eq!(names.kind_of(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn the_settings_add_and_allow() {
        let names = names(&["patient-id", "internal_*"], &["token", "*_session_id"]);
        for (name, is_secret) in [
            ("patientId", true),
            ("the_patient_id_text", true),
            ("outpatient_id", false),
            ("internal_note", true),
            ("internal", false),
            ("token", false),
            ("access_token", true),
            ("web_session_id", false),
            ("session_id", true),
        ] {
            assert_eq!(names.kind_of(name.as_bytes()).is_some(), is_secret, "{name}");
        }
    }
}
