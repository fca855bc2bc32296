//! The campaign `crowd`: more threads than lanes, threads that live for one call, and many processes on one folder, some
//! of which are killed.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::options::Options;
use super::random::Random;
use super::recovery::recover;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::build_program;
use crate::terminal::say;

/// How much of everything there is.
struct Size {
    /// Threads at once, and tasks of each.
    threads: u64,
    tasks: u64,
    /// Threads that follow each other, each for one task.
    lives: u64,
    processes: usize,
    killed: usize,
}

const LONG: Size = Size { threads: 1_000, tasks: 1_000, lives: 1_000_000, processes: 64, killed: 20 };
const SHORT: Size = Size { threads: 1_000, tasks: 20, lives: 5_000, processes: 24, killed: 8 };
/// What memory of its own a process may gain from its first quarter to its end.
const GROWTH_KIB_MAX: i64 = 1_024;

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let size = if options.is_short { SHORT } else { LONG };
    let host = build_program("telemetry-torture-host")?;
    let folder = empty_folder("crowd")?;
    say(&format!("torture crowd: --seed {}", options.seed));
    let begun = Instant::now();
    let crowd = Crowd { host, folder, random: Random::new(options.seed) };
    let threads = crowd.many_threads(&size)?;
    say(&format!("  threads: {threads}"));
    let lives = crowd.short_lives(&size)?;
    say(&format!("  short lives: {lives}"));
    let folder = crowd.folder.clone();
    let processes = crowd.many_processes(&size)?;
    say(&format!("  processes: {processes}"));
    let figures = json!({
        "campaign": "crowd",
        "seed": options.seed,
        "seconds": begun.elapsed().as_secs(),
        "threads": threads,
        "short_lives": lives,
        "processes": processes,
    });
    let path = write_figures("crowd", &figures)?;
    say(&format!("torture crowd: nothing lost; figures in {}", path.display()));
    fs::remove_dir_all(folder)?;
    Ok(())
}

struct Crowd {
    host: PathBuf,
    folder: PathBuf,
    random: Random,
}

impl Crowd {
    fn load(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.host);
        command.arg("load").args(arguments).current_dir(folder);
        command.env("TELEMETRY_STORE__PATH", folder.join("provenance.db"));
        command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "lightweight");
        command.env("TELEMETRY_JOURNAL__LANE_BYTES", "65536");
        // Many share few processors and one database: patience, instead of dropping.
        command.env("TELEMETRY_JOURNAL__WAIT_MS_MAX", "600000");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn place(&self, name: &str) -> Outcome<PathBuf> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn many_threads(&self, size: &Size) -> Outcome<Value> {
        let place = self.place("threads")?;
        let (threads, tasks) = (size.threads.to_string(), size.tasks.to_string());
        let arguments = ["--quiet", "--levels", "1", "--threads", &threads, "--tasks", &tasks];
        ended_well(self.load(&place, &arguments).spawn()?)?;
        check_all(&self.host, &place, size.threads * size.tasks)?;
        Ok(json!({"threads": size.threads, "tasks": size.threads * size.tasks}))
    }

    fn short_lives(&self, size: &Size) -> Outcome<Value> {
        let place = self.place("lives")?;
        let tasks = (size.lives / 2).to_string();
        let arguments =
            ["--quiet", "--levels", "1", "--threads", "2", "--calls-a-life", "1", "--tasks", &tasks];
        let mut child = self.load(&place, &arguments).spawn()?;
        let mut memory = Vec::new();
        while child.try_wait()?.is_none() {
            memory.extend(own_memory_kib(child.id()));
            thread::sleep(Duration::from_millis(20));
        }
        ended_well(child)?;
        check_all(&self.host, &place, size.lives)?;
        // The last look may fall on a process that is giving its memory back.
        let quarter = memory.get(memory.len() / 4).copied().unwrap_or(0);
        let last = memory.iter().rev().take(3).max().copied().unwrap_or(0);
        if last - quarter > GROWTH_KIB_MAX {
            return Err(format!("memory grew from {quarter} to {last} KiB").into());
        }
        Ok(json!({"threads": size.lives, "memory_kib": [quarter, last]}))
    }

    fn many_processes(mut self, size: &Size) -> Outcome<Value> {
        let place = self.place("processes")?;
        let mut programs = Vec::new();
        for _ in 0..size.processes {
            let mut child = self.load(&place, &["--threads", "2", "--tasks", "1000"]).spawn()?;
            let told = ledger(&mut child)?;
            programs.push((child, told));
        }
        let mut told = Vec::new();
        for (number, (mut child, ledger)) in programs.into_iter().enumerate() {
            if number < size.killed {
                thread::sleep(Duration::from_micros(self.random.below(40_000)));
                child.kill()?;
                child.wait()?;
            } else {
                ended_well(child)?;
            }
            let mut bytes = ledger.join().map_err(|_| "the ledger panicked")??;
            bytes.truncate(bytes.len() / 24 * 24);
            told.extend(bytes);
        }
        recover(&self.host, &place)?;
        let (accepted, lost) = compare(&place, &told)?;
        let law =
            ask(&place, "select count(*) filter (where offered <> persisted + torn), sum(torn) from health")?;
        if lost > 0 || !law.starts_with("0|") {
            return Err(
                format!("{lost} of {accepted} lost, {law}; the evidence is in {}", place.display()).into()
            );
        }
        Ok(json!({"processes": size.processes, "killed": size.killed, "accepted": accepted, "lost": lost}))
    }
}

/// Reads what a program acknowledges until it has ended.
fn ledger(child: &mut Child) -> Outcome<JoinHandle<std::io::Result<Vec<u8>>>> {
    let mut pipe = child.stdout.take().ok_or("a pipe")?;
    Ok(thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map(|_| bytes)
    }))
}

/// It must end well and say nothing.
fn ended_well(child: Child) -> Outcome {
    let output = child.wait_with_output()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && complaints.is_empty() {
        return Ok(());
    }
    Err(format!("the program ended with {}: {complaints}", output.status).into())
}

/// So many tasks are there, each once and finished, and the law holds without a loss.
fn check_all(host: &Path, place: &Path, tasks: u64) -> Outcome {
    recover(host, place)?;
    let query = "select count(*), count(distinct task_id), sum(status = 'FINISHED') from tasks;
        select sum(offered = persisted) = count(*) from health; pragma integrity_check";
    let (found, expected) = (ask(place, query)?, format!("{tasks}|{tasks}|{tasks}\n1\nok"));
    if found == expected { Ok(()) } else { Err(format!("found {found} instead of {expected}").into()) }
}

/// How many records the programs had acknowledged, and how many of them are not in the database.
fn compare(place: &Path, told: &[u8]) -> Outcome<(usize, usize)> {
    let rows = ask(place, "select replace(task_id, '-', ''), status from tasks")?;
    let rows: HashMap<&str, &str> = rows.lines().filter_map(|line| line.split_once('|')).collect();
    let (records, _) = told.as_chunks::<24>();
    let is_lost = |record: &&[u8; 24]| {
        let mut id = [0; 16];
        id.copy_from_slice(&record[8..]);
        let status = rows.get(&*format!("{:032x}", u128::from_le_bytes(id)));
        status.is_none_or(|status| record[0] == 2 && *status != "FINISHED")
    };
    Ok((records.len(), records.iter().filter(is_lost).count()))
}

fn ask(place: &Path, query: &str) -> Outcome<String> {
    let output =
        Command::new("sqlite3").arg("-readonly").arg(place.join("provenance.db")).arg(query).output()?;
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// Memory that is no file's.
fn own_memory_kib(process: u32) -> Option<i64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
