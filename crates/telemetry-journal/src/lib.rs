//! The crash journal: shared-memory lanes that survive the death of the process that fills them.
//!
//! The only room with `unsafe`. It moves opaque records from the threads of a program to one drain and
//! knows nothing of what they mean.

mod backing;
mod batch;
mod bell;
mod checksum;
pub mod clock;
mod dead;
mod error;
mod file;
mod frame;
mod header;
mod journal;
mod lane;
mod layout;
mod leftovers;
mod limit;
mod memory;
mod names;
mod place;
mod prefetch;
pub mod process;
mod producer;
mod source;
mod spill;
mod tally;

pub use batch::{Batch, Frame, to_words};
#[doc(hidden)]
pub use dead::adopt;
pub use dead::{DeadJournal, find_journals, put_aside};
pub use error::JournalError;
pub use frame::GAP_KIND;
pub use journal::{Config, Journal};
pub use lane::Outgoing;
pub use leftovers::remove_leftovers;
pub use limit::without_size_signal;
pub use names::NAME_BYTES_MAX;
pub use place::{is_on_network, lanes_folder};
pub use producer::{Lane, OnFull};
pub use source::{Counters, DropReason, Name, Source};
pub use tally::Tally;
