//! The negative control: the same load through a queue in this process and a thread that writes.
//!
//! This is how most recorders work. What is in the queue dies with the process, so a harness that
//! finds nothing missing here is not looking.

use std::error::Error;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::Connection;

use crate::ledger::{Accepted, Ledger};
use crate::options::Options;

const QUEUE_RECORDS: usize = 8_192;
const BATCH_RECORDS: usize = 1_000;

/// A record on its way through the queue.
type Record = (Accepted, u128);

/// Records until the tasks are done, or until killed.
pub(crate) fn run(database: &Path, options: Options) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::new(options.acknowledge)?;
    let connection = open(database)?;
    let (sender, receiver) = sync_channel(QUEUE_RECORDS);
    let writer = thread::spawn(move || write(&connection, &receiver));
    thread::scope(|scope| {
        for thread in 0..options.threads {
            let worker = Worker { sender: sender.clone(), ledger: &ledger, thread };
            scope.spawn(move || worker.run(options));
        }
    });
    drop(sender);
    writer.join().expect("the writer does not panic")?;
    Ok(())
}

struct Worker<'a> {
    sender: SyncSender<Record>,
    ledger: &'a Ledger,
    thread: u32,
}

impl Worker<'_> {
    fn run(&self, options: Options) {
        let process = u128::from(std::process::id()) << 64 | u128::from(self.thread) << 48;
        for number in 0..options.tasks.unwrap_or(u64::MAX) {
            for what in [Accepted::Start, Accepted::End] {
                let task = process | u128::from(number);
                if self.sender.send((what, task)).is_err() {
                    return;
                }
                self.ledger.tell(what, self.thread, number, task);
            }
        }
    }
}

fn open(database: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(database)?;
    connection.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = normal;
        create table if not exists tasks (task_id text primary key, status text) without rowid;",
    )?;
    Ok(connection)
}

fn write(connection: &Connection, receiver: &Receiver<Record>) -> rusqlite::Result<()> {
    while let Ok(first) = receiver.recv() {
        let transaction = connection.unchecked_transaction()?;
        for (what, task) in std::iter::once(first).chain(receiver.try_iter()).take(BATCH_RECORDS) {
            let status = if what == Accepted::End { "FINISHED" } else { "RUNNING" };
            let text = telemetry::TaskId::from_u128(task).to_string();
            let mut statement = connection.prepare_cached("insert or replace into tasks values (?1, ?2)")?;
            statement.execute((text, status))?;
        }
        transaction.commit()?;
    }
    Ok(())
}
