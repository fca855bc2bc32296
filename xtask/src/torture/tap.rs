//! The campaign `tap`: a program, those who watch it and the one who drains it are killed, in all orders.
//!
//! The program fills its lanes and nothing else; two processes stand by to drain it, and others watch. In each
//! round a watcher, the drain and the program are killed, in one of the six orders, at random times; a killed
//! watcher is followed by another, a killed drain by the one that stood by. Nothing that the program was told to
//! be accepted may be missing or there twice, and each watcher that lived to the end accounts for every record.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
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

const ROUNDS: usize = 300;
const ROUNDS_SHORT: usize = 12;
const THREADS: u64 = 2;
/// Small, so that those who watch are overrun; and nobody gives up waiting for the next drain.
const SETTINGS: &str = "journal: {drain: external, lane_bytes: 16384, wait_ms_max: 60000}\n\
    telemetry_capture: {machine_info: false}\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Watcher,
    Drain,
    Program,
}

const ORDERS: [[Victim; 3]; 6] = [
    [Victim::Watcher, Victim::Drain, Victim::Program],
    [Victim::Watcher, Victim::Program, Victim::Drain],
    [Victim::Drain, Victim::Watcher, Victim::Program],
    [Victim::Drain, Victim::Program, Victim::Watcher],
    [Victim::Program, Victim::Watcher, Victim::Drain],
    [Victim::Program, Victim::Drain, Victim::Watcher],
];

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let rounds = options.kills.unwrap_or(if options.is_short { ROUNDS_SHORT } else { ROUNDS });
    let host = build_program("telemetry-torture-host")?;
    say(&format!("torture tap: {rounds} rounds of three kills, seed {}", options.seed));
    let (mut random, mut sum, begun) = (Random::new(options.seed), Sum::default(), Instant::now());
    for number in 0..rounds {
        let folder = empty_folder("tap")?;
        let round = Round { host: &host, folder: &folder };
        let evidence = || format!("round {number}, seed {}: see {}", options.seed, folder.display());
        round
            .run(ORDERS[number % ORDERS.len()], &mut random, &mut sum)
            .map_err(|error| format!("{error}\n{}", evidence()))?;
    }
    let mut figures = sum.figures();
    figures["seed"] = json!(options.seed);
    figures["seconds"] = json!(begun.elapsed().as_secs());
    let path = write_figures("tap", &figures)?;
    say(&format!("torture tap: {figures}; figures in {}", path.display()));
    if sum.missed == 0 {
        return Err("no watcher was ever overrun: the campaign does not try what it is for".into());
    }
    Ok(())
}

struct Round<'a> {
    host: &'a Path,
    folder: &'a Path,
}

impl Round<'_> {
    fn run(&self, order: [Victim; 3], random: &mut Random, sum: &mut Sum) -> Outcome {
        fs::write(self.folder.join("settings.yaml"), SETTINGS)?;
        let mut program = self.start(&["produce", "--threads", &THREADS.to_string()], Stdio::piped())?;
        let ledger = read_ledger(program.stdout.take().ok_or("the program has an output")?);
        let mut drains = vec![self.drain()?, self.drain()?];
        let mut watchers = vec![self.watch(random)?, self.watch(random)?];
        for victim in order {
            thread::sleep(Duration::from_micros(random.below(30_000)));
            match victim {
                Victim::Program => kill(&mut program)?,
                // Which of the two drains is chance; often enough it is the one whose turn it is.
                Victim::Drain => {
                    kill(&mut drains.remove(random.below(2) as usize))?;
                    drains.push(self.drain()?);
                }
                Victim::Watcher => {
                    kill(&mut watchers.remove(0).child)?;
                    // Of a program that is dead there may be nothing left to watch.
                    if order.iter().position(|it| *it == Victim::Program)
                        > order.iter().position(|it| *it == victim)
                    {
                        watchers.push(self.watch(random)?);
                    }
                }
            }
        }
        let sightings = watchers.into_iter().map(Watcher::end).collect::<Outcome<Vec<_>>>()?;
        drains.iter_mut().try_for_each(kill)?;
        fs::remove_file(self.folder.join("journal/drain.lock"))?;
        recover(self.host, self.folder)?;
        let told = ledger.join().map_err(|_| "the ledger failed")?;
        self.compare(&told, &sightings, sum)
    }

    fn start(&self, arguments: &[&str], stdout: Stdio) -> Outcome<Child> {
        let complaints = File::options().create(true).append(true).open(self.folder.join("complaints"))?;
        let mut command = Command::new(self.host);
        command.args(arguments).stdout(stdout).stderr(complaints).stdin(Stdio::null());
        command
            .env("TELEMETRY_SETTINGS", self.folder.join("settings.yaml"))
            .env("TELEMETRY_DIR", self.folder);
        Ok(command.spawn()?)
    }

    fn drain(&self) -> Outcome<Child> {
        self.start(&["drain", self.folder.to_str().ok_or("the folder's name is text")?], Stdio::null())
    }

    fn watch(&self, random: &mut Random) -> Outcome<Watcher> {
        let (folder, pause) = (self.folder.join("journal"), random.pick(&["0", "200", "20000"]));
        let folder = folder.to_str().ok_or("the folder's name is text")?;
        let mut child = self.start(&["watch", folder, pause], Stdio::piped())?;
        let mut output = BufReader::new(child.stdout.take().ok_or("a watcher has an output")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        if line == "watching\n" {
            Ok(Watcher { child, output })
        } else {
            Err("a watcher did not begin".into())
        }
    }

    fn compare(&self, told: &BTreeMap<u64, u64>, sightings: &[Value], sum: &mut Sum) -> Outcome {
        let complaints = fs::read_to_string(self.folder.join("complaints"))?;
        if !complaints.is_empty() {
            return Err(format!("somebody complained: {complaints}").into());
        }
        let database = self.folder.join("provenance.db");
        let threads = query(
            &database,
            "select labels ->> 'thread' as thread, count(*) as events, count(distinct value) as numbers, max(value) as last
                from events group by 1",
        )?;
        let mut written = BTreeMap::new();
        for row in threads.as_array().ok_or("rows")? {
            let (events, numbers, last) =
                (figure(row, "events"), figure(row, "numbers"), figure(row, "last"));
            if events != numbers || events != last + 1 {
                return Err(format!("events are missing or there twice: {row}").into());
            }
            let thread: u64 = row["thread"].as_str().ok_or("a label is text")?.parse()?;
            written.insert(thread, events);
        }
        for (thread, accepted) in told {
            if written.get(thread).copied().unwrap_or(0) < *accepted {
                return Err(
                    format!("thread {thread}: {accepted} were accepted, {written:?} are written").into()
                );
            }
        }
        let health = &query(
            &database,
            "select offered, persisted, pending, torn, dropped_full + dropped_oversize
            + dropped_nested + dropped_stopped as dropped from health",
        )?[0];
        let persisted = figure(health, "persisted");
        if figure(health, "offered") != persisted + figure(health, "torn") || figure(health, "dropped") > 0 {
            return Err(format!("the law does not hold: {health}").into());
        }
        for seen in sightings {
            if figure(seen, "seen") + figure(seen, "missed") + figure(seen, "before") != persisted {
                return Err(format!("{seen} does not add up to {persisted} records: {health}").into());
            }
            sum.watchers += 1;
            sum.seen += figure(seen, "seen");
            sum.missed += figure(seen, "missed");
        }
        sum.kills += 3;
        sum.accepted += told.values().sum::<u64>();
        sum.written += written.values().sum::<u64>();
        Ok(())
    }
}

/// A process that watches the program.
struct Watcher {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Watcher {
    /// What it saw and missed, once the program is dead.
    fn end(mut self) -> Outcome<Value> {
        let mut text = String::new();
        self.output.read_to_string(&mut text)?;
        if !self.child.wait()?.success() {
            return Err("a watcher failed".into());
        }
        Ok(serde_json::from_str(&text)?)
    }
}

fn kill(child: &mut Child) -> Outcome {
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// How many events each thread was told to be accepted, once the program is dead.
fn read_ledger(mut output: ChildStdout) -> JoinHandle<BTreeMap<u64, u64>> {
    thread::spawn(move || {
        let mut told = BTreeMap::new();
        let mut bytes = [0; 24];
        while output.read_exact(&mut bytes).is_ok() {
            let head = bytes.first_chunk().map_or(0, |head| u64::from_le_bytes(*head));
            told.insert(head >> 8 & 0xFF, (head >> 16) + 1);
        }
        told
    })
}

fn query(database: &PathBuf, sql: &str) -> Outcome<Value> {
    let output = Command::new("sqlite3").args(["-readonly", "-json"]).arg(database).arg(sql).output()?;
    if !output.status.success() {
        return Err(format!("sqlite3: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    if output.stdout.is_empty() { Ok(json!([])) } else { Ok(serde_json::from_slice(&output.stdout)?) }
}

fn figure(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or(0)
}

/// The figures of all rounds so far.
#[derive(Debug, Default)]
struct Sum {
    kills: u64,
    accepted: u64,
    written: u64,
    watchers: u64,
    seen: u64,
    missed: u64,
}

impl Sum {
    fn figures(&self) -> Value {
        json!({
            "kills": self.kills,
            "accepted": self.accepted,
            "written": self.written,
            "lost": 0,
            "watchers_to_the_end": self.watchers,
            "seen": self.seen,
            "missed": self.missed,
        })
    }
}
