//! Formats in which records leave telemetry.
#![forbid(unsafe_code)]

pub mod chrome;
pub mod csv;
pub mod dot;
pub mod jsonl;
pub mod session;
pub mod table;
pub mod tree;

mod duration;
mod error;

pub use duration::duration;
pub use error::ExportError;
