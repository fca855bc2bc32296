//! The crash journal: shared-memory lanes that survive the death of the process that fills them.
//!
//! The only room with `unsafe`. It moves opaque records from the threads of a program to one drain and
//! knows nothing of what they mean.

mod batch;
mod bell;
mod blocks;
mod checksum;
pub mod clock;
mod dead;
mod error;
mod file;
mod follow;
mod frame;
mod header;
mod journal;
mod lane;
mod layout;
mod leftovers;
mod limit;
mod memory;
mod names;
mod outside;
mod prefetch;
pub mod process;
mod producer;
mod source;
mod spill;
mod sync;
mod tally;
mod tap;

pub use batch::{Batch, Frame, to_words};
pub use dead::{DeadJournal, find_journals, put_aside};
pub use error::JournalError;
pub use frame::GAP_KIND;
pub use journal::{Config, Journal, Standing};
pub use lane::Outgoing;
pub use leftovers::remove_leftovers;
pub use limit::without_size_signal;
pub use names::NAME_BYTES_MAX;
pub use outside::{DrainLock, OutsideJournal};
pub use producer::{Lane, OnFull};
pub use source::{Counters, DropReason, Name, Source};
pub use tally::Tally;
pub use tap::{Sightings, Tap};
