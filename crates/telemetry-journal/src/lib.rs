//! The crash journal: shared-memory lanes that survive the death of the process that fills them.
//!
//! The only room with `unsafe`. It moves opaque records from the threads of a program to one drain and
//! knows nothing of what they mean.

mod batch;
pub mod clock;
mod source;

pub use batch::{Batch, Frame, to_words};
pub use source::{Counters, DropReason, Name, Source};
