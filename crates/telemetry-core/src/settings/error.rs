//! What is wrong with settings, written for the person who has to mend them.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why settings could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read settings file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There are mistakes in the file or in the environment.
    #[error("{}", listed(problems, *left_out))]
    Invalid {
        /// The mistakes, in the order of their lines, then those of the environment.
        problems: Vec<Problem>,
        /// How many more there are.
        left_out: usize,
    },
}

impl SettingsError {
    /// The mistakes; empty when the file could not be read at all.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Invalid { problems, .. } => problems,
        }
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What stands there.
    pub quote: Option<String>,
    /// What is wrong with it.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Where a mistake is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a settings file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where one can be named.
        line: Option<usize>,
    },
    /// In an environment variable.
    Variable {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line: Some(line) } => write!(formatter, "{}:{line}", path.display()),
            Self::File { path, line: None } => write!(formatter, "{}", path.display()),
            Self::Variable { name } => formatter.write_str(name),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)?;
        if let Some(quote) = &self.quote {
            match &self.place {
                Place::File { line: Some(line), .. } => write!(formatter, "\n{line:>5} | {quote}")?,
                _ => write!(formatter, "\n      | {quote}")?,
            }
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

fn listed(problems: &[Problem], left_out: usize) -> String {
    let mut texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if left_out > 0 {
        texts.push(format!("and {left_out} more"));
    }
    texts.join("\n\n")
}
