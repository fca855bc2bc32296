//! Readers: a second, read-only connection, which works while programs write.
//!
//! Everything a reader runs passes an authorizer that knows only reading, and a clock that ends a
//! query which takes too long.

mod calls;
mod cell;
mod copy;
mod filter;
mod guard;
mod inspect;
mod lineage;
mod query;
mod resolve;
mod rows;
mod run;
mod stream;
mod summary;
mod tasks;
mod trace;
mod tree;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Params};

pub use calls::{CallNode, Calls, FailureGroup, TreeLimits};
pub use cell::{Cell, JsonText};
pub use filter::{Order, TaskFilter, WorkflowFilter};
pub use inspect::{Inspection, inspect, sqlite_version};
pub use lineage::{Lineage, LineageLimits};
pub use query::{QueryLimits, Table};
pub use resolve::Found;
pub use rows::{ActivityRow, DerivationRow, HealthRow, RelatedTask, StatusCount, TaskRow, WorkflowRow};
pub use run::{FileRow, FlowRow, GpuUse, Reading, Run, RunCall, ValuesRow};
pub use stream::View;
pub use summary::{Orphans, Resources, TaskCount};
pub use tasks::TaskDetail;
pub use trace::{CurveRow, MeasuredRow, ProcessRow, SpanOfTime, SpanRow, ThreadRow};
pub use tree::TreeRow;

use crate::error::StoreError;
use crate::{file, schema};
use guard::Deadline;
pub(crate) use rows::{Row, row};

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// A statement longer than this is no question of a person.
const STATEMENT_BYTES_MAX: i32 = 1 << 20;
/// The largest text or blob that a query may make: far above any cell, far below the memory of a machine.
const VALUE_BYTES_MAX: i32 = 1 << 26;

/// A database that is read.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    connection: Connection,
    deadline: Deadline,
}

impl Reader {
    /// Opens the database for reading; refuses a file that is missing, damaged, not ours or too new.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let alone = file::alone();
        let mut connection = connect(path)?;
        let deadline = Deadline::default();
        guard::install(&mut connection, &deadline).map_err(|source| opening(path, source))?;
        drop(alone);
        Ok(Self { path: path.to_owned(), connection, deadline })
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The workflows that pass the filter.
    pub fn workflows(&self, filter: &WorkflowFilter) -> Result<Vec<WorkflowRow>, StoreError> {
        let (sql, parameters) = filter.statement();
        self.rows(&sql, rusqlite::params_from_iter(parameters))
    }

    /// One workflow.
    pub fn workflow(&self, workflow_id: &str) -> Result<WorkflowRow, StoreError> {
        let found = self.rows("select * from workflows where workflow_id = ?1", (workflow_id,))?;
        found.into_iter().next().ok_or_else(|| StoreError::NotFound { wanted: workflow_id.to_owned() })
    }

    /// The activities of a workflow, the most expensive one first.
    pub fn activities(&self, workflow_id: &str) -> Result<Vec<ActivityRow>, StoreError> {
        self.rows(
            "select * from activities where workflow_id = ?1 order by total_ns desc, activity_id",
            (workflow_id,),
        )
    }

    /// How many tasks of a workflow stand how.
    pub fn status_counts(&self, workflow_id: &str) -> Result<Vec<StatusCount>, StoreError> {
        self.rows(
            "select status, count(*) from tasks where workflow_id = ?1 group by status order by 2 desc, 1",
            (workflow_id,),
        )
    }

    /// The counters of every recorder.
    pub fn health(&self) -> Result<Vec<HealthRow>, StoreError> {
        self.rows("select * from health order by recorder", ())
    }

    fn rows<T: Row>(&self, sql: &str, parameters: impl Params) -> Result<Vec<T>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(parameters, T::read)?.collect::<Result<Vec<T>, _>>()
        };
        read().map_err(|source| self.failed(source))
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn failed(&self, source: rusqlite::Error) -> StoreError {
        schema::failed(&self.path, "reading", source)
    }
}

/// A database in a folder that nobody may write to has no log to share; it is read as it is.
fn connect(path: &Path) -> Result<Connection, StoreError> {
    match connect_as(path, "mode=ro") {
        Err(StoreError::Sqlite { source, .. }) if is_unopenable(&source) => {
            connect_as(path, "mode=ro&immutable=1")
        }
        other => other,
    }
}

fn is_unopenable(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen)
}

fn connect_as(path: &Path, query: &str) -> Result<Connection, StoreError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(uri(path, query), flags).map_err(|source| opening(path, source))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|source| opening(path, source))?;
    if schema::check(&connection, path)? {
        return Err(StoreError::Empty { path: path.to_owned() });
    }
    connection
        .set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, STATEMENT_BYTES_MAX)
        .map_err(|source| opening(path, source))?;
    connection
        .set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)
        .map_err(|source| opening(path, source))?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0).map_err(|source| opening(path, source))?;
    Ok(connection)
}

/// A number that only a connection without the guard may ask for.
pub(crate) fn unguarded_number(path: &Path, sql: &str) -> Result<i64, StoreError> {
    let number = connect(path)?.query_row(sql, (), |row| row.get(0));
    number.map_err(|source| schema::failed(path, "reading", source))
}

fn opening(path: &Path, source: rusqlite::Error) -> StoreError {
    schema::failed(path, "opening the database", source)
}

/// A `file:` address; what has a meaning in one is written as a number.
fn uri(path: &Path, query: &str) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let escaped: String = bytes.iter().map(|&byte| escape(byte)).collect();
    format!("file:{escaped}?{query}")
}

fn escape(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    }
}
