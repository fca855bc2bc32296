//! The store: one writing connection to one database file.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use telemetry_journal::{Batch, Source, failpoint, is_on_network};

use crate::error::{StoreError, is_busy, is_damage};
use crate::file::{self, Standing, Watch};
use crate::id_text::IdText;
use crate::merge::{Applied, Memory, Merge, Origin};
use crate::retention::Keeping;
use crate::schema;

/// Older ones can lose committed rows when a write and a checkpoint meet.
const SQLITE_VERSION_MIN: i32 = 3_051_003;
const PAGE_BYTES: u32 = 16_384;
/// With the default of 1,000 pages the insert rate falls as the file grows; with this it is flat.
const CHECKPOINT_PAGES: u32 = 8_000;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const BUSY_RETRIES: usize = 3;
/// How long to wait before a file that others are making is opened again.
const BUSY_PAUSE: Duration = Duration::from_millis(5);
const STATEMENTS_MAX: usize = 64;
/// Four times what the log grows to while nobody reads for long.
const LOG_BYTES_MAX: u64 = 4 * CHECKPOINT_PAGES as u64 * PAGE_BYTES as u64;

/// What a committed row survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The death of the process, in any way.
    #[default]
    Process,
    /// A power cut, too.
    Power,
}

/// How a store is opened for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// What a committed row survives.
    pub durability: Durability,
    /// The file is on a network file system, where a write-ahead log in shared memory must not be used. One that is
    /// known to be one is noticed without being told.
    pub network_file_system: bool,
    /// A log longer than this is shortened as soon as nobody reads what is in it. As long as somebody does, it
    /// grows by what is written: that is on the disk either way.
    pub log_bytes_max: u64,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { durability: Durability::Process, network_file_system: false, log_bytes_max: LOG_BYTES_MAX }
    }
}

/// A database that records are written to.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    options: StoreOptions,
    connection: Connection,
    watch: Watch,
    /// There is no file at the moment, since it was damaged or taken away: the next write opens one.
    is_closed: bool,
    /// The length of the log at which it is looked at again.
    log_bytes_next: u64,
    memory: Memory,
    warnings: Vec<String>,
    pub(crate) keeping: Keeping,
}

impl Store {
    /// Opens the database for writing, and makes it, its folder and its schema where they are missing.
    /// A file that is damaged is renamed and a new one begun; one of a newer version, or of
    /// something else, is refused: it may be somebody's own.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// let store = telemetry_store::Store::open(&folder.path().join("provenance.db"), Default::default())?;
    /// assert!(store.integrity()?.is_empty());
    /// # Ok(()) }
    /// ```
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        check_sqlite()?;
        // A relative path would name another file once the program changes its folder.
        let path = std::path::absolute(path).map_err(|source| file::file_error(path, source))?;
        let network_file_system = options.network_file_system || is_on_network(&path);
        let options = StoreOptions { network_file_system, ..options };
        let connect = || Watch::around(&path, || connect(&path, options));
        let mut warnings = Vec::new();
        let (connection, watch) = match connect() {
            Err(error @ StoreError::Damaged { .. }) => {
                let aside = file::put_aside(&path)?;
                warnings.push(format!("{error}; it is kept as {}", aside.display()));
                connect()?
            }
            other => other?,
        };
        let memory = Memory::default();
        Ok(Self {
            path,
            options,
            connection,
            watch,
            is_closed: false,
            log_bytes_next: options.log_bytes_max,
            memory,
            warnings,
            keeping: Keeping::default(),
        })
    }

    /// What a person should know about the file, once: that one which stood in the way has another name
    /// now.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Merges a batch in one transaction. Any order, repetition and split of the same records gives
    /// the same views. After an error nothing of the batch is applied and the store can be used on.
    pub fn apply(&mut self, source: &dyn Source, batch: &Batch) -> Result<Applied, StoreError> {
        self.apply_from(Origin::Live, source, batch)
    }

    pub(crate) fn apply_from(
        &mut self,
        origin: Origin,
        source: &dyn Source,
        batch: &Batch,
    ) -> Result<Applied, StoreError> {
        let applied = self.write("merging records", |connection, memory| {
            if memory.has_seen(source, batch) {
                return Ok(Applied::default());
            }
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            failpoint::reach();
            memory.forget_if_others_wrote(&transaction)?;
            let applied = Merge::new(&transaction, memory, source, batch)?.run(origin)?;
            failpoint::reach();
            transaction.commit()?;
            failpoint::reach();
            memory.remember(source, batch);
            Ok(applied)
        })?;
        self.shorten_log();
        Ok(applied)
    }

    /// Adds to what `health` says about a recorder, one line each.
    pub fn note_warnings(&mut self, recorder: u128, warnings: &[String]) -> Result<(), StoreError> {
        if warnings.is_empty() {
            return Ok(());
        }
        self.write("noting warnings", |connection, _| {
            connection.execute(
                "insert into recorder (recorder_id, warnings) values (?1, ?2)
                on conflict (recorder_id) do update
                set warnings = coalesce(warnings || char(10), '') || excluded.warnings",
                (IdText::new(recorder), warnings.join("\n")),
            )?;
            Ok(())
        })
    }

    /// Notes that a recorder is dead: its tasks and workflows that are still open are `INTERRUPTED`
    /// from now on, and so are open ones that are merged later. An END that is found later wins.
    pub fn interrupt(&mut self, recorder: u128, ended_ns: i64) -> Result<(), StoreError> {
        self.write("noting an interrupted recorder", |connection, _| {
            connection.execute(
                "insert into recorder (recorder_id, interrupted_ns) values (?1, ?2)
                on conflict (recorder_id) do update
                set interrupted_ns = min(coalesce(interrupted_ns, excluded.interrupted_ns), excluded.interrupted_ns)",
                (IdText::new(recorder), ended_ns),
            )?;
            Ok(())
        })
    }

    /// Checks the whole file; what is wrong with it, nothing if it is sound.
    pub fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let check = || {
            let mut statement = self.connection.prepare("pragma integrity_check")?;
            let lines = statement.query_map([], |row| row.get(0))?;
            lines
                .filter(|line| line.as_ref().is_ok_and(|text: &String| text != "ok") || line.is_err())
                .collect::<Result<Vec<_>, _>>()
        };
        check().map_err(|source| schema::failed(&self.path, "checking the file", source))
    }

    /// Writes the log back into the database and empties it, as far as readers allow.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.write("writing the log back", |connection, _| {
            connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))
        })
    }

    /// Tries to empty a log that has grown long; readers are not waited for.
    fn shorten_log(&mut self) {
        let bytes = self.watch.log_bytes();
        if bytes < self.log_bytes_next {
            return;
        }
        let emptied = self.connection.busy_timeout(Duration::ZERO).and_then(|()| {
            self.connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0))
        });
        let _ = self.connection.busy_timeout(BUSY_TIMEOUT);
        let max = self.options.log_bytes_max;
        self.log_bytes_next = if matches!(emptied, Ok(0)) { max } else { bytes + max / 4 };
        if self.log_bytes_next > max {
            let path = self.path.display();
            self.warnings.push(format!(
                "the log of {path} has grown past {max} bytes, since somebody has been reading it for long"
            ));
        }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Runs something that writes, again while others are in the way.
    pub(crate) fn write<T>(
        &mut self,
        doing: &'static str,
        mut work: impl FnMut(&mut Connection, &mut Memory) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.check_file()?;
        let mut done = work(&mut self.connection, &mut self.memory);
        for _ in 0..BUSY_RETRIES {
            if !done.as_ref().is_err_and(is_busy) {
                break;
            }
            done = work(&mut self.connection, &mut self.memory);
        }
        done.map_err(|source| self.recover_from(doing, source))
    }

    /// After an error: what was remembered may have been rolled back, and a damaged file is moved out
    /// of the way so that the next attempt finds a good one.
    fn recover_from(&mut self, doing: &'static str, source: rusqlite::Error) -> StoreError {
        self.memory.forget();
        if is_damage(&source) {
            if let Err(error) = file::put_aside(&self.path) {
                return error;
            }
            self.is_closed = true;
        }
        schema::failed(&self.path, doing, source)
    }

    /// Opens the file that the path names where that is another one than the file which is open.
    fn check_file(&mut self) -> Result<(), StoreError> {
        if self.is_closed {
            return self.open_again();
        }
        match self.watch.standing() {
            Standing::Ours => Ok(()),
            Standing::Lost => Err(StoreError::Closed { path: self.path.clone() }),
            Standing::Moved => {
                let name = self.path.display();
                self.warnings.push(format!(
                    "{name} or its log was deleted or replaced; writing goes on in the file that is there now"
                ));
                // What the log holds belongs to the file that was taken away.
                let _ = self.connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()));
                self.watch.remove_side_files();
                self.open_again()
            }
        }
    }

    /// Closes the file before it opens one: connections of one process to one file share what they know of
    /// its log, and that is what may be gone.
    fn open_again(&mut self) -> Result<(), StoreError> {
        self.is_closed = true;
        drop(self.take_connection()?);
        let mut opened = Self::open(&self.path, self.options)?;
        std::mem::swap(&mut self.connection, &mut opened.connection);
        std::mem::swap(&mut self.watch, &mut opened.watch);
        self.warnings.append(&mut opened.warnings);
        opened.is_closed = true;
        self.memory.begin_anew();
        self.is_closed = false;
        Ok(())
    }

    /// Closes the file until the next write; false where it cannot be closed. For a fork: what the database library
    /// knows of a file that is open, the child would take for its own, and so believe that it holds locks which
    /// only its parent has. The log stays as it is, which takes no time.
    pub fn close_for_now(&mut self) -> bool {
        if self.is_closed {
            return true;
        }
        let Ok(connection) = self.take_connection() else { return false };
        self.is_closed = true;
        if self.watch.standing() == Standing::Lost {
            std::mem::forget(connection);
            return false;
        }
        let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        true
    }

    /// Leaves a connection to nothing behind.
    fn take_connection(&mut self) -> Result<Connection, StoreError> {
        let nothing = Connection::open_in_memory()
            .map_err(|source| schema::failed(&self.path, "closing the database", source))?;
        Ok(std::mem::replace(&mut self.connection, nothing))
    }
}

impl Drop for Store {
    /// A connection whose descriptors are somebody else's by now must not be closed: that would close theirs.
    fn drop(&mut self) {
        if !self.is_closed && self.watch.standing() == Standing::Lost {
            let connection = self.take_connection();
            std::mem::forget(connection);
        }
    }
}

fn check_sqlite() -> Result<(), StoreError> {
    let found = rusqlite::version_number();
    if found < SQLITE_VERSION_MIN {
        return Err(StoreError::OldSqlite { found, needed: SQLITE_VERSION_MIN });
    }
    Ok(())
}

/// Connects, again while other processes are making the same file: to turn to the write-ahead log SQLite
/// wants the file for itself, and it does not wait for that although it has a time to wait.
fn connect(path: &Path, options: StoreOptions) -> Result<Connection, StoreError> {
    let begun = Instant::now();
    loop {
        match connect_once(path, options) {
            Err(StoreError::Sqlite { source, .. }) if is_busy(&source) && begun.elapsed() < BUSY_TIMEOUT => {
                thread::sleep(BUSY_PAUSE);
            }
            connected => return connected,
        }
    }
}

fn connect_once(path: &Path, options: StoreOptions) -> Result<Connection, StoreError> {
    file::prepare(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)
        .map_err(|source| schema::failed(path, "opening the database", source))?;
    connection
        .busy_timeout(BUSY_TIMEOUT)
        .map_err(|source| schema::failed(path, "opening the database", source))?;
    let is_empty = schema::check(&connection, path)?;
    configure(&connection, options, is_empty)
        .and_then(|()| schema::migrate(&mut connection))
        .and_then(|()| connection.pragma_update(None, "synchronous", synchronous(options)))
        .and_then(|()| if is_empty { schema::forget(&connection) } else { Ok(()) })
        .map_err(|source| schema::failed(path, "preparing the database", source))?;
    Ok(connection)
}

fn configure(connection: &Connection, options: StoreOptions, is_empty: bool) -> rusqlite::Result<()> {
    if is_empty {
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        // To make a file takes six syncs, tens of milliseconds of a program's start; there is nothing in
        // it yet that a power cut could take, and the first checkpoint syncs all of it.
        let making = if synchronous(options) == "normal" { "off" } else { "full" };
        connection.pragma_update(None, "synchronous", making)?;
    }
    let journal = if options.network_file_system { "truncate" } else { "wal" };
    connection.pragma_update(None, "journal_mode", journal)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", options.log_bytes_max as i64)?;
    connection.pragma_update(None, "secure_delete", "fast")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(())
}

fn synchronous(options: StoreOptions) -> &'static str {
    match (options.network_file_system, options.durability) {
        (true, _) | (false, Durability::Power) => "full",
        (false, Durability::Process) => "normal",
    }
}
