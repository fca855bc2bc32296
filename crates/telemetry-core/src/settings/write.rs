//! How settings are written as JSON where serde's own way does not fit.

use std::path::{Path, PathBuf};

use serde::Serializer;

use super::choices::Choice;

/// Writes a choice as its word.
pub(super) fn word<C: Choice, S: Serializer>(choice: &C, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.word())
}

/// Writes a choice as its word, or null.
#[expect(clippy::ref_option, reason = "serde hands fields over by reference")]
pub(super) fn optional_word<C: Choice, S: Serializer>(
    choice: &Option<C>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match choice {
        Some(choice) => serializer.serialize_str(choice.word()),
        None => serializer.serialize_none(),
    }
}

/// Writes a path even where it is not UTF-8, which serde refuses.
pub(super) fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Writes a path as [`path`] does, or null.
#[expect(clippy::ref_option, reason = "serde hands fields over by reference")]
pub(super) fn optional_path<S: Serializer>(
    optional: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match optional {
        Some(present) => path(present, serializer),
        None => serializer.serialize_none(),
    }
}
