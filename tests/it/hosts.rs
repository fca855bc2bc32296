//! A host that does what it is told, line by line, so that a test can break something between two lines.
//!
//! What it prints and how it ends must be the same with a recorder and without one.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use telemetry::{Recorder, task, workflow};

use crate::programs::Place;

/// How it ends, so that no other end is taken for a good one.
const EXIT_CODE: i32 = 7;

#[task(output = "y")]
fn step(x: u64) -> u64 {
    2 * x
}

/// Reads commands until there are no more: `work N`, `flush`, `close` (all descriptors, then opens files of its
/// own under their numbers and writes into them), `folder NAME`, `root FOLDER`, `user`
/// (nobody).
#[workflow]
pub(crate) fn obedient() -> i32 {
    let mut own_files = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.expect("the input is a pipe");
        let (command, argument) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match command {
            "work" => (0..argument.parse().expect("a number")).map(step).sum(),
            "flush" => flush(),
            "close" => {
                own_files = close_all();
                own_files.len() as u64
            }
            "folder" => std::env::set_current_dir(argument).map(|()| 0).expect("a folder"),
            "root" => std::os::unix::fs::chroot(argument).map(|()| 0).expect("the right to do so"),
            "user" => nix::unistd::setuid(nobody()).map(|()| 0).expect("the right to do so"),
            other => panic!("there is no command {other}"),
        };
        writeln!(std::io::stdout(), "{command}: {answer}").expect("somebody reads");
    }
    for (number, mut file) in own_files.into_iter().enumerate() {
        file.write_all(format!("the last line of {number}\n").as_bytes()).expect("the file is open");
    }
    EXIT_CODE
}

fn nobody() -> nix::unistd::Uid {
    nix::unistd::Uid::from_raw(65_534)
}

/// Waits for what was recorded. How much that was is nothing that a host prints.
fn flush() -> u64 {
    if let Ok(recorder) = Recorder::start_with_found_settings() {
        recorder.flush(Duration::from_secs(5));
    }
    0
}

/// Closes what it did not open, as a daemon does, and opens files that get the same numbers.
fn close_all() -> Vec<File> {
    let numbers: Vec<i32> = fs::read_dir("/proc/self/fd")
        .expect("the list of descriptors")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in numbers {
        // The one that listed them is closed already.
        let _ = nix::unistd::close(number);
    }
    let own = |number| {
        let mut file = File::create(format!("own-{number}")).expect("a file");
        file.write_all(format!("the first line of {number}\n").as_bytes()).expect("the file is open");
        file
    };
    (0..40).map(own).collect()
}

/// What the files of the host must hold in the end.
pub(crate) fn check_own_files(place: &Place) {
    for number in 0..40 {
        let text = fs::read_to_string(place.path(&format!("own-{number}"))).expect("a file of the host");
        assert_eq!(text, format!("the first line of {number}\nthe last line of {number}\n"));
    }
}

/// The host at work.
#[derive(Debug)]
pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What was said to it.
    said: Vec<String>,
    /// What it printed for that, the noise of the test harness in front aside.
    heard: String,
}

impl Host {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output, said: Vec::new(), heard: String::new() }
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says a line and waits until it is done.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it listens");
        writeln!(input, "{line}").expect("it listens");
        self.said.push(line.to_owned());
        let command = line.split(' ').next().expect("a word");
        loop {
            let mut answer = String::new();
            assert!(self.output.read_line(&mut answer).expect("text") > 0, "the host has ended");
            if answer.contains(&format!("{command}: ")) {
                return self.heard.push_str(&answer);
            }
        }
    }

    /// Lets it end, compares it with the same program without us, and answers our warnings.
    pub(crate) fn end(mut self, place: &Place) -> Vec<String> {
        drop(self.input.take());
        let output = self.child.wait_with_output().expect("the host ends");
        assert_eq!(output.status.code(), Some(EXIT_CODE), "{}", String::from_utf8_lossy(&output.stderr));
        let bare = bare(place, &self.said);
        assert_eq!(self.heard, bare, "what the host prints");
        let text = String::from_utf8_lossy(&output.stderr);
        let (ours, others): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with("telemetry: "));
        assert_eq!(others, Vec::<&str>::new());
        ours.into_iter().map(str::to_owned).collect()
    }
}

/// What the host prints without us.
fn bare(place: &Place, said: &[String]) -> String {
    let mut command = place.program("obedient");
    command.env("TELEMETRY_INSTRUMENTATION__ENABLED", "false");
    let mut host = Host::start(command);
    for line in said {
        host.say(line);
    }
    drop(host.input.take());
    assert_eq!(host.child.wait().expect("the host ends").code(), Some(EXIT_CODE));
    host.heard
}

/// Says why a test does nothing here.
#[expect(clippy::print_stderr, reason = "whoever runs the tests must know")]
pub(crate) fn say_skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// A file system in memory of its own, gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Mount<'a> {
    folder: &'a Path,
}

impl<'a> Mount<'a> {
    /// None, with a word, where this process may not mount.
    pub(crate) fn new(folder: &'a Path, options: &str) -> Option<Self> {
        fs::create_dir_all(folder).expect("a folder");
        let mounted = mount(&["-t", "tmpfs", "-o", options, "tmpfs"], folder);
        if !mounted {
            say_skipped("this process may not mount a file system");
        }
        mounted.then_some(Self { folder })
    }

    /// The folder again, by a file system that a program serves; none, with a word, where that cannot be.
    pub(crate) fn served(real: &Path, folder: &'a Path) -> Option<Self> {
        fs::create_dir_all(folder).expect("a folder");
        let served = Command::new("bindfs").arg(real).arg(folder).output();
        let is_served = served.is_ok_and(|output| output.status.success());
        if !is_served {
            say_skipped("there is no bindfs, or it may not mount here");
        }
        is_served.then_some(Self { folder })
    }

    /// Changes its options.
    pub(crate) fn change(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}")], self.folder), "it is mounted");
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.folder).status();
    }
}

fn mount(arguments: &[&str], folder: &Path) -> bool {
    let output = Command::new("mount").args(arguments).arg(folder).output();
    output.is_ok_and(|output| output.status.success())
}
