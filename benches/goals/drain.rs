//! Goal 6: the drain against bare rusqlite, by the CPU time of the writing thread.
//!
//! Our side takes tasks out of a journal and merges them. The other side has the very rows that came of
//! it, as ready values, and writes them by a plain prepared INSERT into a second file with the same
//! tables, indexes and pragmas, as many rows a transaction.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use telemetry::Settings;
use telemetry_core::record::ProcessName;
use telemetry_core::runtime::{Recording, RecordingOptions, StartedWorkflow};
use telemetry_journal::{Config, Journal, OnFull};
use telemetry_store::{Drain, Store, StoreOptions};

use crate::functions::with_data;
use crate::measured::call;
use crate::options::Options;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, thread_cpu};

const ROUNDS: usize = 41;
/// Rows a transaction: about what a lane holds when it asks for space.
const BATCH: usize = 2_000;
const BATCHES: usize = 10;

const TARGET: Target = Target {
    goal: 6,
    name: "rows a second of CPU of the writing thread, sustained drain / bare rusqlite",
    unit: "rows/s",
    limit: 0.8,
    bound: Bound::AtLeast,
};

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let ours = folder.path().join("ours.db");
    let bare = folder.path().join("bare.db");
    let journal = Journal::in_memory(config());
    let surroundings = RecordingOptions {
        journal,
        process: ProcessName::default(),
        settings: Settings::default(),
        sensor: None,
        parent: None,
        inherited: None,
        redactor: None,
    };
    let recording = Recording::install(surroundings)?;
    let workflow = StartedWorkflow::start("bench", |_| {}).ok_or("the recording is in force")?;
    let entered = workflow.context().enter();
    let drain = Drain::new(Store::open(&ours, StoreOptions::default())?, Arc::new(journal));
    let mut sides = Sides { drain, rows: Rows::open(&ours)?, bare: Bare::open(&bare)? };
    let rounds = Rounds::in_turn(options.rounds(ROUNDS), || sides.round());
    report.ratio(TARGET, &rounds);
    drop(entered);
    recording.remove();
    Ok(())
}

/// Both sides: the other one needs the rows of ours, so ours is always first.
struct Sides {
    drain: Drain,
    rows: Rows,
    bare: Bare,
}

impl Sides {
    /// Rows a second of both.
    fn round(&mut self) -> (f64, f64) {
        let (mut ours, mut other) = (0.0, 0.0);
        for _ in 0..BATCHES {
            call(BATCH, with_data);
            ours += thread_cpu(|| self.drain.pass().map(|_| ()).expect("the drain writes"));
            let rows = self.rows.newest().expect("the rows can be read");
            assert_eq!(rows.len(), BATCH, "every task must be a row");
            other += thread_cpu(|| self.bare.insert(&rows).expect("the rows can be written"));
        }
        let count = (BATCHES * BATCH) as f64;
        (count / ours, count / other)
    }
}

/// Reads what our side has written since the last time.
struct Rows {
    connection: Connection,
    last: i64,
}

impl Rows {
    fn open(path: &Path) -> rusqlite::Result<Self> {
        Ok(Self { connection: Connection::open(path)?, last: 0 })
    }

    fn newest(&mut self) -> rusqlite::Result<Vec<Vec<Value>>> {
        let mut statement =
            self.connection.prepare_cached("select * from task where key > ?1 order by key")?;
        let columns = statement.column_count();
        let rows =
            statement.query_map([self.last], |row| (0..columns).map(|column| row.get(column)).collect())?;
        let rows: Vec<Vec<Value>> = rows.collect::<rusqlite::Result<_>>()?;
        if let Some(Value::Integer(key)) = rows.last().and_then(|row| row.first()) {
            self.last = *key;
        }
        Ok(rows)
    }
}

/// Plain rusqlite.
struct Bare {
    connection: Connection,
    insert: String,
}

impl Bare {
    /// The same file as ours, made by the store, with the pragmas that do not stay in a file set again.
    fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        drop(Store::open(path, StoreOptions::default())?);
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.pragma_update(None, "wal_autocheckpoint", 8_000)?;
        connection.pragma_update(None, "secure_delete", "fast")?;
        let columns = connection.prepare("select * from task")?.column_count();
        let insert = format!("insert into task values (?{})", ", ?".repeat(columns - 1));
        Ok(Self { connection, insert })
    }

    fn insert(&mut self, rows: &[Vec<Value>]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        let mut statement = transaction.prepare_cached(&self.insert)?;
        for row in rows {
            statement.execute(params_from_iter(row))?;
        }
        drop(statement);
        transaction.commit()
    }
}

fn config() -> Config {
    let settings = Settings::default();
    Config {
        id: 1,
        lane_bytes: settings.journal.lane_bytes,
        lanes_max: settings.journal.lanes_max,
        on_full: OnFull::Drop,
        wait_max: Duration::ZERO,
    }
}
