//! What the program prints, kept in files while it goes where it went.
//!
//! The bytes are those of the program, unchanged: nothing is hidden in them.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

const CHUNK_BYTES: usize = 16 << 10;

/// The files of a run, and the threads that fill them.
#[derive(Debug)]
pub(super) struct Output {
    stdout: PathBuf,
    stderr: PathBuf,
    threads: Vec<JoinHandle<()>>,
}

impl Output {
    /// Files beside the database; none without a database, or a folder for them.
    pub(super) fn beside(database: Option<&Path>, workflow_id: &str) -> Option<Self> {
        let folder = database?.parent()?.join("output");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
        let file = |stream: &str| folder.join(format!("{workflow_id}.{stream}"));
        Some(Self { stdout: file("stdout"), stderr: file("stderr"), threads: Vec::new() })
    }

    /// What the program prints comes to us first.
    pub(super) fn connect(command: &mut Command) {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    pub(super) fn files(&self) -> [(&'static str, &Path); 2] {
        [("stdout", &self.stdout), ("stderr", &self.stderr)]
    }

    /// Begins to pass on and to keep what the program prints.
    pub(super) fn follow(&mut self, child: &mut Child) {
        if let Some(from) = child.stdout.take() {
            let file = create(&self.stdout);
            self.threads.push(std::thread::spawn(move || pass_on(from, file, io::stdout())));
        }
        if let Some(from) = child.stderr.take() {
            let file = create(&self.stderr);
            self.threads.push(std::thread::spawn(move || pass_on(from, file, io::stderr())));
        }
    }

    /// Waits for the last of it.
    pub(super) fn finish(&mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn create(path: &Path) -> Option<File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok()
}

/// Ends with the program's output, or with whoever takes it. A file without room does not hold it up.
fn pass_on(mut from: impl Read, mut file: Option<File>, mut to: impl Write) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let bytes = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => &chunk[..length],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        if file.as_mut().is_some_and(|file| file.write_all(bytes).is_err()) {
            file = None;
        }
        // As without us: who writes to a closed pipe is told so.
        if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            break;
        }
    }
}
