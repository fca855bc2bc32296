//! Tasks that are neither cargo nor a test: `cargo xtask COMMAND`.
#![forbid(unsafe_code)]

mod bench;
mod cargo;
mod cost;
mod fuzz;
mod instrument;
mod pages;
mod sanitize;
mod terminal;
mod test;
mod torture;

use std::error::Error;
use std::process::ExitCode;

use terminal::complain;

/// What the commands answer: any error ends the task with its text.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: cargo xtask COMMAND

  bench [NAME…]            measures what is promised, beside others: all of it, twice, or only data, lightweight,
                           disabled, events, peers, snapshot, drain, disk, busy, views, cli, start, scale
      --markdown FILE      writes the table there, too
      --quick              few rounds, once
      --once, --twice      so often; of each figure the worse one counts
      --without-python     leaves out what needs Python packages
  bench instructions       counts the instructions of a recorded call and compares them with the committed ones
      --write              commits to these
  cost                     counts the instructions of a recorded training beside those of a bare one, and
                           takes the wall time of 30 pairs of runs
      --pairs N            of so many pairs
      --short              only the instructions
      --wall               only the wall time
  fuzz [NAME…]             runs the fuzz targets, 10 minutes each
      --short              20 seconds each
      --seconds N          so many seconds each
  instrument CRATE…        puts #[task] on every eligible function of a crate, in a scratch copy, and
                           runs the crate's own tests, before and after
  pages                    opens the HTML report and all plots of a run in headless Chromium, light and dark: no
                           request, no message, and no fault that axe finds (needs chromium, node and npm)
  sanitize [NAME…]         runs the journal's tests under miri, thread and address, with a nightly compiler
      --short              one schedule of miri instead of 64
  test                     gets what the tests need, and runs them all
  torture kill [OPTIONS]   kills a recording program at random times and looks for what is lost; three folders in four
                           lie in /dev/shm, if it has room
      --short              100 kills instead of 200
      --kills N            so many kills
      --seed S             the times and loads of an earlier run
      --minutes N          stops after so many minutes and reports what was done till then
      --queue              only the control: a plain queue, which must lose records
  torture copies [--short] [--cases N] [--minutes N]
                           copies the database while a program writes to it, by telemetry snapshot and by cp
  torture crowd [--short]  1,000 threads, a million threads that live for one call, 64 processes of which 20 are killed
  torture damage [--short] [--cases N] [--seed S]
                           damages databases, logs and journals at random and recovers them
  torture power [--short] [--cases N] [--seed S] [--minutes N]
                           cuts the power of a disk in an image while a program records with durability: power
  torture ends [--short]   a process ends in every way that there is: exit, signals, panics, no memory
  torture failpoints [--short]
                           code of ours panics at each of its places, once and each time
  torture fork [--short]   a program forks 64 children while 8 threads record: each records everything
  torture ids [--short]    8 processes record 200,000 tasks each: no id may come twice
  torture loom [--short]   a lane with its producer, its drain and a tap, in every order there can be
  torture sampling [--short]
                           a million nested tasks, sampled: what is kept and what is counted as left
                           out are all of them, and every error is there with its ancestors
  torture session [OPTIONS]
                           kills a program with session files: after recovery these and the database
                           agree; and 100,000 packets need no more memory than 50,000
      --short              6 kills instead of 50, and memory is not looked at
      --kills N, --seed S  as above
      --moe                kills the example moe_inference, which needs candle
  torture shuttle [--short]
                           a lane with its producer, its drain and two taps, in orders that are drawn, 10 minutes
                           for each kind
  torture snapshots [--short]
                           a million snapshots: not a descriptor more than at the beginning
  torture sql [--short] [--cases N]
                           questions without end against telemetry sql: how long after its limit each ends
  torture syscalls [--short] [--cases N] [--seed S] [--minutes N]
                           each system call of the recorder fails, once and for ever, or is where the program
                           is killed; syncs that are slow or hang (needs strace)
      --done N             leaves out so many, which an earlier run with the same seed has done
  torture tap [--short]    kills a program, who watches it and who drains it, in all orders, 300 times";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["bench", rest @ ..] => bench::run(rest),
        ["cost", rest @ ..] => cost::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["instrument", names @ ..] => instrument::run(names),
        ["pages"] => pages::run(),
        ["sanitize", rest @ ..] => sanitize::run(rest),
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
