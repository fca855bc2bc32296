//! `top` on a terminal, with a program that records while it is watched, and in a pipe.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{Termios, tcgetattr};
use nix::unistd::Pid;
use telemetry::{Recorder, Settings, Task, Workflow};

use crate::fixture::command;

/// Only in a folder with this file does the child record.
const MARK: &str = "work-here";
/// A screen on which nothing appears for so long waits for something that does not come.
const PATIENCE_MS: u16 = 30_000;

/// Not a test of its own: the program that is watched. It records until its input ends.
#[test]
fn works_where_it_is_told_to() {
    if !Path::new(MARK).exists() {
        return;
    }
    let mut settings = Settings::default();
    settings.store.path = Path::new(".telemetry/provenance.db").to_owned();
    settings.journal.name = Some("worker".to_owned());
    let recorder = Recorder::start(settings).unwrap();
    let workflow = Workflow::start("nightly");
    let train = Task::start("train").used("seed", 7);
    // Everything is written, and nothing more happens until it is told to go on.
    assert_eq!(recorder.flush(Duration::from_secs(10)).remaining, 0);
    writeln!(std::io::stdout(), "\nready").unwrap();
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    let mut number = 0;
    while input.read_line(&mut line).unwrap_or(0) > 0 {
        train.run(|| {
            for _ in 0..10 {
                number += 1;
                Task::start("step").used("number", number).end();
            }
            Task::start("save").used("path", "model.bin").fail("no space\nleft");
        });
        line.clear();
    }
    train.end();
    workflow.end();
}

/// A program that works when it is told to.
struct Worker {
    child: Child,
    orders: Option<ChildStdin>,
    /// Kept, so that the child may go on printing.
    _output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(folder: &Path) -> Self {
        fs::write(folder.join(MARK), "").unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "top::works_where_it_is_told_to", "--nocapture"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        assert!(output.by_ref().lines().map_while(Result::ok).any(|line| line == "ready"));
        Self { child, orders, _output: output }
    }

    /// Ten steps, and one that fails.
    fn work(&mut self) {
        self.orders.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.child.wait();
    }
}

/// The program on a terminal that is its own, as a person sees it.
struct Screen {
    child: Child,
    master: File,
    slave: OwnedFd,
    before: Termios,
    parser: vt100::Parser,
}

impl Screen {
    fn open(folder: &Path, arguments: &[&str]) -> Self {
        let size = Winsize { ws_row: 30, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        let before = tcgetattr(&terminal.slave).unwrap();
        // A session of its own, so that the terminal tells it of a new size.
        let mut command = Command::new("setsid");
        command.args(["-c", "env", "--default-signal", env!("CARGO_BIN_EXE_telemetry"), "top"]);
        command.args(arguments).current_dir(folder).env_clear();
        command.envs([("TERM", "xterm"), ("TZ", "UTC"), ("PATH", "/usr/bin:/bin")]);
        let end = || terminal.slave.try_clone().unwrap();
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let parser = vt100::Parser::new(size.ws_row, size.ws_col, 0);
        Self { child, master: File::from(terminal.master), slave: terminal.slave, before, parser }
    }

    fn type_keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Reads what is drawn until the screen is as it should be.
    fn wait_for(&mut self, what: &str, is_there: impl Fn(&vt100::Screen) -> bool) {
        let begun = Instant::now();
        while !is_there(self.parser.screen()) {
            let patience = Duration::from_millis(PATIENCE_MS.into());
            assert!(begun.elapsed() < patience && self.read(), "waiting for {what} on\n{}", self.text());
        }
    }

    fn wait_for_text(&mut self, text: &str) {
        self.wait_for(text, |screen| screen.contents().contains(text));
    }

    /// Takes what was drawn; false if nothing was for long, or nobody draws any more.
    fn read(&mut self) -> bool {
        let mut waited = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        let mut chunk = [0; 4096];
        if poll(&mut waited, PATIENCE_MS).unwrap() == 0 {
            return false;
        }
        let Ok(length @ 1..) = self.master.read(&mut chunk) else { return false };
        self.parser.process(&chunk[..length]);
        true
    }

    fn resize(&mut self, rows: u16, columns: u16) {
        self.parser.screen_mut().set_size(rows, columns);
        let mut stty = Command::new("stty");
        stty.args(["rows", &rows.to_string(), "cols", &columns.to_string()]);
        assert!(stty.stdin(self.slave.try_clone().unwrap()).status().unwrap().success());
    }

    /// Waits for the end, and makes sure that the terminal is as it was.
    fn end(mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        assert_eq!(tcgetattr(&self.slave).unwrap(), self.before, "raw mode, echo and the rest");
        drop(self.slave);
        let mut rest = Vec::new();
        let _ = self.master.read_to_end(&mut rest);
        self.parser.process(&rest);
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
        assert_eq!(screen.contents(), "", "nothing is left on the screen");
        status
    }
}

/// The numbers of an activity as they stand on the screen: running, calls, errors.
fn numbers(screen: &vt100::Screen, activity: &str) -> Option<(u64, u64, u64)> {
    let contents = screen.contents();
    let line = contents.lines().find(|line| line.split_whitespace().next() == Some(activity))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |word: Option<&&str>| word?.parse().ok();
    Some((number(words.get(1))?, number(words.get(2))?, number(words.last())?))
}

#[test]
fn shows_what_a_program_does_until_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut screen = Screen::open(folder.path(), &["--interval", "100ms"]);
    screen.wait_for_text("Nothing is running in ");
    let mut worker = Worker::start(folder.path());
    screen.wait_for_text("1 program runs");
    screen.wait_for_text("worker  nightly for ");
    screen.wait_for("an open task", |screen| numbers(screen, "train") == Some((1, 0, 0)));
    for round in 1..=3 {
        worker.work();
        let seen = (0, round * 10, 0);
        screen.wait_for("ten more steps", |screen| numbers(screen, "step") == Some(seen));
        screen.wait_for("an error", |screen| numbers(screen, "save") == Some((0, round, round)));
    }

    // Sorted by name, filtered, opened: the failed task as the database has it.
    screen.type_keys("n");
    screen.wait_for_text("activity▾");
    let order = |contents: &str| ["save", "step", "train"].map(|name| contents.find(&format!("\n{name} ")));
    assert!(order(&screen.text()).is_sorted(), "{}", screen.text());
    screen.type_keys("/SAV");
    screen.wait_for("the filter", |screen| {
        !screen.contents().contains("step") && numbers(screen, "save").is_some()
    });
    screen.type_keys("\r\r");
    screen.wait_for_text("Tasks of save: running [latest] slowest failed");
    screen.wait_for_text("no space⏎left");
    screen.type_keys("\r");
    screen.wait_for_text("model.bin");
    screen.wait_for_text("Called by");
    screen.type_keys("?");
    screen.wait_for_text("sort by calls, rate, time, errors, name");
    screen.type_keys("?");
    screen.wait_for_text("model.bin");
    screen.type_keys("\u{1b}");
    screen.wait_for_text("Tasks of save");
    screen.type_keys("\u{1b}");
    screen.wait_for_text("only /SAV");
    screen.type_keys("\u{1b}");
    screen.wait_for("all activities", |screen| numbers(screen, "step").is_some());

    screen.resize(12, 90);
    screen.wait_for("a smaller screen", |screen| {
        let contents = screen.contents();
        numbers(screen, "train") == Some((1, 0, 0))
            && contents.lines().nth(11).is_some_and(|line| line.starts_with("sort:"))
    });
    screen.resize(3, 10);
    screen.wait_for_text("telemetry");
    screen.resize(40, 130);
    screen.wait_for("a larger screen", |screen| screen.contents().lines().count() == 40);

    worker.kill();
    screen.wait_for_text("nothing is running");
    screen.wait_for("what was open is not any more", |screen| numbers(screen, "train") == Some((0, 0, 0)));
    screen.wait_for_text("has ended");
    screen.type_keys("/train\r\r\t\t");
    screen.wait_for_text("INTERRUPTED");
    screen.type_keys("q");
    assert!(screen.end().success());
}

#[test]
fn the_terminal_is_as_it_was_whatever_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let mut screen = Screen::open(folder.path(), &[]);
        screen.wait_for_text("Nothing is running in ");
        assert!(screen.parser.screen().alternate_screen() && screen.parser.screen().hide_cursor());
        screen
    };
    for keys in ["q", "\u{3}", "?q", "/text\u{3}"] {
        let mut screen = open();
        screen.type_keys(keys);
        assert!(screen.end().success(), "{keys:?}");
    }
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let screen = open();
        kill(Pid::from_raw(screen.child.id().cast_signed()), signal).unwrap();
        assert_eq!(screen.end().signal(), Some(signal as i32));
    }
}

#[test]
fn several_programs_are_shown_together_or_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut workers = [Worker::start(folder.path()), Worker::start(folder.path())];
    workers.iter_mut().for_each(Worker::work);
    let text = |arguments: &[&str]| {
        let arguments = [&["top", "--once", "--interval", "50ms"], arguments].concat();
        let output = command(&arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let steps = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("step "));
        line.and_then(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok())
    };
    let begun = Instant::now();
    while steps(&text(&[])) != Some(20) {
        assert!(begun.elapsed() < Duration::from_millis(PATIENCE_MS.into()), "{}", text(&[]));
    }
    assert!(text(&[]).contains("2 programs run"));
    assert_eq!((steps(&text(&["nightly"])), steps(&text(&["worker"]))), (Some(20), Some(20)));
    assert_eq!(steps(&text(&[&workers[0].child.id().to_string()])), Some(10));
    assert_eq!(steps(&text(&["nobody"])), None);
    // What began before anybody looked is known from the database.
    let last = text(&["@last"]);
    assert_eq!(steps(&last), Some(10));
    assert_eq!(last.lines().filter(|line| line.starts_with("train ")).count(), 1, "{last}");
    // Without a terminal it needs no --once.
    let piped = command(&["top", "--interval", "50ms"]).current_dir(folder.path()).output().unwrap();
    assert!(String::from_utf8(piped.stdout).unwrap().starts_with("telemetry top  "));
    for wrong in ["1ms", "2h", "x"] {
        let refused = command(&["top", "--interval", wrong]).current_dir(folder.path()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
    }
}
