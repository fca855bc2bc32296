//! A little of everything that can be recorded, for faults of ours at any place of it.
//!
//! What it prints and how it ends must be the same whatever fails. With the feature `failpoints`, one place of ours can
//! be told to panic, or all places to write their names to a file.

use std::error::Error;
use std::future::Future;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use fork::{Fork, fork, waitpid};
use telemetry::{Task, current_task, event, task, track, workflow};

/// How it ends, so that no other end is taken for a good one.
const EXIT_CODE: i32 = 7;
const ROUNDS: u32 = 6;
/// Between two rounds, so that the drain has something to do in between.
const PAUSE: Duration = Duration::from_millis(15);
/// Of these, three are longer than a small lane takes.
const LARGE_BYTES: usize = 4_000;

/// Tells one place to fail: `--list FILE`, `--once PLACE` or `--always PLACE`.
#[cfg(feature = "failpoints")]
fn arm(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    use telemetry_journal::failpoint::{fail_at, list_to};

    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--list"), Some(file)) => list_to(file.as_ref())?,
        (Some("--once"), Some(place)) => fail_at(&place, false),
        (Some("--always"), Some(place)) => fail_at(&place, true),
        (None, None) => {}
        (option, _) => return Err(format!("there is no option {option:?}").into()),
    }
    Ok(())
}

#[cfg(not(feature = "failpoints"))]
fn arm(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let none = arguments.next().is_none();
    if none { Ok(()) } else { Err("this program is built without failpoints".into()) }
}

/// Does everything, and ends with a code of its own.
#[expect(clippy::exit, reason = "the exit code is part of what must not change")]
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    arm(arguments)?;
    all();
    std::process::exit(EXIT_CODE)
}

#[workflow]
fn all() {
    for round in 0..ROUNDS {
        say(&format!("round {round}: {:?}", once(round)));
        thread::sleep(PAUSE);
    }
    say(&format!("a thread: {:?}", thread::spawn(|| measured(1)).join().ok()));
    say(&format!("a child ended with {:?}", in_a_child()));
}

/// Everything once, and what the host sees of it.
fn once(round: u32) -> Vec<u32> {
    let text = "x".repeat(LARGE_BYTES);
    let looped = track("steps", 0..3_u32).map(|step| returns(*step)).sum();
    vec![
        returns(round),
        large(&text, &text, &text),
        fails(round).unwrap_or_else(|error| error.len() as u32),
        caught(panics, round),
        caught(by_hand, round),
        polled(round),
        measured(round),
        looped,
    ]
}

#[task]
fn returns(number: u32) -> u32 {
    current_task().metadata("number", number);
    number + 1
}

#[task]
fn large(first: &str, second: &str, third: &str) -> u32 {
    (first.len() + second.len() + third.len()) as u32
}

#[task]
fn fails(number: u32) -> Result<u32, String> {
    Err(format!("failure {number}"))
}

#[task]
fn panics(number: u32) -> u32 {
    // Unlike `panic!`, this prints nothing.
    resume_unwind(Box::new(number))
}

fn by_hand(number: u32) -> u32 {
    let _task = Task::start("by hand");
    resume_unwind(Box::new(number + 1))
}

/// What a panic carries, which must be what it was.
fn caught(run: fn(u32) -> u32, number: u32) -> u32 {
    let payload = catch_unwind(AssertUnwindSafe(|| run(number))).expect_err("the panic passes through");
    *payload.downcast::<u32>().expect("with its payload")
}

#[task]
async fn waits(number: u32) -> u32 {
    let mut is_polled = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    number + 2
}

fn polled(number: u32) -> u32 {
    let mut future = pin!(waits(number));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(number) = future.as_mut().poll(&mut context) {
            return number;
        }
    }
}

/// Events, with labels in the code and with labels of the moment.
fn measured(number: u32) -> u32 {
    event!(MEMORY, "bytes", u64::from(number), unit = "B");
    event!(MEMORY, "bytes", u64::from(number), unit = "B", round = number);
    number
}

/// Forks; the child records as well and ends with a code of its own.
#[expect(clippy::exit, reason = "the end of a forked child, which must not return into the parent's code")]
fn in_a_child() -> Option<i32> {
    match fork().ok()? {
        Fork::Parent(child) => waitpid(child).ok(),
        Fork::Child => std::process::exit(returns(2) as i32),
    }
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("somebody reads");
}
