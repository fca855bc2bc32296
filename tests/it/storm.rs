//! Many async tasks on many threads, cancelled at random: the recorded tree is the one that the program noted itself.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;

use telemetry::{InCurrentTask, task, workflow};
use tokio::task::{AbortHandle, yield_now};

use crate::programs::Place;

/// The tasks of the runtime, and the calls of each.
const WALKS: u32 = 64;
const CALLS: u32 = 1_000;
const DEPTH_MAX: u32 = 40;
/// Every so many walks one is aborted in the midst.
const ABORTED_EVERY: u32 = 4;
const NOTES: &str = "noted.txt";

/// What was noted, over all walks: number, the number of the caller, status.
static NOTED: Mutex<BTreeMap<u32, (u32, &str)>> = Mutex::new(BTreeMap::new());

/// One walk through a tree of calls that grows at random.
struct Walk {
    random: Mutex<u64>,
    first: u32,
    calls: AtomicU32,
    /// After how many calls it is aborted.
    abort_at: u32,
    handle: OnceLock<AbortHandle>,
}

impl Walk {
    fn new(walk: u32, seed: u64) -> Self {
        let random = Mutex::new(seed.wrapping_mul(u64::from(walk) * 2 + 1));
        let first = walk * CALLS + 1;
        let mut walked =
            Self { random, first, calls: AtomicU32::new(0), abort_at: u32::MAX, handle: OnceLock::new() };
        if walk.is_multiple_of(ABORTED_EVERY) {
            walked.abort_at = walked.roll(CALLS);
        }
        walked
    }

    /// A number below `sides`, by xorshift.
    fn roll(&self, sides: u32) -> u32 {
        let mut state = self.random.lock().expect("not poisoned");
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 33) as u32 % sides
    }

    /// The number of the next call, while there are some left.
    fn next(&self) -> Option<u32> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call == self.abort_at {
            self.handle.get().expect("set before the walk begins").abort();
        }
        (call < CALLS).then_some(self.first + call)
    }
}

/// Notes a call when it is left: as cancelled, unless something else was said before.
struct Note {
    number: u32,
    caller: u32,
    status: &'static str,
}

impl Drop for Note {
    fn drop(&mut self) {
        NOTED.lock().expect("not poisoned").insert(self.number, (self.caller, self.status));
    }
}

fn note(number: u32, caller: u32) -> Note {
    Note { number, caller, status: "CANCELLED" }
}

#[task(skip(walk, depth))]
async fn call(number: u32, caller: u32, walk: &Walk, depth: u32) -> Result<(), String> {
    let mut note = note(number, caller);
    while depth == 0 || depth < DEPTH_MAX && walk.roll(3) != 0 {
        let Some(next) = walk.next() else { break };
        if walk.roll(4) == 0 {
            yield_now().await;
        }
        match walk.roll(8) {
            0 => drop(leaf(next, number, walk)),
            1 => drop(catch_unwind(AssertUnwindSafe(|| leaf_that_panics(next, number)))),
            2 => give_up_after(walk.roll(3), boxed(next, number, walk, depth)).await,
            3 => {
                let other = walk.next().map(|other| boxed(other, number, walk, depth));
                let other = async {
                    if let Some(other) = other {
                        drop(other.await);
                    }
                };
                tokio::join!(async { drop(boxed(next, number, walk, depth).await) }, other);
            }
            _ => drop(boxed(next, number, walk, depth).await),
        }
    }
    if depth > 0 && walk.roll(6) == 0 {
        note.status = "ERROR";
        return Err("unlucky".to_owned());
    }
    note.status = "FINISHED";
    Ok(())
}

type Call<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

fn boxed(number: u32, caller: u32, walk: &Walk, depth: u32) -> Call<'_> {
    Box::pin(call(number, caller, walk, depth + 1))
}

#[task(skip(walk))]
fn leaf(number: u32, caller: u32, walk: &Walk) -> Result<(), String> {
    let mut note = note(number, caller);
    let is_good = walk.roll(2) == 0;
    note.status = if is_good { "FINISHED" } else { "ERROR" };
    if is_good { Ok(()) } else { Err("bad leaf".to_owned()) }
}

#[task]
fn leaf_that_panics(number: u32, caller: u32) {
    let mut note = note(number, caller);
    note.status = "ERROR";
    // Unlike `panic!`, this prints nothing.
    resume_unwind(Box::new("a panic"));
}

/// Polls at least once, and drops the future when it is still not done after some polls more.
async fn give_up_after(polls: u32, mut future: Call<'_>) {
    let mut left = polls;
    std::future::poll_fn(|context| {
        let poll = future.as_mut().poll(context);
        if poll.is_ready() || left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        Poll::Pending
    })
    .await;
}

#[task]
async fn root(number: u32) {
    let _ = number;
    let walks: Vec<_> = (0..WALKS)
        .map(|number| {
            let walk = Arc::new(Walk::new(number, 0x9E37_79B9_7F4A_7C15));
            let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
            let walked = Arc::clone(&walk);
            let task = tokio::spawn(
                async move {
                    let _ = receiver.await;
                    if let Some(first) = walked.next() {
                        let _ = call(first, 0, &walked, 0).await;
                    }
                }
                .in_current_task(),
            );
            assert!(walk.handle.set(task.abort_handle()).is_ok() && sender.send(()).is_ok());
            task
        })
        .collect();
    for walk in walks {
        let _ = walk.await;
    }
}

/// The program.
#[workflow]
pub(crate) fn storm() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().expect("a runtime");
    runtime.block_on(async {
        let mut root = pin!(root(0));
        root.as_mut().await;
    });
    drop(runtime);
    let mut text = "0|null|FINISHED\n".to_owned();
    for (number, (caller, status)) in &*NOTED.lock().expect("not poisoned") {
        let _ = writeln!(text, "{number}|{caller}|{status}");
    }
    fs::write(NOTES, text).expect("the notes are written");
}

#[test]
fn the_recorded_tree_is_the_one_that_the_program_noted() {
    let place = Place::new();
    place.run("storm");
    place.recover();
    let recorded = place.table(
        "select t.used ->> 'number' as number, p.used ->> 'number', t.status
        from tasks t left join tasks p on p.task_id = t.parent_task_id order by number",
    );
    let noted = fs::read_to_string(place.path(NOTES)).expect("the program left its notes");
    let count = |status: &str| noted.lines().filter(|line| line.ends_with(status)).count();
    assert!(
        count("CANCELLED") > 500 && count("ERROR") > 500 && count("FINISHED") > 500,
        "not much of a storm"
    );
    let differing = recorded.lines().zip(noted.lines()).find(|(recorded, noted)| recorded != noted);
    assert_eq!(differing, None, "the recorded line and the noted one");
    assert_eq!(recorded.lines().count(), noted.lines().count());
    let aborted = WALKS.div_ceil(ABORTED_EVERY);
    assert!(noted.lines().count() as u32 > (WALKS - aborted) * CALLS, "{}", noted.lines().count());
}
