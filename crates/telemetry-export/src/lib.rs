//! Formats in which records leave telemetry.
//!
//! What only the program `telemetry` needs, and not a program that records, is behind the feature `insight`.
#![forbid(unsafe_code)]

#[cfg(feature = "insight")]
pub mod analysis;
pub mod chrome;
#[cfg(feature = "insight")]
pub mod comparison;
#[cfg(feature = "insight")]
pub mod critical;
pub mod csv;
pub mod dot;
pub mod jsonl;
#[cfg(feature = "insight")]
pub mod plot;
#[cfg(feature = "insight")]
pub mod report;
pub mod session;
#[cfg(feature = "insight")]
pub mod statistics;
pub mod table;
#[cfg(feature = "insight")]
pub mod timeline;
pub mod tree;

mod duration;
mod error;

pub use duration::duration;
pub use error::ExportError;
