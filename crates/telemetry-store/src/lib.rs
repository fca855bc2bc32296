//! The store of telemetry: schema, drain, recovery, readers.
//!
//! The only room with SQL. Records come out of a journal ([`Drain`]) and are merged into base tables;
//! people read views, with [`Reader`] or any client of the file.
#![forbid(unsafe_code)]

mod drain;
mod error;
mod file;
mod id_text;
mod merge;
mod outside;
mod reader;
mod recovery;
mod schema;
mod store;

pub use drain::{Drain, Pass};
pub use error::StoreError;
pub use merge::Applied;
pub use outside::{OutsideDrain, OutsidePass};
pub use reader::{
    ActivityRow, Cell, DerivationRow, Found, HealthRow, Inspection, JsonText, Lineage, LineageLimits, Order,
    QueryLimits, Reader, RelatedTask, StatusCount, Table, TaskDetail, TaskFilter, TaskRow, TreeRow,
    WorkflowFilter, WorkflowRow, inspect, sqlite_version,
};
pub use recovery::{Recovery, recover};
pub use schema::VERSION as SCHEMA_VERSION;
pub use store::{Durability, Store, StoreOptions};
