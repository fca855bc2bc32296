//! Goal 7: bytes on disk a task at level `full`.

use std::error::Error;
use std::fs;

use crate::functions::{full_of_1_us, full_of_10_ms};
use crate::measured::{Measured, call};
use crate::options::Options;
use crate::recording::Recording;
use crate::report::{Bound, Report, Target};

const SHORT: Target = target("bytes on disk, level full, tasks of 1 µs", 450.0);
const LONG: Target = target("bytes on disk, level full, tasks of 10 ms", 1_000.0);
const SHORT_TASKS: usize = 200_000;
/// A minute of them.
const LONG_TASKS: usize = 6_000;

const fn target(name: &'static str, limit: f64) -> Target {
    Target { goal: 7, name, unit: "bytes", limit, bound: Bound::AtMost }
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let empty = size_after(|| {})?;
    for (target, tasks, function) in
        [(SHORT, SHORT_TASKS, full_of_1_us as Measured), (LONG, LONG_TASKS, full_of_10_ms)]
    {
        let tasks = options.tasks(tasks);
        let size = size_after(|| call(tasks, function))?;
        let note = format!("{size} bytes after {tasks} tasks, {empty} without any");
        report.figure(target, (size - empty) as f64 / tasks as f64, note);
    }
    Ok(())
}

/// The size of the database after a clean stop.
fn size_after(work: impl FnOnce()) -> Result<u64, Box<dyn Error>> {
    let recording = Recording::start()?;
    let database = recording.database();
    work();
    let folder = recording.stop();
    let size = fs::metadata(&database)?.len();
    drop(folder);
    Ok(size)
}
