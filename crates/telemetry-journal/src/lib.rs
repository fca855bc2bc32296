//! The crash journal: shared-memory lanes that survive the death of the process that fills them.
//!
//! The only room with `unsafe`. It moves opaque records from the threads of a program to one drain and
//! knows nothing of what they mean.
//!
//! Under `cfg(loom)` there is nothing but a lane and those who share it, for the model in `model.rs`.
#![cfg_attr(loom, expect(dead_code, unused_imports, reason = "the model needs only a part of a lane"))]

#[cfg(not(loom))]
mod backing;
mod batch;
#[cfg(not(loom))]
mod bell;
#[cfg(not(loom))]
mod blocks;
mod checksum;
pub mod clock;
#[cfg(not(loom))]
mod dead;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod file;
mod follow;
mod frame;
#[cfg(not(loom))]
mod header;
#[cfg(not(loom))]
mod journal;
mod lane;
mod layout;
#[cfg(not(loom))]
mod leftovers;
#[cfg(not(loom))]
mod limit;
#[cfg(not(loom))]
mod memory;
#[cfg(all(test, loom))]
mod model;
#[cfg(not(loom))]
mod names;
#[cfg(not(loom))]
mod outside;
#[cfg(not(loom))]
mod place;
mod prefetch;
#[cfg(not(loom))]
pub mod process;
#[cfg(not(loom))]
mod producer;
mod source;
#[cfg(not(loom))]
mod spill;
mod sync;
mod tally;
#[cfg(not(loom))]
mod tap;

pub use batch::{Batch, Frame, to_words};
#[doc(hidden)]
#[cfg(not(loom))]
pub use dead::adopt;
#[cfg(not(loom))]
pub use dead::{DeadJournal, find_journals, put_aside};
#[cfg(not(loom))]
pub use error::JournalError;
pub use frame::GAP_KIND;
#[cfg(not(loom))]
pub use journal::{Config, Journal, Standing};
pub use lane::{Outgoing, Word};
#[cfg(not(loom))]
pub use leftovers::remove_leftovers;
#[cfg(not(loom))]
pub use limit::without_size_signal;
#[cfg(not(loom))]
pub use names::NAME_BYTES_MAX;
#[cfg(not(loom))]
pub use outside::{DrainLock, OutsideJournal};
#[cfg(not(loom))]
pub use place::{is_on_network, lanes_folder};
#[cfg(not(loom))]
pub use producer::{Lane, OnFull};
pub use source::{Counters, DropReason, Name, Source};
pub use tally::Tally;
#[cfg(not(loom))]
pub use tap::{Sightings, Tap};
