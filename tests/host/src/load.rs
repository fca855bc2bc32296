//! The load: threads that call nested recorded functions.

use std::cell::Cell;
use std::error::Error;
use std::thread;

use telemetry::{Context, Recorder, Workflow, task};

use crate::ledger::{Accepted, Ledger};
use crate::options::Options;

/// Three of these are longer than the longest frame of a lane of 64 KiB; one is less than a value may be.
const LARGE_BYTES: usize = 4_000;

/// The name of a thread that others follow.
const LIFE: &str = "life";

/// Records until the tasks are done, or until killed.
pub(crate) fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::new(options.acknowledge)?;
    let _recorder = Recorder::start_with_found_settings()?;
    let workflow = Workflow::start("torture");
    thread::scope(|scope| {
        for thread in 0..options.threads {
            let ledger = &ledger;
            scope.spawn(move || live(options, ledger, thread));
        }
    });
    workflow.end();
    Ok(())
}

/// One thread, or many that follow each other: the next takes over the lane that the one before gave back.
fn live(options: Options, ledger: &Ledger, thread: u32) {
    let life = |first: u64| {
        let worker = Worker { options, ledger, thread, number: Cell::new(first) };
        worker.run();
        worker.number.get()
    };
    let mut number = 0;
    while options.tasks.is_none_or(|tasks| number < tasks) {
        number = match options.calls_a_life {
            None => life(number),
            Some(_) => {
                let thread = thread::Builder::new().name(LIFE.to_owned());
                thread::scope(|scope| {
                    let spawned = thread.spawn_scoped(scope, || life(number)).expect("a thread");
                    spawned.join().expect("the load does not panic")
                })
            }
        };
    }
}

/// One thread of the load.
#[derive(Debug)]
struct Worker<'a> {
    options: Options,
    ledger: &'a Ledger,
    thread: u32,
    /// Tasks so far.
    number: Cell<u64>,
}

impl Worker<'_> {
    fn run(&self) {
        let mut calls = 0;
        while let Some(levels) = self.levels_left() {
            if self.options.calls_a_life.is_some_and(|max| calls >= max) {
                return;
            }
            calls += 1;
            if self.options.large_every.is_some_and(|every| calls % every == 0) {
                let text = "x".repeat(LARGE_BYTES);
                self.returned(large(self, &text, &text, &text));
            } else {
                self.returned(nested(self, levels, self.number.get()));
            }
        }
    }

    /// How deep the next call may nest; none when all tasks are done.
    fn levels_left(&self) -> Option<u32> {
        let levels = u64::from(self.options.levels);
        let left = self.options.tasks.map_or(levels, |tasks| levels.min(tasks - self.number.get()));
        (left > 0).then_some(left as u32)
    }

    /// In a task: tells the ledger that its START was accepted, and answers what its END needs.
    fn entered(&self) -> Called {
        let number = self.number.get();
        self.number.set(number + 1);
        let task = Context::current().task().map_or(0, telemetry::TaskId::as_u128);
        self.ledger.tell(Accepted::Start, self.thread, number, task);
        Called { number, task }
    }

    /// After a task: tells the ledger that its END was accepted.
    fn returned(&self, called: Called) {
        self.ledger.tell(Accepted::End, self.thread, called.number, called.task);
    }
}

/// A task as the ledger knows it.
#[derive(Clone, Copy, Debug)]
struct Called {
    number: u64,
    task: u128,
}

#[task(skip(worker))]
fn nested(worker: &Worker<'_>, levels: u32, before: u64) -> Called {
    let called = worker.entered();
    if levels > 1 {
        worker.returned(nested(worker, levels - 1, before));
    }
    called
}

#[task(skip(worker))]
fn large(worker: &Worker<'_>, first: &str, second: &str, third: &str) -> Called {
    debug_assert_eq!((first, second), (second, third));
    worker.entered()
}
