//! What runs on the caller's thread: records, ids, settings, context, capture and encoder.
//!
//! Users depend on the crate `telemetry`, which re-exports what they need from here.
#![forbid(unsafe_code)]

pub mod capture;
pub mod encoder;
pub mod event;
pub mod file;
pub mod glob;
pub mod id;
pub mod inspect;
pub mod level;
pub mod model;
pub mod record;
pub mod redaction;
pub mod runtime;
pub mod sensor;
pub mod settings;
pub mod status;
pub mod tap;
pub mod track;
pub mod value;
mod words;
