//! A terminal of which the program has all three ends, and a person at the keyboard.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

use nix::poll::{PollFd, PollFlags, poll};
use nix::pty::{Winsize, openpty};

use crate::fixture::command;

/// A screen on which nothing happens for so long waits for something that does not come.
const PATIENCE_MS: u16 = 30_000;

/// What a person sees, without colours, and the exit code.
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) code: Option<i32>,
}

/// Runs the program in a folder on a terminal and types keys, each after what it waits for.
pub(crate) fn at_terminal(folder: &Path, arguments: &[&str], keys: &[(&str, &str)]) -> Seen {
    run_at_terminal(folder, command(arguments), keys)
}

/// The same with another program, which gets the terminal for its own.
pub(crate) fn at_terminal_with(
    folder: &Path,
    program: &str,
    arguments: &[&str],
    keys: &[(&str, &str)],
) -> Seen {
    let mut command = Command::new(program);
    command.args(arguments);
    run_at_terminal(folder, command, keys)
}

fn run_at_terminal(folder: &Path, mut command: Command, keys: &[(&str, &str)]) -> Seen {
    let size = Winsize { ws_row: 50, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(&size, None).unwrap();
    command.current_dir(folder).env("TERM", "xterm").env("NO_COLOR", "1").env("HOME", folder);
    command.env("PATH", "/usr/bin:/bin");
    command.stdin(terminal.slave.try_clone().unwrap()).stdout(terminal.slave.try_clone().unwrap());
    command.stderr(terminal.slave.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop((command, terminal.slave));
    let mut keyboard = File::from(terminal.master.try_clone().unwrap());
    let mut screen = File::from(terminal.master);
    let mut keys = keys.iter();
    let mut waiting = keys.next();
    let mut text = String::new();
    let mut looked_at = 0;
    let mut chunk = [0; 4096];
    loop {
        let mut waited = [PollFd::new(screen.as_fd(), PollFlags::POLLIN)];
        if poll(&mut waited, PATIENCE_MS).unwrap() == 0 {
            child.kill().unwrap();
            panic!("waiting for {waiting:?} after {text}");
        }
        // A terminal ends with an error once nobody holds its other side.
        let Ok(length @ 1..) = screen.read(&mut chunk) else { break };
        text.push_str(&String::from_utf8_lossy(&chunk[..length]));
        while let Some((mark, typed)) = waiting
            && let Some(place) = text[looked_at..].find(mark)
        {
            looked_at += place + mark.len();
            keyboard.write_all(typed.as_bytes()).unwrap();
            waiting = keys.next();
        }
    }
    let code = child.wait().unwrap().code();
    Seen { text: text.replace("\r\n", "\n"), code }
}
