//! A small real workflow, recorded: nested, parallel, failing and async tasks, and then SQL over it.
//!
//! Run it with `cargo run --release --example quickstart`.
#![expect(clippy::print_stdout, reason = "an example that shows something")]

use std::error::Error;
use std::time::Duration;

use serde::Serialize;
use telemetry::export::{duration, table, tree};
use telemetry::store::{QueryLimits, Reader, TreeRow};
use telemetry::{Context, Recorder, Settings, task, workflow};

/// What four weather stations sent; one line of the harbour's is garbled.
const REPORTS: [(&str, &str); 4] = [
    ("airport", "11.5 12.0 12.5 99.0 13.0"),
    ("forest", "8.0 8.5 9.5 9.0 8.5"),
    ("harbour", "10.5 1O.0 11.0 11.5 10.0"),
    ("summit", "-2.0 -1.5 -3.0 -2.5 -99.0"),
];

#[derive(Clone, Debug, Serialize)]
struct Summary {
    station: String,
    mean: f64,
    readings: usize,
}

#[task(output = "readings")]
fn parse(report: &str) -> Result<Vec<f64>, std::num::ParseFloatError> {
    report.split_whitespace().map(str::parse).collect()
}

#[task(output = "kept")]
fn clean(readings: Vec<f64>) -> Vec<f64> {
    readings.into_iter().filter(|reading| (-50.0..50.0).contains(reading)).collect()
}

/// One station: the tasks that it calls are its children, and its error is recorded with it.
#[task]
fn summarize(station: &str, report: &str) -> Result<Summary, std::num::ParseFloatError> {
    let kept = clean(parse(report)?);
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    Ok(Summary { station: station.to_owned(), mean, readings: kept.len() })
}

/// All stations at once, a thread each; the context says whose children they are.
#[task(skip_all, output = "good")]
fn summarize_all() -> Vec<Summary> {
    let context = Context::current();
    std::thread::scope(|scope| {
        let summarize_one = |(station, report)| context.run(|| summarize(station, report));
        let threads = REPORTS.map(|report| scope.spawn(move || summarize_one(report)));
        threads.into_iter().filter_map(|thread| thread.join().ok()?.ok()).collect()
    })
}

#[task]
async fn send(channel: &str, summaries: &[Summary]) -> String {
    tokio::task::yield_now().await;
    format!("{channel}: {} stations", summaries.len())
}

/// Both channels at once: futures that interleave keep their parents apart.
#[task(skip(summaries))]
async fn publish(summaries: &[Summary]) -> (String, String) {
    tokio::join!(send("radio", summaries), send("web", summaries))
}

#[workflow(name = "quickstart")]
async fn forecast() {
    let summaries = summarize_all();
    publish(&summaries).await;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let recorder = Recorder::start(Settings::load()?.settings)?;
    forecast().await;
    recorder.flush(Duration::from_secs(10));
    show(&recorder)
}

/// Everything above is in the database by now; any SQLite client could ask the same.
fn show(recorder: &Recorder) -> Result<(), Box<dyn Error>> {
    let database = recorder.database().ok_or("recording is switched off in settings.yaml")?;
    let reader = Reader::open(&database)?;
    let workflow = reader.resolve("@last")?;
    let tasks: Vec<_> = reader.tree(workflow.id())?.iter().map(line).collect();
    println!("The tasks of this run:\n\n{}", tree::draw(&tasks));

    let question = "select activity_id, status, count(*) as calls, min(stderr) as error
from tasks where workflow_id = ? group by activity_id, status order by activity_id, status";
    let answer = reader.query(question, &[workflow.id().into()], QueryLimits::default())?;
    println!("An answer in SQL:\n\n{question}\n\n{}", table::draw(&answer));
    let here = std::env::current_dir()?;
    println!("All of it is in {}", database.strip_prefix(here).unwrap_or(&database).display());
    Ok(())
}

fn line(row: &TreeRow) -> tree::Line {
    let activity = row.activity_id.as_deref().unwrap_or("?");
    let took = row.duration_ns.map(|ns| duration(ns.unsigned_abs())).unwrap_or_default();
    tree::Line { depth: row.indent as usize, text: format!("{activity} {} {took}", row.status) }
}
