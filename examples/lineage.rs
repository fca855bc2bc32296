//! Whose output is whose input, over files and values: `cargo run --example lineage`.
#![expect(clippy::print_stdout, reason = "an example that shows something")]

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use telemetry::store::{LineageLimits, Reader};
use telemetry::{Capture, File, Recorder, Settings, ValueEncoder, Workflow, file, task};

/// A type with a form of its own: its readings are too many to be shown.
struct Series {
    station: &'static str,
    readings: Vec<f64>,
}

impl Capture for Series {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        value.display(&format_args!("{}, {} readings", self.station, self.readings.len()));
    }
}

#[task]
fn measure(series: &Series) -> io::Result<File> {
    let path = PathBuf::from(format!("{}.txt", series.station));
    let lines: Vec<String> = series.readings.iter().map(f64::to_string).collect();
    fs::write(&path, lines.join("\n"))?;
    Ok(file(path))
}

#[task(output = "smooth")]
fn smooth(raw: File) -> io::Result<Vec<f64>> {
    let readings: Vec<f64> = fs::read_to_string(&raw)?.lines().filter_map(|line| line.parse().ok()).collect();
    Ok(readings.windows(3).map(|three| three.iter().sum::<f64>() / 3.0).collect())
}

#[task]
fn report(readings: &[f64]) -> io::Result<File> {
    let highest = readings.iter().copied().fold(f64::MIN, f64::max);
    fs::write("report.txt", format!("The highest of {} readings is {highest}.", readings.len()))?;
    Ok(file("report.txt"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let recorder = Recorder::start(Settings::load()?.settings)?;
    let workflow = Workflow::start("lineage");
    workflow.context().run(|| -> io::Result<File> {
        let readings = (0..40).map(|hour| f64::from(hour % 24) / 2.0).collect();
        let raw = measure(&Series { station: "summit", readings })?;
        report(&smooth(raw)?)
    })?;
    workflow.end();
    recorder.flush(Duration::from_secs(10));
    show(&recorder)
}

/// What led to the report, step by step.
fn show(recorder: &Recorder) -> Result<(), Box<dyn Error>> {
    let reader = Reader::open(&recorder.database().ok_or("recording is switched off in settings.yaml")?)?;
    let tasks = reader.tree(reader.resolve("@last")?.id())?;
    let report = tasks.last().ok_or("nothing was recorded")?;
    let lineage = reader.led_to(&report.task_id, LineageLimits::default())?;
    println!("What led to {}:", report.activity_id.as_deref().unwrap_or("?"));
    for task in &lineage.tasks {
        println!("  {} {}", task.depth, task.activity_id.as_deref().unwrap_or("?"));
    }
    Ok(())
}
