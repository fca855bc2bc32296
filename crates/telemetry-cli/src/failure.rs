//! What can go wrong, the exit code of it, and what to do about it.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use telemetry_core::settings::SettingsError;
use telemetry_export::ExportError;
use telemetry_journal::JournalError;
use telemetry_store::StoreError;

use crate::printer::Printer;

/// What a command answers with if nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    CheckFailed,
    /// As the program that was run.
    Exit(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::CheckFailed => Self::from(4),
            Outcome::Exit(code) => Self::from(code),
        }
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot print the answer")]
    Output { source: io::Error },
    #[error("cannot read from stdin")]
    Input { source: io::Error },
    #[error("{}: cannot be {doing}", path.display())]
    File { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("{doing} failed")]
    System { doing: &'static str, source: io::Error },
    /// The program of `run`.
    #[error("{}", program.display())]
    NotStarted { program: OsString, source: io::Error },
    #[error(transparent)]
    Export(ExportError),
    /// A file that is not what it should be.
    #[error("{message}")]
    Content { message: String, hint: &'static str },
    #[error("{question} Nobody is there to ask")]
    NobodyToAsk { question: String },
    /// A person said no.
    #[error("nothing was changed")]
    Declined,
    /// Something else was meant.
    #[error("{message}")]
    Usage { message: String, hint: &'static str },
    /// An id that could mean several things, and what these are, a line each.
    #[error("{wanted:?} could be any of\n{}", candidates.join("\n"))]
    Ambiguous { wanted: String, candidates: Vec<String> },
    #[error("{}: no session files here", folder.display())]
    NoSession { folder: PathBuf },
    /// There is nothing to watch.
    #[error("{what}")]
    NoJournal { what: String },
    /// Whoever read the data has enough of it.
    #[error("the pipe is closed")]
    ClosedPipe,
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => Self::Store(error),
            ExportError::Io(error) => error.into(),
            other => Self::Export(other),
        }
    }
}

/// Of writing to stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Output { source: error },
        }
    }
}

impl Failure {
    /// A line of a file that is not what it should be.
    pub(crate) fn content(path: &Path, error: &ExportError, hint: &'static str) -> Self {
        Self::Content { message: format!("{}: {error}", path.display()), hint }
    }

    /// Says what went wrong, and answers the exit code.
    pub(crate) fn report(&self, printer: &mut Printer) -> ExitCode {
        if matches!(self, Self::ClosedPipe) {
            return ExitCode::SUCCESS;
        }
        printer.error(&self.message(), self.hint());
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::NoSession { .. }
            | Self::Store(
                StoreError::NotFound { .. } | StoreError::Missing { .. } | StoreError::Empty { .. },
            )
            | Self::NoJournal { .. } => 3,
            Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound => 3,
            Self::Usage { .. } => 2,
            Self::NotStarted { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Self::NotStarted { .. } => 126,
            _ => 1,
        }
    }

    /// The message with that of its cause; what is behind that only repeats it in other words.
    fn message(&self) -> String {
        let cause = self.source().map(ToString::to_string);
        let message = self.to_string();
        match cause {
            Some(cause) if !message.contains(&cause) => format!("{message}: {cause}"),
            _ => message,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Store(error) => store_hint(error),
            Self::NoSession { .. } => {
                Some("session.enabled: true in settings.yaml makes programs write them; or name a file")
            }
            Self::NobodyToAsk { .. } => Some("--yes says yes"),
            Self::Content { hint, .. } | Self::Usage { hint, .. } => Some(hint),
            Self::NoJournal { .. } => Some("telemetry tail -f waits for a program that records"),
            Self::Ambiguous { .. } => Some("write more of the id"),
            _ => None,
        }
    }
}

fn store_hint(error: &StoreError) -> Option<&'static str> {
    let hint = match error {
        StoreError::Missing { .. } => {
            "go to the folder in which the program ran, or name the file with --database PATH"
        }
        StoreError::Empty { .. } => "run a program that records, then ask again",
        StoreError::Newer { .. } => "update telemetry: the file was written by a newer version",
        StoreError::Foreign { .. } => "name a database that telemetry made with --database PATH",
        StoreError::Damaged { .. } => {
            "telemetry doctor says more; the sqlite3 program can save what is readable: .recover"
        }
        StoreError::NotFound { wanted } if wanted == "@last" => "run a program that records, then ask again",
        StoreError::NotFound { wanted } if wanted.starts_with("@last~") => {
            "there are not so many runs; telemetry ls lists them"
        }
        StoreError::NotFound { .. } => "telemetry ls lists the workflows",
        StoreError::NotReadOnly { .. } => "this program never changes what was recorded",
        StoreError::TimedOut { .. } => "ask for less, or allow more time with --timeout SECONDS",
        StoreError::Query { .. } => "telemetry sql --help lists the views",
        _ => return None,
    };
    Some(hint)
}
