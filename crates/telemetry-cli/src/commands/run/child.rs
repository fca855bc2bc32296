//! The program while it runs, and how it ended.

use std::io::{self, ErrorKind};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::signals::{Event, Signals};

/// How often a live line is drawn.
const TICK_MS: u16 = 200;

/// How the program ended.
#[derive(Debug)]
pub(super) enum Ended {
    Code(u8),
    Signal(Signal),
    /// It never began.
    NotStarted(io::Error),
}

impl Ended {
    /// What was wrong; none where it ended well.
    pub(super) fn complaint(&self) -> Option<String> {
        match self {
            Self::Code(0) => None,
            Self::Code(code) => Some(format!("exit code {code}")),
            Self::Signal(signal) => Some(format!("killed by {signal}")),
            Self::NotStarted(error) if error.kind() == ErrorKind::NotFound => Some("not found".to_owned()),
            Self::NotStarted(error) => Some(format!("cannot be executed: {error}")),
        }
    }

    fn from_status(status: ExitStatus) -> Self {
        let signal = status.signal().and_then(|signal| Signal::try_from(signal).ok());
        signal.map_or_else(|| Self::Code(status.code().unwrap_or(1) as u8), Self::Signal)
    }
}

/// Passes signals on until the program has ended; `tick` is called now and then, and says whether it wants to be.
pub(super) fn wait(
    child: &mut Child,
    signals: &Signals,
    mut tick: impl FnMut() -> bool,
) -> io::Result<Ended> {
    let id = Pid::from_raw(child.id() as i32);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::from_status(status));
        }
        let wait_ms = tick().then_some(TICK_MS);
        if let Event::PassOn(signal) = signals.next(wait_ms)? {
            // It may have ended meanwhile.
            let _ = kill(id, signal);
        }
    }
}
