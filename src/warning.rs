//! The one place of the library that prints: a warning, on stderr, once each.

use std::collections::HashSet;
use std::error::Error;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

static SEEN: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Tells the user something about the recording. The same text is told once a process; that stderr may
/// be closed is not our business.
pub(crate) fn warn(text: &str) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.get_or_insert_default().insert(text.to_owned()) {
        let _ = writeln!(std::io::stderr(), "telemetry: {text}");
    }
}

/// An error with its causes, each told once.
pub(crate) fn explained(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        cause = error.source();
    }
    text
}
