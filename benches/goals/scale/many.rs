//! Ten million tasks in a row: what the last million costs beside the first, and how much memory is resident.

use std::error::Error;
use std::process::Command;

use super::target;
use crate::data::process_cpu_ns;
use crate::functions::with_data;
use crate::measured::call;
use crate::options::Options;
use crate::recording::Recording;
use crate::report::Report;
use crate::rounds::Rounds;
use crate::start::resident_mb;

const MILLION: usize = 1_000_000;
const MILLIONS: usize = 10;
/// In a short run there are fewer, and not smaller ones: the log is written back every half a million tasks or so, and
/// a part must have its share of that.
const MILLIONS_QUICK: usize = 2;

pub(super) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let parts = in_child(if options.is_quick { MILLIONS_QUICK } else { MILLIONS })?;
    let [first, .., last] = parts[..] else { return Err("there are not enough parts".into()) };
    let cost = target("10 M tasks, sustained, CPU of all threads: the last million / the first", "ns", 1.1);
    let note = format!("by million: {}", list(parts.iter().map(|part| part.each_ns)));
    report.ratio_with_note(cost, &Rounds::once(last.each_ns, first.each_ns), &note);
    let memory = target("10 M tasks, resident memory after the last million / after the first", "MB", 1.1);
    let note = format!("by million: {}", list(parts.iter().map(|part| part.resident_mb)));
    report.ratio_with_note(memory, &Rounds::once(last.resident_mb, first.resident_mb), &note);
    Ok(())
}

/// What one of the parts cost, and how much was resident after it.
#[derive(Clone, Copy, Debug)]
struct Part {
    each_ns: f64,
    resident_mb: f64,
}

fn list(figures: impl Iterator<Item = f64>) -> String {
    figures.map(|figure| format!("{figure:.0}")).collect::<Vec<_>>().join(" ")
}

/// In a process of its own, whose memory holds nothing else.
fn in_child(millions: usize) -> Result<Vec<Part>, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?).args(["--many", &millions.to_string()]).output()?;
    String::from_utf8(output.stdout)?.lines().map(part).collect()
}

fn part(line: &str) -> Result<Part, Box<dyn Error>> {
    let (each_ns, resident_mb) = line.split_once(' ').ok_or_else(|| format!("{line:?} is no part"))?;
    Ok(Part { each_ns: each_ns.parse()?, resident_mb: resident_mb.parse()? })
}

/// In the child: for every part, prints the nanoseconds of processor time a task, until the rows are committed, and the
/// megabytes that are resident then. `how` is the number of parts, of a million tasks each.
pub(crate) fn answer(how: &str) -> Result<(), Box<dyn Error>> {
    let parts: usize = how.parse()?;
    let recording = Recording::start()?;
    for _ in 0..parts {
        let start = process_cpu_ns();
        call(MILLION, with_data);
        recording.flush();
        println!("{} {}", (process_cpu_ns() - start) / MILLION as f64, resident_mb()?);
    }
    recording.stop();
    Ok(())
}
