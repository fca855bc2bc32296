//! The one place of the library that prints: a warning, on stderr, once each.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use telemetry_core::redaction::Redactor;
use telemetry_core::runtime::active_recording;
use telemetry_core::settings::Settings;

static SEEN: Mutex<Option<BTreeSet<String>>> = Mutex::new(None);

/// What is told must not give secrets away: a path, an error or a line of the settings may hold one.
static REDACTOR: LazyLock<Option<Redactor>> =
    LazyLock::new(|| Redactor::new(&Settings::default().redaction).ok().flatten());

/// Tells the user something about the recording. The same text is told once a process; that stderr may
/// be closed is not our business.
pub(crate) fn warn(text: &str) {
    warn_once(text);
}

/// The same, and answers what was told; nothing if it had been told before.
pub(crate) fn warn_once(text: &str) -> Option<String> {
    let text = without_secrets(text).into_owned();
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = seen.get_or_insert_default().insert(text.clone());
    if is_new {
        let _ = writeln!(std::io::stderr(), "telemetry: {text}");
    }
    is_new.then_some(text)
}

/// What says which warnings were given, held for a fork.
pub(crate) type Hold = MutexGuard<'static, Option<BTreeSet<String>>>;

/// Holds on to what says which warnings were given; none while another thread warns.
pub(crate) fn hold() -> Option<Hold> {
    crate::fork::try_lock(&SEEN)
}

/// By the settings in force; before there are any, by the defaults.
fn without_secrets(text: &str) -> Cow<'_, str> {
    let redactor = match active_recording() {
        Some(recording) => recording.redactor(),
        None => REDACTOR.as_ref(),
    };
    redactor.map_or(Cow::Borrowed(text), |redactor| redactor.text(text))
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
