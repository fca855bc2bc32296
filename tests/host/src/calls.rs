//! Calls of one recorded function, for counting the processor's instructions: see `cargo xtask bench instructions`.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use telemetry::{Level, Recorder, Settings, Workflow, task};

const WARM_CALLS: u32 = 500;
const TIMEOUT: Duration = Duration::from_mins(5);

/// The function that all figures of cost are about.
#[task]
fn measured(count: i64, factor: f64, name: &str) -> i64 {
    count + factor as i64 + name.len() as i64
}

/// What is counted: nothing else runs in here. Its name is how the count begins and ends.
#[inline(never)]
fn counted_calls(times: u32) {
    for count in 0..times {
        black_box(measured(black_box(i64::from(count)), black_box(0.5), black_box("sixteen bytes ok")));
    }
}

/// Calls the function so often, `how` being a level, or `disabled` for no recorder at all.
pub(crate) fn run(how: &str, times: u32) -> Result<(), Box<dyn Error>> {
    let recorder = match Level::from_word(how) {
        Some(level) => Some(start(level)?),
        None if how == "disabled" => None,
        None => return Err(format!("there is no level {how}").into()),
    };
    let workflow = Workflow::start("calls");
    (0..WARM_CALLS).for_each(|_| {
        black_box(measured(black_box(1), black_box(0.5), black_box("sixteen bytes ok")));
    });
    if let Some(recorder) = &recorder {
        recorder.flush(TIMEOUT);
    }
    counted_calls(times);
    workflow.end();
    Ok(())
}

fn start(level: Level) -> Result<Recorder, telemetry::Error> {
    let mut settings = Settings::default();
    settings.capture.default_level = level;
    settings.telemetry_capture.machine_info = false;
    // A snapshot costs what it costs however many calls share it.
    settings.telemetry_capture.max_age_ms = 3_600_000;
    Recorder::start(settings)
}
