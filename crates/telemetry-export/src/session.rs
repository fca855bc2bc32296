//! Session files: a line for each work packet while a workflow runs, and its figures at the end.
//!
//! A session is a workflow whose settings say `session.enabled`. Its packets are the tasks of the workflow
//! that have ended; what a packet says about itself comes from its metadata. `docs/sessions.md` lists the
//! columns, the figures, and where each comes from.
//!
//! The [`Writer`] follows a drain: after each pass it appends the packets that ended. Whatever goes wrong
//! with a file, and whenever the process is killed, [`complete`] makes both files again from the database,
//! which is why nothing here must be exactly once.

mod csv;
mod error;
mod files;
mod summary;
mod writer;

pub use csv::{HEADER, line};
pub use error::SessionError;
pub use files::{complete, complete_those_of_the_dead};
pub use summary::{json, text};
pub use writer::{Due, Writer};
