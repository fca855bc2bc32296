//! A fixed amount of work, whose output and end must be the same whatever happens to the recorder.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::thread;
use std::time::Duration;

use telemetry::{task, workflow};

/// How it ends, so that no other end is taken for a good one.
const EXIT_CODE: i32 = 7;
/// Between two rounds, so that the drain has something to do in between.
const PAUSE: Duration = Duration::from_millis(10);
/// Every so many tasks, one has arguments that are longer than a small lane takes.
const LARGE_EVERY: u64 = 60;

/// How much there is to do, and how it ends.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    rounds: u64,
    tasks: u64,
    /// Waits for a line of input before the work.
    waits: bool,
    end: String,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { rounds: 4, tasks: 60, waits: false, end: "exit".to_owned() };
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
            let number = |text: String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
            match name.as_str() {
                "--rounds" => options.rounds = number(value()?)?,
                "--tasks" => options.tasks = number(value()?)?,
                "--end" => options.end = value()?,
                "--wait" => options.waits = true,
                _ => return Err(format!("there is no option {name}")),
            }
        }
        Ok(options)
    }
}

/// Works, and ends.
#[expect(clippy::exit, reason = "the exit code is part of what must not change")]
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    work(options);
    if options.end == "return" {
        return Ok(());
    }
    end(&options.end);
    std::process::exit(EXIT_CODE)
}

#[workflow]
fn work(options: &Options) {
    if options.waits {
        say("ready");
        std::io::stdin().read_line(&mut String::new()).expect("a line of input");
    }
    for round in 0..options.rounds {
        let sum: u64 = (0..options.tasks).map(|number| one(round * options.tasks + number)).sum();
        say(&format!("round {round}: {sum}"));
        thread::sleep(PAUSE);
    }
    if options.end == "inside" {
        end("abort");
    }
}

fn one(number: u64) -> u64 {
    if number % LARGE_EVERY == LARGE_EVERY - 1 {
        let text = "x".repeat(4_000);
        return large(number, &text, &text, &text);
    }
    small(number)
}

#[task]
fn small(number: u64) -> u64 {
    number + 1
}

#[task]
fn large(number: u64, first: &str, second: &str, third: &str) -> u64 {
    number + (first.len() + second.len() + third.len()) as u64
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("somebody reads");
}

/// Ends the process in one of the ways that a process ends, or returns.
fn end(how: &str) {
    match how {
        "abort" => std::process::abort(),
        "panic" => panic!("the end"),
        "threads" => (0..4).for_each(|_| drop(thread::spawn(|| while black_box(small(1)) > 0 {}))),
        "wait" => {
            say("done");
            std::io::stdin().read_line(&mut String::new()).expect("a line of input");
        }
        // Until the kernel ends it.
        "fill" => {
            std::mem::forget((0_u8..).map(|byte| vec![byte | 1; 1 << 20]).take(1 << 20).collect::<Vec<_>>())
        }
        "overflow" => drop(overflow(0)),
        _ => {}
    }
}

/// Uses up the stack.
#[expect(unconditional_recursion, reason = "that is what it is for")]
fn overflow(depth: u64) -> [u64; 64] {
    let below = overflow(depth + 1);
    black_box([below[0] + depth; 64])
}
