//! The goals of performance, measured beside peers: `cargo xtask bench [NAME]`.
//!
//! Both sides of a ratio take turns within one run, since identical code drifts between runs; a ratio
//! is the median over the rounds. The names to choose from are those of [`GOALS`].
#![expect(clippy::print_stdout, reason = "its output is what a bench is for")]

mod cli;
mod cores;
mod data;
mod disabled;
mod disk;
mod drain;
mod events;
mod fastrace_spans;
mod flowcept;
mod functions;
mod lightweight;
mod measured;
mod options;
mod recording;
mod report;
mod rounds;
mod snapshot;
mod start;
mod table;
mod views;

use std::error::Error;

use options::Options;
use report::Report;

/// What a goal's module offers.
type Goal = fn(&Options, &mut Report) -> Result<(), Box<dyn Error>>;

const GOALS: &[(&str, Goal)] = &[
    ("data", data::run),
    ("lightweight", lightweight::run),
    ("disabled", disabled::run),
    ("events", events::run),
    ("snapshot", snapshot::run),
    ("drain", drain::run),
    ("disk", disk::run),
    ("views", views::run),
    ("cli", cli::run),
    ("start", start::run),
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::from_arguments(std::env::args().skip(1))?;
    if let Some(how) = &options.start {
        return start::answer(how);
    }
    if let Some(name) = options.names.iter().find(|name| !GOALS.iter().any(|(goal, _)| goal == name)) {
        let known: Vec<&str> = GOALS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no goal is called `{name}`; there are {}", known.join(", ")).into());
    }
    println!("{}", measured::SOURCE);
    println!("Settings: the defaults; the database in a temporary folder. Values are redacted.\n");
    let mut report = Report::default();
    for (name, goal) in GOALS {
        if options.names.is_empty() || options.names.iter().any(|wanted| wanted == name) {
            goal(&options, &mut report)?;
        }
    }
    report.write(&options)
}
