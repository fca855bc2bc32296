//! The error that travels through a user's `Serialize`.

use super::formatted::Formatted;
use std::fmt::{self, Display};

use crate::redaction::WINDOW_BYTES;

/// Messages of a user's `Serialize` are kept up to this length; when they are written, less of them is.
const MESSAGE_BYTES_MAX: usize = 1024 + WINDOW_BYTES;

#[derive(Debug)]
pub(super) enum Error {
    /// The writer ends the user's iteration; it knows itself why.
    Stopped,
    /// The user's `Serialize` gave up.
    Failed(Box<str>),
}

impl Error {
    pub(super) fn message(&self) -> &str {
        match self {
            Self::Stopped => "stopped at the limit of what is recorded",
            Self::Failed(message) => message,
        }
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

impl std::error::Error for Error {}

impl serde::ser::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        let mut bytes = Vec::new();
        Formatted::new(&mut bytes, MESSAGE_BYTES_MAX, usize::MAX).write_raw(&message);
        Self::Failed(String::from_utf8_lossy(&bytes).into())
    }
}
