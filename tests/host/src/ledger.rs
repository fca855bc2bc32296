//! The acknowledgements that a ledger in another process reads from our standard output.
//!
//! Each is 24 bytes, little-endian: `number:48 thread:8 kind:8` in one word, then the task's id in two,
//! low half first. It is one `write`, and a pipe takes writes of this size whole: what the ledger has
//! read was accepted before, whatever happens to this process.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

/// What was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    Start = 1,
    End = 2,
}

/// Tells the ledger.
#[derive(Debug)]
pub(crate) struct Ledger {
    pipe: Option<File>,
}

impl Ledger {
    /// Tells it over the standard output, or nothing to nobody.
    pub(crate) fn new(acknowledge: bool) -> io::Result<Self> {
        let duplicate = || io::stdout().as_fd().try_clone_to_owned().map(File::from);
        Ok(Self { pipe: acknowledge.then(duplicate).transpose()? })
    }

    /// Says that a record was accepted. A ledger that is gone ends the load.
    pub(crate) fn tell(&self, what: Accepted, thread: u32, number: u64, task: u128) {
        let Some(mut pipe) = self.pipe.as_ref() else { return };
        let mut bytes = [0; 24];
        let head = number << 16 | u64::from(thread & 0xFF) << 8 | what as u64;
        bytes[..8].copy_from_slice(&head.to_le_bytes());
        bytes[8..].copy_from_slice(&task.to_le_bytes());
        pipe.write_all(&bytes).expect("the ledger reads until we are dead");
    }
}
