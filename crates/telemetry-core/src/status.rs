//! How a task or a workflow stands, and in which way one failed.

use crate::words::words;

words! {
    /// How a task or a workflow stands.
    Status {
        /// Handed to somebody who will run it.
        Submitted = 1 "SUBMITTED",
        /// Waiting for its turn.
        Waiting = 2 "WAITING",
        /// Started and not ended.
        Running = 3 "RUNNING",
        /// Ended as it should.
        Finished = 4 "FINISHED",
        /// Ended with an error or a panic; see [`ErrorKind`].
        Error = 5 "ERROR",
        /// Ended, but nobody said how.
        Unknown = 6 "UNKNOWN",
        /// A future that was dropped before it was done.
        Cancelled = 7 "CANCELLED",
        /// Open when its process ended, in any way.
        Interrupted = 8 "INTERRUPTED",
    }
}

words! {
    /// In which way a task with status [`Status::Error`] failed.
    ErrorKind {
        /// It returned `Err`.
        Err = 1 "err",
        /// It panicked.
        Panic = 2 "panic",
    }
}
