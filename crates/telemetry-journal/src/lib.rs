//! The crash journal: shared-memory lanes that survive the death of the process that fills them.
//!
//! The only room with `unsafe`. It moves opaque records from the threads of a program to one drain and
//! knows nothing of what they mean.
//!
//! Under `cfg(loom)` and `cfg(shuttle)` there is nothing but a lane and those who share it, for the model in `model.rs`.
#![cfg_attr(
    any(loom, shuttle),
    expect(dead_code, unused_imports, reason = "the model needs only a part of a lane")
)]

#[cfg(not(any(loom, shuttle)))]
mod backing;
mod batch;
#[cfg(not(any(loom, shuttle)))]
mod bell;
#[cfg(not(any(loom, shuttle)))]
mod blocks;
mod checksum;
pub mod clock;
#[cfg(not(any(loom, shuttle)))]
mod dead;
#[cfg(not(any(loom, shuttle)))]
mod error;
#[cfg(not(any(loom, shuttle)))]
pub mod failpoint;
#[cfg(not(any(loom, shuttle)))]
mod file;
mod follow;
mod frame;
#[cfg(not(any(loom, shuttle)))]
mod header;
#[cfg(not(any(loom, shuttle)))]
mod journal;
mod lane;
mod layout;
#[cfg(not(any(loom, shuttle)))]
mod leftovers;
#[cfg(not(any(loom, shuttle)))]
mod limit;
#[cfg(not(any(loom, shuttle)))]
mod memory;
#[cfg(all(test, any(loom, shuttle)))]
mod model;
#[cfg(not(any(loom, shuttle)))]
mod names;
#[cfg(not(any(loom, shuttle)))]
mod outside;
#[cfg(not(any(loom, shuttle)))]
mod place;
mod prefetch;
#[cfg(not(any(loom, shuttle)))]
pub mod process;
#[cfg(not(any(loom, shuttle)))]
mod producer;
mod source;
#[cfg(not(any(loom, shuttle)))]
mod spill;
mod sync;
mod tally;
#[cfg(not(any(loom, shuttle)))]
mod tap;

pub use batch::{Batch, Frame, to_words};
#[doc(hidden)]
#[cfg(not(any(loom, shuttle)))]
pub use dead::adopt;
#[cfg(not(any(loom, shuttle)))]
pub use dead::{DeadJournal, find_journals, put_aside};
#[cfg(not(any(loom, shuttle)))]
pub use error::JournalError;
pub use frame::GAP_KIND;
#[cfg(not(any(loom, shuttle)))]
pub use journal::{Config, Journal, Standing};
pub use lane::{Outgoing, Word};
#[cfg(not(any(loom, shuttle)))]
pub use leftovers::remove_leftovers;
#[cfg(not(any(loom, shuttle)))]
pub use limit::without_size_signal;
#[cfg(not(any(loom, shuttle)))]
pub use names::NAME_BYTES_MAX;
#[cfg(not(any(loom, shuttle)))]
pub use outside::{DrainLock, OutsideJournal};
#[cfg(not(any(loom, shuttle)))]
pub use place::{is_on_network, lanes_folder};
#[cfg(not(any(loom, shuttle)))]
pub use producer::{Lane, OnFull};
pub use source::{Counters, DropReason, Name, Source};
pub use tally::Tally;
#[cfg(not(any(loom, shuttle)))]
pub use tap::{Sightings, Tap};
