//! Programs that tests run in processes of their own: this test binary, called again.
//!
//! A program begins as `#[workflow]` does and ends with `exit`, so that its output and exit code are its
//! own. What the test harness prints before it is the same for each.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::bodies;

/// Names the program that this process is to be.
pub(crate) const PROGRAM: &str = "TELEMETRY_TEST_PROGRAM";

/// Is the program that the environment names; as a test, nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "the name of the program is no setting")]
#[expect(clippy::exit, reason = "the end of the program, before the test harness says anything")]
fn program() {
    let Some(name) = std::env::var_os(PROGRAM) else { return };
    std::process::exit(bodies::run(&name.to_string_lossy()));
}

/// A folder for a program, with what it leaves there.
#[derive(Debug)]
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder for the test") }
    }

    /// One that is on a disk although temporary files may be in memory.
    pub(crate) fn on_disk() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self { folder: folder.expect("a folder for the test") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path(".telemetry/provenance.db")
    }

    /// A program that works in this folder.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this test has a file"));
        command.args(["--quiet", "--exact", "--nocapture", "programs::program"]);
        command.current_dir(self.folder.path()).env(PROGRAM, name);
        // Not the settings of whoever runs the tests.
        command.env("XDG_CONFIG_HOME", self.folder.path());
        command
    }

    /// Runs a program to its end, which must be a good one.
    pub(crate) fn run(&self, name: &str) {
        succeed(self.program(name).output());
    }

    /// Starts a program and waits until it says that it is ready.
    pub(crate) fn start(&self, name: &str) -> Running {
        Running::start(self.program(name))
    }

    /// Brings in what dead programs left here.
    pub(crate) fn recover(&self) -> telemetry::store::Recovery {
        let mut store =
            telemetry::store::Store::open(&self.database(), telemetry::store::StoreOptions::default())
                .expect("the database opens");
        telemetry::store::recover(&mut store, &self.path(".telemetry/journal")).expect("recovery works")
    }

    /// The rows of a query, read by the `sqlite3` program.
    pub(crate) fn rows(&self, sql: &str) -> Value {
        let output = sqlite3(&self.database()).args(["-json", sql]).output();
        let text = succeed(output);
        if text.is_empty() { Value::Array(Vec::new()) } else { serde_json::from_str(&text).expect("JSON") }
    }

    /// The rows of a query as text, one a line, columns separated by bars.
    pub(crate) fn table(&self, sql: &str) -> String {
        succeed(sqlite3(&self.database()).args(["-nullvalue", "null", sql]).output())
    }
}

/// `sqlite3`, reading only.
pub(crate) fn sqlite3(database: &Path) -> Command {
    let mut command = Command::new("sqlite3");
    command.arg("-readonly").arg(database);
    command
}

/// The standard output of a program that must have ended well.
pub(crate) fn succeed(output: std::io::Result<Output>) -> String {
    let output = output.expect("the program starts");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{}: {complaints}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// A program that runs until it is told to end.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut running = Self { child };
        running.wait_until_ready();
        running
    }

    fn wait_until_ready(&mut self) {
        let output = self.child.stdout.as_mut().expect("its output is a pipe");
        let mut lines = BufReader::new(output).lines();
        let is_ready = lines.any(|line| line.is_ok_and(|line| line.ends_with(READY)));
        assert!(is_ready, "the program ended before it was ready");
    }

    /// Kills it as nothing else can.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("the program runs");
        self.child.wait().expect("the program is dead");
    }

    /// Lets it end.
    pub(crate) fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("the program ends").success());
    }
}

const READY: &str = "ready";

/// In a program: says that it is ready.
pub(crate) fn say_ready() {
    let mut output = std::io::stdout();
    writeln!(output, "\n{READY}").and_then(|()| output.flush()).expect("somebody waits for this");
}

/// In a program: waits until it may end.
pub(crate) fn wait_for_end() {
    std::io::stdin().read_to_end(&mut Vec::new()).expect("the input is a pipe");
}
