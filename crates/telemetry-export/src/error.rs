//! Why something could not be passed on, or taken in.

use std::io;
use std::ops::ControlFlow;

use telemetry_store::StoreError;

/// Why something could not be passed on, or taken in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The database could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be written or read.
    #[error("cannot write or read")]
    Io(#[from] io::Error),
    /// Something could not be drawn.
    #[error("cannot draw a plot: {why}")]
    Plot {
        /// What the drawing says.
        why: String,
    },
    /// A line is not what an export writes.
    #[error("line {line}: {why}")]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// Keeps the first error of a writer that is called for each row, and ends the rows with it.
#[derive(Debug, Default)]
pub(crate) struct FirstError(Option<io::Error>);

impl FirstError {
    pub(crate) fn keep(&mut self, result: io::Result<()>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.0.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    pub(crate) fn finish(self) -> Result<(), ExportError> {
        self.0.map_or(Ok(()), |error| Err(error.into()))
    }
}
