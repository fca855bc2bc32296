//! The campaign `ids`: several processes record into one database at once, and no id comes twice.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use super::options::Options;
use super::recovery::recover;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::build_program;
use crate::terminal::say;

const PROCESSES: usize = 8;
const THREADS: usize = 2;
const TASKS: usize = 200_000;
const TASKS_SHORT: usize = 10_000;

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let tasks = if options.is_short { TASKS_SHORT } else { TASKS };
    let host = build_program("telemetry-torture-host")?;
    let folder = empty_folder("ids")?;
    say(&format!("torture ids: {PROCESSES} processes record {tasks} tasks each"));
    let begun = Instant::now();
    let ids = record(&host, &folder, tasks)?;
    recover(&host, &folder)?;
    let (rows, finished) = count(&folder.join("provenance.db"))?;
    let distinct = ids.iter().collect::<HashSet<_>>().len();
    let figures = json!({
        "campaign": "ids",
        "processes": PROCESSES,
        "tasks": ids.len(),
        "distinct": distinct,
        "rows": rows,
        "finished": finished,
        "seconds": begun.elapsed().as_secs(),
    });
    let path = write_figures("ids", &figures)?;
    let line = format!("{} tasks, {distinct} distinct ids, {rows} rows, {finished} finished", ids.len());
    say(&format!("torture ids: {line}; figures in {}", path.display()));
    let expected = PROCESSES * tasks;
    if [ids.len(), distinct, rows, finished] != [expected; 4] {
        return Err(
            format!("all of these must be {expected}; the evidence is in {}", folder.display()).into()
        );
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// The ids that the processes acknowledged.
fn record(host: &Path, folder: &Path, tasks: usize) -> Outcome<Vec<[u8; 16]>> {
    let start = || {
        Command::new(host)
            .current_dir(folder)
            .args(["load", "--threads", &THREADS.to_string(), "--tasks", &(tasks / THREADS).to_string()])
            .env("TELEMETRY_STORE__PATH", folder.join("provenance.db"))
            .env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "lightweight")
            // Eight processes share two cores and one database: patience, instead of dropping.
            .env("TELEMETRY_JOURNAL__WAIT_MS_MAX", "600000")
            .stdout(Stdio::piped())
            .spawn()
    };
    let processes = (0..PROCESSES).map(|_| start()).collect::<Result<Vec<_>, _>>()?;
    let listeners = processes.into_iter().map(|process| std::thread::spawn(|| process.wait_with_output()));
    let mut ids = Vec::new();
    for listener in listeners.collect::<Vec<_>>() {
        let output = listener.join().map_err(|_| "a ledger panicked")??;
        if !output.status.success() {
            return Err(format!("a process ended with {}", output.status).into());
        }
        let told = output.stdout.as_chunks::<24>().0;
        ids.extend(told.iter().filter(|told| told[0] == 1).filter_map(|told| told.last_chunk().copied()));
    }
    Ok(ids)
}

/// Tasks in the database, and finished ones.
fn count(database: &Path) -> Outcome<(usize, usize)> {
    let query = "select count(distinct task_id), sum(status = 'FINISHED') from tasks";
    let output = Command::new("sqlite3").arg("-readonly").arg(database).arg(query).output()?;
    let text = String::from_utf8(output.stdout)?;
    let (rows, finished) = text.trim_end().split_once('|').ok_or("sqlite3 answers nothing")?;
    Ok((rows.parse()?, finished.parse()?))
}
