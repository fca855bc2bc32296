//! The SQLite store of telemetry: schema, drain, recovery, readers.
//!
//! The only room with SQL. Records come out of a journal ([`Drain`]) and are merged into base tables;
//! people read views, with [`Reader`] or any SQLite client.
#![forbid(unsafe_code)]

mod drain;
mod error;
mod file;
mod id_text;
mod merge;
mod schema;
mod store;

pub use drain::{Drain, Pass};
pub use error::StoreError;
pub use merge::Applied;
pub use schema::VERSION as SCHEMA_VERSION;
pub use store::{Durability, Store, StoreOptions};
