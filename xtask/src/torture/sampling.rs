//! The campaign `sampling`: a million nested tasks, of which few are kept; the rest is counted exactly.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::options::Options;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::build_program;
use crate::terminal::say;

const THREADS: u64 = 4;
/// A few are called less, where a step fails before it calls others.
const TASKS: u64 = 1_010_000;
const TASKS_SHORT: u64 = 60_000;
const RATE: f64 = 0.05;
/// An honest draw is beyond three deviations once in 370 times, and twice running once in 137,000.
const DEVIATIONS_MAX: f64 = 3.0;
const DRAWS: usize = 2;

/// Questions to which the answer must be none.
const MUST_BE_NONE: [(&str, &str); 4] = [
    (
        "tasks whose parent is missing",
        "select count(*) from tasks t where parent_task_id is not null
            and not exists (select 1 from tasks p where p.task_id = t.parent_task_id)",
    ),
    (
        "tasks with fewer ancestors than there were calls around them",
        "select count(*) from tasks t
            where depth <> (select count(*) from ancestors a where a.task_id = t.task_id)",
    ),
    (
        "tasks whose root is none",
        "select count(*) from tasks t join tasks r on r.task_id = t.root_task_id
            where r.parent_task_id is not null",
    ),
    ("tasks that did not end", "select count(*) from tasks where status not in ('FINISHED', 'ERROR')"),
];

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let tasks = if options.is_short { TASKS_SHORT } else { TASKS };
    let host = build_program("telemetry-torture-host")?;
    let begun = Instant::now();
    let mut draws = Vec::new();
    loop {
        let folder = empty_folder("sampling")?;
        say(&format!("torture sampling: {tasks} nested tasks, {RATE} of the outermost are kept"));
        let truth = record(&host, &folder, tasks)?;
        let mut figures = compare(&folder.join("provenance.db"), &truth)?;
        figures["seconds"] = json!(begun.elapsed().as_secs());
        draws.push(figures["deviations"].as_f64().unwrap_or(f64::INFINITY));
        figures["draws"] = json!(draws);
        let path = write_figures("sampling", &figures)?;
        say(&format!("torture sampling: {}; figures in {}", told(&figures), path.display()));
        if figures["faults"] != json!([]) {
            return Err(format!("{}; the evidence is in {}", figures["faults"], folder.display()).into());
        }
        if draws.last().is_some_and(|deviations| deviations.abs() <= DEVIATIONS_MAX) {
            return Ok(std::fs::remove_dir_all(folder)?);
        }
        if draws.len() == DRAWS {
            return Err(format!("the shares that were kept are {draws:?} deviations away").into());
        }
    }
}

/// Runs the load and answers the truth about it.
fn record(host: &Path, folder: &Path, tasks: u64) -> Outcome<Value> {
    let rules =
        format!("[{{activity: '*::plain', sample: {RATE}}}, {{activity: '*::risky', sample: {RATE}}}]");
    let output = Command::new(host)
        .current_dir(folder)
        .args(["sampled", "--threads", &THREADS.to_string(), "--tasks", &(tasks / THREADS).to_string()])
        .env("TELEMETRY_STORE__PATH", folder.join("provenance.db"))
        .env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data")
        .env("TELEMETRY_CAPTURE__RULES", rules)
        // Two cores and a database: patience, instead of dropping.
        .env("TELEMETRY_JOURNAL__WAIT_MS_MAX", "600000")
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("the program ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Holds the database against the truth.
fn compare(database: &Path, truth: &Value) -> Outcome<Value> {
    let mut faults = Vec::new();
    let mut activities = serde_json::Map::new();
    for (name, truth) in truth.as_object().ok_or("the program says nothing")? {
        let sql = format!("select calls, errors, left_out from activities where activity_id = '{name}'");
        let [kept, errors, left_out] = numbers(database, &sql)?[..] else {
            return Err(format!("the database knows nothing of {name}").into());
        };
        if truth != &json!({"calls": kept + left_out, "errors": errors}) {
            faults.push(format!("{name}: {kept} kept and {left_out} left out, {errors} errors, of {truth}"));
        }
        activities.insert(name.clone(), json!({"kept": kept, "left_out": left_out, "errors": errors}));
    }
    for (what, sql) in MUST_BE_NONE {
        if numbers(database, sql)? != [0] {
            faults.push(format!("there are {what}"));
        }
    }
    let (kept, calls) = (&activities["plain"]["kept"], &truth["plain"]["calls"]);
    let deviations = deviations(kept.as_f64().unwrap_or(0.0), calls.as_f64().unwrap_or(0.0));
    Ok(json!({
        "campaign": "sampling",
        "rate": RATE,
        "activities": activities,
        "deviations": deviations,
        "faults": faults,
    }))
}

/// How many standard deviations the number that was kept is away from what was to be expected.
fn deviations(kept: f64, calls: f64) -> f64 {
    (kept - calls * RATE) / (calls * RATE * (1.0 - RATE)).sqrt()
}

/// The numbers of a query's only row.
fn numbers(database: &Path, sql: &str) -> Outcome<Vec<u64>> {
    let output = Command::new("sqlite3").arg("-readonly").arg(database).arg(sql).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.trim_end().split('|').map(str::parse).collect::<Result<_, _>>()?)
}

fn told(figures: &Value) -> String {
    let sum = |key: &str| -> u64 {
        let activities = figures["activities"].as_object().into_iter().flat_map(serde_json::Map::values);
        activities.filter_map(|activity| activity[key].as_u64()).sum()
    };
    let (kept, left_out) = (sum("kept"), sum("left_out"));
    let deviations = figures["deviations"].as_f64().unwrap_or(f64::NAN);
    format!(
        "{kept} kept and {left_out} left out are {}, {} errors, {deviations:.2} deviations from the rate",
        kept + left_out,
        sum("errors")
    )
}
