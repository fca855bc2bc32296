//! Formats in which records leave telemetry.
#![forbid(unsafe_code)]

pub mod session;
pub mod table;
pub mod tree;

mod duration;

pub use duration::duration;
