//! The one place of xtask that prints.

use std::io::Write;

/// Says what is going on or came out. That nobody listens is no reason to stop.
pub(crate) fn say(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// Says what went wrong.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
