//! Records without end, and says after each flush how many tasks are written for good.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use telemetry::{Recorder, Workflow, task};

const TASKS: u64 = 20;
/// Leaves the disk time, and the image room.
const PAUSE: Duration = Duration::from_millis(2);

#[task]
fn step(number: u64) -> u64 {
    number + 1
}

/// Records until it is killed.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let recorder = Recorder::start_with_found_settings()?;
    let _workflow = Workflow::start("power");
    for round in 1.. {
        (0..TASKS).for_each(|number| drop(step(number).to_string()));
        let flushed = recorder.flush(Duration::from_secs(60));
        if flushed.remaining > 0 {
            return Err(format!("{} records are not written", flushed.remaining).into());
        }
        std::thread::sleep(PAUSE);
        writeln!(std::io::stdout(), "{}", round * TASKS)?;
    }
    Ok(())
}
