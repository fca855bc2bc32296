//! The one place of xtask that prints.

use std::io::{IsTerminal, Write};

/// Empties the line of a terminal that the cursor is in.
const EMPTY_LINE: &str = "\r\x1b[K";

/// Says what is going on or came out. That nobody listens is no reason to stop.
pub(crate) fn say(text: &str) {
    let mut stdout = std::io::stdout();
    let begin = if stdout.is_terminal() { EMPTY_LINE } else { "" };
    let _ = writeln!(stdout, "{begin}{text}").and_then(|()| stdout.flush());
}

/// Says how far something is: on a terminal in one line, which the next one replaces.
pub(crate) fn say_for_now(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = if stdout.is_terminal() {
        write!(stdout, "{EMPTY_LINE}{text}").and_then(|()| stdout.flush())
    } else {
        writeln!(stdout, "{text}").and_then(|()| stdout.flush())
    };
}

/// Whether somebody looks on who sees a line change.
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal()
}

/// Says what went wrong.
pub(crate) fn complain(text: &str) {
    let mut stderr = std::io::stderr();
    let begin = if stderr.is_terminal() { EMPTY_LINE } else { "" };
    let _ = writeln!(stderr, "{begin}{text}");
}
