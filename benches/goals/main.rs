//! The goals of performance, measured beside peers: `cargo xtask bench [NAME]`.
//!
//! Both sides of a ratio take turns within one run, since identical code drifts between runs; a ratio
//! is the median over the rounds. The names to choose from are those of [`GOALS`].
#![expect(clippy::print_stdout, reason = "its output is what a bench is for")]

mod busy;
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
mod line;
mod measured;
mod options;
mod peers;
mod recording;
mod report;
mod rounds;
mod scale;
mod script;
mod snapshot;
mod start;
mod views;

use std::error::Error;

use options::{Only, Options};
use report::Report;

/// What a goal's module offers.
type Goal = fn(&Options, &mut Report) -> Result<(), Box<dyn Error>>;

const GOALS: &[(&str, Goal)] = &[
    ("data", data::run),
    ("lightweight", lightweight::run),
    ("disabled", disabled::run),
    ("events", events::run),
    ("peers", peers::run),
    ("snapshot", snapshot::run),
    ("drain", drain::run),
    ("disk", disk::run),
    ("busy", busy::run),
    ("views", views::run),
    ("cli", cli::run),
    ("start", start::run),
    ("scale", scale::run),
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::from_arguments(std::env::args().skip(1))?;
    if let Some(only) = &options.only {
        return answer(only);
    }
    if let Some(name) = options.names.iter().find(|name| !GOALS.iter().any(|(goal, _)| goal == name)) {
        let known: Vec<&str> = GOALS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no goal is called `{name}`; there are {}", known.join(", ")).into());
    }
    if !options.is_brief {
        println!("{}", measured::about());
    }
    let mut report = Report::default();
    for (name, goal) in GOALS {
        if options.names.is_empty() || options.names.iter().any(|wanted| wanted == name) {
            goal(&options, &mut report)?;
        }
    }
    report.write(&options)
}

/// Says what is asked for, of which some is measured in a process of its own.
fn answer(Only { what, how }: &Only) -> Result<(), Box<dyn Error>> {
    match what.as_str() {
        "--about" => println!("{}", measured::about()),
        "--list" => println!("{}", GOALS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("\n")),
        "--start" => start::answer(how)?,
        "--busy" => busy::answer(how)?,
        "--many" => scale::answer(how)?,
        _ => return Err(format!("nobody answers {what}").into()),
    }
    Ok(())
}
