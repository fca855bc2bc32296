//! What leaves one database and enters another: records with ids instead of the numbers of rows.
//!
//! Reading gives every record of some workflows, in an order in which nothing refers to what comes later. Writing
//! merges by id, so any number of imports of the same records gives the same views. What is already here and
//! complete stays as it is; what was open here and has ended there is taken over.
//!
//! The counters of a recorder are not passed on: they are about its records and the database that it wrote to.

mod number;
mod read;
mod records;
mod write;

pub use number::ExactNumber;
pub use records::{
    EventRecord, ExactJson, FingerprintRecord, GapRecord, LeftOutRecord, MachineRecord, Record,
    RecorderRecord, SessionRecord, SiteRecord, SnapshotRecord, TaskRecord, WorkflowRecord,
};
