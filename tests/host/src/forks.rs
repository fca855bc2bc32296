//! Forks while threads record: every child records as well, under the task that forked it.

use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fork::{Fork, fork, waitpid};
use telemetry::{Recorder, Workflow, task};

use crate::options::Options;

/// Every so many children, one ends without a word.
const ABORT_EVERY: u32 = 4;

/// Forks the children, records as much itself, and ends when all of them have.
pub(crate) fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let recorder = Recorder::start_with_found_settings()?;
    let workflow = Workflow::start("fork");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    black_box(busy(1));
                }
            });
        }
        let forked =
            (0..options.children).map(|child| forking(child, options)).collect::<Result<Vec<_>, _>>();
        step_all(options);
        let waited =
            forked.map(|children| children.into_iter().try_for_each(|child| waitpid(child).map(drop)));
        is_over.store(true, Ordering::Relaxed);
        waited?
    })?;
    workflow.end();
    drop(recorder);
    Ok(())
}

/// Forks and ends at once, as a program does that goes into the background; the child records and ends later.
pub(crate) fn leave(options: Options) -> Result<(), Box<dyn Error>> {
    let recorder = Recorder::start_with_found_settings()?;
    step_all(options);
    match fork()? {
        Fork::Parent(_) => drop(recorder),
        Fork::Child => {
            step_all(options);
            end(0)
        }
    }
    Ok(())
}

/// Forks; the child records and ends, and never returns from here.
#[task]
fn forking(child: u32, options: Options) -> std::io::Result<i32> {
    match fork()? {
        Fork::Parent(pid) => Ok(pid),
        Fork::Child => {
            step_all(options);
            end(child)
        }
    }
}

#[expect(clippy::exit, reason = "the end of a forked child, which must not return into the parent's code")]
fn end(child: u32) -> ! {
    if child % ABORT_EVERY == ABORT_EVERY - 1 { std::process::abort() } else { std::process::exit(0) }
}

fn step_all(options: Options) {
    for number in 0..options.tasks.unwrap_or(1) {
        black_box(step(number));
    }
}

#[task]
fn step(number: u64) -> u64 {
    number + 1
}

#[task]
fn busy(number: u64) -> u64 {
    number
}
