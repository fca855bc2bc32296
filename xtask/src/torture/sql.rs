//! The campaign `sql`: questions without end against `telemetry sql --timeout`, and how long after the limit each ends.
//!
//! A program that sleeps until the limit takes turns with each attack: what the machine needs to start and to wake a
//! process is not the query's. The limit is kept if an attack's median lies no further than 50 ms beyond that of the
//! sleeping program. Every run is counted, and those above are told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::options::Options;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::{build_program, workspace};
use crate::terminal::say;

/// One a line; the tests of the program run them, too.
const ATTACKS: &str = include_str!("../../../crates/telemetry-cli/tests/it/attacks/endless.sql");
const ROUNDS: usize = 30;
const ROUNDS_SHORT: usize = 5;
const LIMIT_S: &str = "0.3";
const LIMIT_MS: f64 = 300.0;
const BEYOND_MS_MAX: f64 = 50.0;

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let rounds = options.cases.unwrap_or(if options.is_short { ROUNDS_SHORT } else { ROUNDS });
    let campaign = Campaign::prepare()?;
    let before = fs::read(&campaign.database)?;
    let count = ATTACKS.lines().count();
    say(&format!("torture sql: {count} attacks, {rounds} times each, milliseconds beyond the limit"));
    let mut results = Vec::new();
    for attack in ATTACKS.lines() {
        let result = campaign.attack(attack, rounds)?;
        say(&result.line());
        results.push(result);
    }
    if fs::read(&campaign.database)? != before {
        return Err("the database has changed".into());
    }
    let path = write_figures("sql", &json!(results.iter().map(Attacked::figures).collect::<Vec<_>>()))?;
    let late: usize = results.iter().map(|result| result.beyond_ms.late()).sum();
    let asleep: usize = results.iter().map(|result| result.control_ms.late()).sum();
    let runs = count * rounds;
    say(&format!(
        "torture sql: {late} of {runs} ended more than {BEYOND_MS_MAX:.0} ms after the limit, {asleep} of {runs} \
         that slept; figures in {}",
        path.display()
    ));
    match results.iter().filter(|result| !result.is_kept()).count() {
        0 => Ok(()),
        number => Err(format!("{number} attacks last too long").into()),
    }
}

struct Campaign {
    program: PathBuf,
    database: PathBuf,
}

impl Campaign {
    fn prepare() -> Outcome<Self> {
        let program = build_program("telemetry-cli")?;
        let database = empty_folder("sql")?.join("golden.db");
        let packed = workspace().join("tests/fixtures/golden-3.db.gz");
        let unpacked = Command::new("gzip").arg("-dc").arg(packed).output()?;
        fs::write(&database, unpacked.stdout)?;
        Ok(Self { program, database })
    }

    fn attack(&self, query: &str, rounds: usize) -> Outcome<Attacked> {
        let (mut beyond_ms, mut control_ms) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (output, ms) = time(self.command(query))?;
            let talk = String::from_utf8_lossy(&output.stderr);
            let is_stopped = talk.contains("took longer than") || talk.contains("too big");
            if output.status.code() != Some(1) || !is_stopped {
                return Err(format!("{query}: {}, {talk}", output.status).into());
            }
            beyond_ms.push(ms - LIMIT_MS);
            control_ms.push(time(asleep())?.1 - LIMIT_MS);
        }
        Ok(Attacked {
            query: query.to_owned(),
            beyond_ms: Times::new(beyond_ms),
            control_ms: Times::new(control_ms),
        })
    }

    fn command(&self, query: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["sql", query, "--timeout", LIMIT_S, "--database"]).arg(&self.database);
        command.current_dir(self.database.parent().unwrap_or(Path::new(".")));
        command
    }
}

fn asleep() -> Command {
    let mut command = Command::new("sleep");
    command.arg(LIMIT_S);
    command
}

fn time(mut command: Command) -> Outcome<(Output, f64)> {
    command.stdin(Stdio::null());
    let begun = Instant::now();
    let output = command.output()?;
    Ok((output, begun.elapsed().as_secs_f64() * 1e3))
}

/// Milliseconds beyond the limit, the least first.
struct Times(Vec<f64>);

impl Times {
    fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(0.0)
    }

    fn most(&self) -> f64 {
        self.0.last().copied().unwrap_or(0.0)
    }

    fn late(&self) -> usize {
        self.0.iter().filter(|ms| **ms > BEYOND_MS_MAX).count()
    }
}

/// What came of an attack.
struct Attacked {
    query: String,
    beyond_ms: Times,
    control_ms: Times,
}

impl Attacked {
    fn is_kept(&self) -> bool {
        self.beyond_ms.median() - self.control_ms.median() <= BEYOND_MS_MAX
    }

    fn line(&self) -> String {
        let [beyond, control] = [&self.beyond_ms, &self.control_ms];
        let times = format!("median {:6.1}, most {:6.1}", beyond.median(), beyond.most());
        let asleep = format!("asleep {:5.1} and {:5.1}", control.median(), control.most());
        let query: String = self.query.chars().take(90).collect();
        format!("  {times}; {asleep}; {query}")
    }

    fn figures(&self) -> Value {
        json!({
            "query": self.query, "beyond_ms": self.beyond_ms.0, "control_ms": self.control_ms.0,
            "median_ms": self.beyond_ms.median(), "most_ms": self.beyond_ms.most(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attack_is_judged_by_its_median_beside_that_of_the_control() {
        let attacked = |beyond: [f64; 3], control: [f64; 3]| Attacked {
            query: String::new(),
            beyond_ms: Times::new(beyond.to_vec()),
            control_ms: Times::new(control.to_vec()),
        };
        assert!(attacked([90.0, 3.0, 40.0], [1.0, 2.0, 1.0]).is_kept());
        assert!(!attacked([90.0, 3.0, 60.0], [1.0, 2.0, 1.0]).is_kept());
        assert!(attacked([90.0, 3.0, 60.0], [1.0, 20.0, 11.0]).is_kept());
    }
}
