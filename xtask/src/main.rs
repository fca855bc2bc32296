//! Tasks that are neither cargo nor a test: `cargo xtask COMMAND`.
#![forbid(unsafe_code)]

mod bench;
mod cargo;
mod fuzz;
mod instrument;
mod terminal;
mod test;
mod torture;

use std::error::Error;
use std::process::ExitCode;

use terminal::complain;

/// What the commands answer: any error ends the task with its text.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: cargo xtask COMMAND

  bench [NAME…]            measures what is promised, beside others: all of it, or only
                           data, lightweight, disabled, events, snapshot, drain, disk, views, start
      --markdown FILE      writes the table there, too
      --without-python     leaves out what needs Python packages
  fuzz [NAME…]             runs the fuzz targets, 10 minutes each
      --short              20 seconds each
      --seconds N          so many seconds each
  instrument CRATE…        puts #[task] on every eligible function of a crate, in a scratch copy, and
                           runs the crate's own tests, before and after
  test                     gets what the tests need, and runs them all
  torture kill [OPTIONS]   kills a recording program at random times and looks for what is lost
      --short              15 kills instead of 200
      --kills N            so many kills
      --seed S             the times and loads of an earlier run
      --queue              only the control: a plain queue, which must lose records
  torture fork [--short]   a program forks 64 children while 8 threads record: each records everything
  torture ids [--short]    8 processes record 200,000 tasks each: no id may come twice
  torture loom [--short]   a lane with its producer, its drain and a tap, in every order there can be
  torture sampling [--short]
                           a million nested tasks, sampled: what is kept and what is counted as left
                           out are all of them, and every error is there with its ancestors
  torture snapshots [--short]
                           a million snapshots: not a descriptor more than at the beginning
  torture tap [--short]    kills a program, who watches it and who drains it, in all orders, 300 times";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["bench", rest @ ..] => bench::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["instrument", names @ ..] => instrument::run(names),
        ["test"] => test::run(),
        ["torture", rest @ ..] => torture::run(rest),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
