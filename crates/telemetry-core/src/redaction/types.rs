//! Types whose name says that their values are secret: `Secret…`, `Password…`, `Zeroizing`, `Redacted…`, and whatever
//! is wrapped around one.

use super::names::Names;
use super::split::Words;

/// The shortest of the words below.
pub(super) const SHORTEST: usize = 6;

const STARTS: [&[u8]; 4] = [b"Secret", b"Password", b"Zeroizing", b"Redacted"];

/// Whether a type's full name, as the compiler says it, has a secret type in it. Modules do not count.
pub(super) fn is_secret(type_name: &str, names: &Names) -> bool {
    let mut rest = type_name.as_bytes();
    while let Some(start) = rest.iter().position(|byte| is_part_of_name(*byte)) {
        rest = &rest[start..];
        let end = rest.iter().position(|byte| !is_part_of_name(*byte)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        rest = after;
        if !after.starts_with(b"::") && is_secret_name(name) && !names.allows(Words::of(name).normal()) {
            return true;
        }
    }
    false
}

/// Whether the name of a type begins with one of the words, and not with a longer one such as `Secretary`.
pub(super) fn is_secret_name(name: &[u8]) -> bool {
    let goes_on = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_lowercase) && !rest.starts_with(b"s");
    STARTS.iter().any(|start| name.strip_prefix(*start).is_some_and(|rest| !goes_on(rest)))
}

fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn types_are_judged_by_their_own_name_and_their_arguments() {
        let mut settings = Settings::default().redaction;
        settings.allow.push("SecretSauce".to_owned());
        let names = Names::new(&settings);
        for (name, expected) in [
            ("secrecy::SecretBox<str>", true),
            ("core::option::Option<app::SecretString>", true),
            ("zeroize::Zeroizing<alloc::string::String>", true),
            ("&app::Password", true),
            ("alloc::vec::Vec<(i32, app::Secrets)>", true),
            ("app::RedactedText", true),
            ("app::Secret::Inner", false),
            ("app::secret::Store", false),
            ("app::Secretary", false),
            ("app::SecretSauce", false),
            ("f64", false),
        ] {
            assert_eq!(is_secret(name, &names), expected, "{name}");
        }
    }
}
