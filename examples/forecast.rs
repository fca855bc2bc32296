//! A run with something to look at: `cargo run --example forecast`, then `telemetry report --html report.html`.

use std::f64::consts::PI;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use telemetry::{Context, File, file, task, workflow};

const STATIONS: [&str; 4] = ["harbour", "ridge", "summit", "valley"];

/// Keeps a processor busy, as arithmetic would.
fn compute(duration: Duration) -> f64 {
    let begun = Instant::now();
    let mut sum = 0.0_f64;
    while begun.elapsed() < duration {
        sum += (sum + PI).sin();
    }
    sum
}

#[task]
fn measure(station: &str, hours: usize) -> io::Result<File> {
    let path = PathBuf::from(format!("{station}.txt"));
    let readings: Vec<String> = (0..hours).map(|hour| format!("{:.3}", (hour as f64 / 24.0).sin())).collect();
    thread::sleep(Duration::from_millis(30));
    fs::write(&path, readings.join("\n"))?;
    Ok(file(path))
}

#[task(output = "smooth")]
fn smooth(raw: &File) -> io::Result<Vec<f64>> {
    let readings: Vec<f64> = fs::read_to_string(raw)?.lines().filter_map(|line| line.parse().ok()).collect();
    compute(Duration::from_millis(15));
    Ok(readings.windows(3).map(|three| three.iter().sum::<f64>() / 3.0).collect())
}

#[task]
fn fit(epoch: usize, readings: &[f64]) -> Result<f64, String> {
    compute(Duration::from_millis(if epoch == 7 { 60 } else { 8 }));
    let loss = 1.0 / (epoch as f64 + 1.0) + readings.iter().sum::<f64>().abs() * 1e-9;
    if epoch == 11 { Err(format!("the loss of epoch {epoch} is not a number")) } else { Ok(loss) }
}

#[task]
fn train(readings: &[f64]) -> usize {
    (0..12).filter(|epoch| fit(*epoch, readings).is_ok()).count()
}

#[task]
fn forecast(station: &str) -> io::Result<usize> {
    let readings = smooth(&measure(station, 24 * 90)?)?;
    Ok(train(&readings))
}

#[task]
fn publish(epochs: &[usize]) -> io::Result<File> {
    compute(Duration::from_millis(40));
    fs::write("forecast.txt", format!("{epochs:?}"))?;
    Ok(file("forecast.txt"))
}

#[workflow(name = "forecast")]
fn main() -> io::Result<()> {
    let context = Context::current();
    let epochs = thread::scope(|scope| {
        let start = |station: &'static str| {
            let run = move || context.run(|| forecast(station));
            thread::Builder::new().name(station.to_owned()).spawn_scoped(scope, run)
        };
        let threads: Vec<_> = STATIONS.into_iter().map(start).collect::<Result<_, _>>()?;
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or(Ok(0));
        threads.into_iter().map(join).collect::<io::Result<Vec<usize>>>()
    })?;
    publish(&epochs)?;
    Ok(())
}
