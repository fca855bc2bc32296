//! A terminal of which the program has all three ends, and a person at the keyboard; or one that only its talk goes to.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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

const SIZE: Winsize = Winsize { ws_row: 50, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

fn prepare(folder: &Path, command: &mut Command) {
    command.current_dir(folder).env("TERM", "xterm").env("NO_COLOR", "1").env("HOME", folder);
    command.env("PATH", "/usr/bin:/bin");
}

fn run_at_terminal(folder: &Path, mut command: Command, keys: &[(&str, &str)]) -> Seen {
    let terminal = openpty(&SIZE, None).unwrap();
    prepare(folder, &mut command);
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

/// A program whose talk goes to a terminal, and whose data goes through a pipe.
pub(crate) struct Talking {
    pub(crate) child: Child,
    screen: File,
    /// All that the terminal has received.
    pub(crate) text: String,
}

impl Talking {
    /// Starts the program, with a pipe as its input, too.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let terminal = openpty(&SIZE, None).unwrap();
        let mut command = command(arguments);
        prepare(folder, &mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(terminal.slave.try_clone().unwrap());
        let child = command.spawn().unwrap();
        drop((command, terminal.slave));
        Self { child, screen: File::from(terminal.master), text: String::new() }
    }

    /// Takes what the terminal receives within this time; says whether there may be more.
    pub(crate) fn look(&mut self, wait_ms: u16) -> bool {
        let mut waited = [PollFd::new(self.screen.as_fd(), PollFlags::POLLIN)];
        if poll(&mut waited, wait_ms).unwrap() == 0 {
            return true;
        }
        let mut chunk = [0; 4096];
        let Ok(length @ 1..) = self.screen.read(&mut chunk) else { return false };
        self.text.push_str(&String::from_utf8_lossy(&chunk[..length]));
        true
    }

    pub(crate) fn wait_for(&mut self, mark: &str) {
        while !self.text.contains(mark) {
            let before = self.text.len();
            let is_alive = self.look(PATIENCE_MS);
            assert!(is_alive && self.text.len() > before, "waiting for {mark} after {:?}", self.text);
        }
    }

    /// Waits for the end; answers what stands on the screen then.
    pub(crate) fn finish(mut self) -> String {
        while self.look(PATIENCE_MS) {}
        self.child.wait().unwrap();
        on_screen(&self.text)
    }
}

/// What stands on a screen that has received this.
fn on_screen(text: &str) -> String {
    let (mut lines, mut column) = (vec![Vec::new()], 0);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let line: &mut Vec<char> = lines.last_mut().unwrap();
        match character {
            '\r' => column = 0,
            '\n' => lines.push(Vec::new()),
            '\u{1b}' => match sequence(&mut characters).as_str() {
                "[2K" => line.clear(),
                "[K" => line.truncate(column),
                _ => {}
            },
            other => {
                line.resize(line.len().max(column + 1), ' ');
                line[column] = other;
                column += 1;
            }
        }
    }
    let lines: Vec<String> = lines.into_iter().map(|line| line.into_iter().collect()).collect();
    lines.join("\n").trim().to_owned()
}

/// What follows an escape, up to the letter that ends it.
fn sequence(characters: &mut impl Iterator<Item = char>) -> String {
    let mut sequence = String::new();
    for character in characters {
        sequence.push(character);
        if character.is_ascii_alphabetic() {
            break;
        }
    }
    sequence
}
