//! The whole screen, for a view that is drawn again and again.
//!
//! The terminal is as it was before whichever way the program ends: when the screen is dropped, in a panic, and before the
//! process dies of a signal, which is why signals are taken here in turn.

use std::io;
use std::panic;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// What a person, a scheduler or a terminal that goes away sends.
const DEADLY: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// The screen, as long as it is ours.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<io::Stdout>>,
    signals: SignalFd,
    set: SigSet,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Nothing,
    Key(KeyEvent),
    Resized,
    Killed(Signal),
}

impl Screen {
    /// Takes the screen over.
    pub(crate) fn enter() -> io::Result<Self> {
        let set: SigSet = DEADLY.into_iter().collect();
        set.thread_block()?;
        let signals = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        leave_in_panics();
        enable_raw_mode()?;
        let entered = execute!(io::stdout(), EnterAlternateScreen, Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match entered {
            Ok(terminal) => Ok(Self { terminal, signals, set }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Draws, on as much room as there is now.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame.buffer_mut())).map(|_| ())
    }

    /// Waits for a person, or for a signal that asks this process to end.
    pub(crate) fn input(&mut self, patience: Duration) -> io::Result<Input> {
        if let Some(signal) = self.signals.read_signal()?
            && let Ok(signal) = Signal::try_from(signal.ssi_signo.cast_signed())
        {
            return Ok(Input::Killed(signal));
        }
        if !event::poll(patience)? {
            return Ok(Input::Nothing);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Input::Key(key),
            Event::Resize(..) => Input::Resized,
            _ => Input::Nothing,
        })
    }

    /// Gives the screen back and ends this process by a signal, as it would have without us.
    pub(crate) fn die_by(self, signal: Signal) {
        let set = self.set;
        drop(self);
        let _ = set.thread_unblock().and_then(|()| raise(signal));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
        let _ = self.set.thread_unblock();
    }
}

fn leave() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

/// What a panic says is to be read on the screen that stays.
fn leave_in_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        leave();
        before(panic);
    }));
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read;
    use std::path::Path;
    use std::process::Command;

    use nix::pty::{Winsize, openpty};
    use nix::sys::termios::tcgetattr;

    use super::*;

    /// Only in a folder with this file does the child take a screen over.
    const MARK: &str = "panic-here";

    /// Not a test of its own: the part of the process that panics.
    #[test]
    fn panics_where_it_is_told_to() {
        if !Path::new(MARK).exists() {
            return;
        }
        let mut screen = Screen::enter().unwrap();
        screen.draw(|_| panic!("what the person must read")).unwrap();
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MARK), "").unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        let before = tcgetattr(&terminal.slave).unwrap();
        let end = || terminal.slave.try_clone().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "screen::tests::panics_where_it_is_told_to", "--nocapture"]);
        command.current_dir(folder.path()).env("TERM", "xterm").env("RUST_BACKTRACE", "0");
        let mut child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        drop(command);
        assert!(!child.wait().unwrap().success());
        assert_eq!(tcgetattr(&terminal.slave).unwrap(), before);
        drop(terminal.slave);
        let mut bytes = Vec::new();
        // A terminal ends with an error once nobody holds its other side.
        let _ = File::from(terminal.master).read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text:?}"));
        assert!(place("\u{1b}[?1049h") < place("\u{1b}[?1049l"), "the other screen is entered and left");
        assert!(place("\u{1b}[?1049l") < place("what the person must read"), "{text:?}");
        assert!(text.rfind("\u{1b}[?25h") > text.rfind("\u{1b}[?25l"), "the cursor is shown: {text:?}");
    }
}
