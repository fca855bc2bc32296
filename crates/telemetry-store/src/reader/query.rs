//! Questions in SQL, asked by people and programs that we do not know.

use std::time::Duration;

use rusqlite::{ErrorCode, params_from_iter};
use serde::Serialize;

use super::Reader;
use super::cell::Cell;
use crate::error::StoreError;

/// How much a query may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// How long it may run.
    pub time_ms_max: u64,
    /// How many rows it may give; more are cut.
    pub rows_max: usize,
    /// How many bytes of values it may give; more are cut.
    pub bytes_max: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { time_ms_max: 30_000, rows_max: 100_000, bytes_max: 256 << 20 }
    }
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Whether there was more than the limits allow.
    pub is_cut: bool,
}

impl Reader {
    /// Runs one statement that only reads.
    ///
    /// ```
    /// # use telemetry_store::{QueryLimits, Reader, Store};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("provenance.db");
    /// # let _store = Store::open(&path, Default::default())?;
    /// let reader = Reader::open(&path)?;
    /// let table = reader.query("select count(*) as calls from tasks", &[], QueryLimits::default())?;
    /// assert_eq!(table.columns, ["calls"]);
    /// assert!(reader.query("drop view tasks", &[], QueryLimits::default()).is_err());
    /// # Ok(()) }
    /// ```
    pub fn query(&self, sql: &str, parameters: &[Cell], limits: QueryLimits) -> Result<Table, StoreError> {
        let limit = Duration::from_millis(limits.time_ms_max);
        let table = self.deadline.within(limit, || self.run(sql, parameters, limits));
        table.map_err(|source| match source.sqlite_error_code() {
            Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
                StoreError::NotReadOnly { source }
            }
            Some(ErrorCode::OperationInterrupted) => StoreError::TimedOut { limit_ms: limits.time_ms_max },
            _ => StoreError::Query { source },
        })
    }

    fn run(&self, sql: &str, parameters: &[Cell], limits: QueryLimits) -> rusqlite::Result<Table> {
        let mut statement = self.connection.prepare(sql)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut table = Table { columns, ..Table::default() };
        let mut bytes = 0;
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            if table.rows.len() >= limits.rows_max || bytes > limits.bytes_max {
                table.is_cut = true;
                break;
            }
            let cells: Vec<Cell> =
                (0..table.columns.len()).map(|index| row.get(index)).collect::<Result<_, _>>()?;
            bytes += cells.iter().map(Cell::size).sum::<usize>();
            table.rows.push(cells);
        }
        Ok(table)
    }
}
