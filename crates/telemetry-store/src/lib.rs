//! The store of telemetry: schema, drain, recovery, readers.
//!
//! The only room with SQL. Records come out of a journal ([`Drain`]) and are merged into base tables;
//! people read views, with [`Reader`] or any client of the file.
#![forbid(unsafe_code)]

mod drain;
mod error;
mod exchange;
mod file;
mod id_text;
mod merge;
mod outside;
mod reader;
mod recovery;
mod retention;
mod schema;
mod session;
mod store;

pub use drain::{Drain, Pass};
pub use error::StoreError;
pub use exchange::{
    EventRecord, ExactJson, ExactNumber, FingerprintRecord, GapRecord, LeftOutRecord, MachineRecord, Record,
    RecorderRecord, SessionRecord, SiteRecord, SnapshotRecord, TaskRecord, WorkflowRecord,
};
pub use merge::Applied;
pub use outside::{OutsideDrain, OutsidePass};
pub use reader::{
    ActivityRow, CallNode, Calls, Cell, CurveRow, DerivationRow, FailureGroup, Found, HealthRow, Inspection,
    JsonText, Lineage, LineageLimits, MeasuredRow, Order, Orphans, ProcessRow, QueryLimits, Reader,
    RelatedTask, Resources, SpanOfTime, SpanRow, StatusCount, Table, TaskCount, TaskDetail, TaskFilter,
    TaskRow, ThreadRow, TreeLimits, TreeRow, View, WorkflowFilter, WorkflowRow, inspect, sqlite_version,
};
pub use reader::{FileRow, FlowRow, GpuUse, Reading, Run, RunCall, ValuesRow};
pub use recovery::{Recovery, recover};
pub use retention::{Expired, Retention, RetentionPlan, parse_age, parse_size};
pub use schema::VERSION as SCHEMA_VERSION;
pub use session::{Ended, PacketRow, Session, SessionSummaryRow};
pub use store::{Durability, Store, StoreOptions};
