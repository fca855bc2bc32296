//! Those who share a lane: its producer, its drain and a tap, and what must hold when they are done.
//!
//! The ring is as small as can be, eight words with frames of three or four, so that a producer that is only
//! one frame ahead of the drain overwrites what a tap may be reading. `every_order` lets loom try all that the memory
//! model allows, `schedules` lets shuttle draw long runs at random.

#[cfg(loom)]
mod every_order;
#[cfg(shuttle)]
mod schedules;

use crate::batch::{Batch, Mark};
use crate::follow::Cursor;
use crate::lane::{Outgoing, Ring};
use crate::layout::lane;
use crate::sync::{Arc, AtomicU64, thread};

const RING_WORDS: usize = 8;
const SLACK_WORDS: usize = 4;
/// Frames of four words, of which the third overwrites the first; and frames of three and four by turns.
const LONG: u8 = 8;
const MIXED: u8 = 9;

type Words = Arc<Vec<AtomicU64>>;

fn words() -> Words {
    Arc::new((0..lane::RING + RING_WORDS + SLACK_WORDS).map(|_| AtomicU64::new(0)).collect())
}

fn ring(words: &Words) -> Ring<'_> {
    Ring::new(words, RING_WORDS).expect("the words suffice")
}

/// Offers frames until `count` were tried; answers how many were accepted. A frame says its own number.
fn produce(ring: &Ring<'_>, count: u64) -> u64 {
    let tail = AtomicU64::new(0);
    let mut accepted = 0;
    for _ in 0..count {
        let words = [accepted ^ 0xA5, accepted].map(u64::to_le_bytes);
        let length = 1 + (accepted % 2) as usize;
        let record = Outgoing { kind: MIXED, fixed: length, words: &words[..length] };
        accepted += u64::from(ring.push(record, &tail).is_ok());
    }
    accepted
}

/// Takes everything out as a drain does; answers the numbers of the frames.
fn drain(ring: &Ring<'_>) -> Vec<u64> {
    let mut batch = Batch::new();
    ring.collect(0, &mut batch, usize::MAX);
    let numbers = batch.frames().map(|frame| check(&frame)).collect();
    batch.marks.iter().for_each(|mark| {
        assert_eq!(mark.damaged, 0, "the drain took a frame for damaged");
        ring.release(*mark);
    });
    numbers
}

/// Looks once; whatever is believed must be whole, and come in order.
fn look(ring: &Ring<'_>, cursor: &mut Cursor, seen: &mut Vec<u64>) {
    let mut batch = Batch::new();
    ring.follow(cursor, 0, &mut batch, usize::MAX);
    seen.extend(batch.frames().map(|frame| check(&frame)));
    assert!(seen.is_sorted_by(|first, second| first < second), "{seen:?}");
}

fn check(frame: &crate::batch::Frame<'_>) -> u64 {
    assert_eq!(frame.words[0], frame.sequence ^ 0xA5, "a frame is torn");
    let length = if frame.kind == LONG { 2 } else { 1 + frame.sequence % 2 };
    assert_eq!(frame.words.len() as u64, length, "a frame has the length of another");
    frame.sequence
}

/// What the tap saw, and how much it missed, is all there was.
fn account(ring: &Ring<'_>, mut cursor: Cursor, mut seen: Vec<u64>, accepted: u64) {
    look(ring, &mut cursor, &mut seen);
    assert_eq!(cursor.seen, seen.len() as u64);
    assert_eq!(cursor.before + cursor.seen + cursor.missed, accepted, "{cursor:?} {seen:?}");
}

/// What one of the three brings home.
#[derive(Debug)]
enum Done {
    Produced(u64),
    Drained(Vec<u64>),
    Watched(Cursor, Vec<u64>),
}

/// One of those who share the lane.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// Offers so many frames.
    Produces(u64),
    /// Offers so many, and gives the space of each free before the next, as a drain would.
    ProducesAndReleases(u64),
    /// Drains so many times.
    Drains(usize),
    /// Looks once, from the lane's first frame on.
    WatchesFromTheFirst,
    /// Looks so many times, from the oldest frame on that it finds.
    Watches(usize),
}

impl Role {
    fn play(self, words: &Words) -> Done {
        let ring = ring(words);
        match self {
            Self::Produces(count) => Done::Produced(produce(&ring, count)),
            Self::ProducesAndReleases(count) => {
                for number in 0..count {
                    let words = [number ^ 0xA5, number].map(u64::to_le_bytes);
                    let record = Outgoing { kind: LONG, fixed: 2, words: &words };
                    assert!(ring.push(record, &AtomicU64::new(0)).is_ok());
                    ring.release(Mark { lane: 0, tail: 4 * (number + 1), sequence: number + 1, damaged: 0 });
                }
                Done::Produced(count)
            }
            Self::Drains(times) => Done::Drained((0..times).flat_map(|_| drain(&ring)).collect()),
            Self::WatchesFromTheFirst => watch(&ring, Cursor::first(), 1),
            Self::Watches(times) => watch(&ring, Cursor::oldest(&ring), times),
        }
    }
}

fn watch(ring: &Ring<'_>, mut cursor: Cursor, times: usize) -> Done {
    let mut seen = Vec::new();
    (0..times).for_each(|_| look(ring, &mut cursor, &mut seen));
    Done::Watched(cursor, seen)
}

/// Lets them play together, and compares what they bring home with what there was. The first of them begins.
fn play_once(roles: &'static [Role]) {
    let words = words();
    let others: Vec<_> = roles[1..]
        .iter()
        .map(|role| {
            let shared = words.clone();
            thread::spawn(move || role.play(&shared))
        })
        .collect();
    let mut done = vec![roles[0].play(&words)];
    done.extend(others.into_iter().map(|other| other.join().expect("it is done")));
    check_all(&ring(&words), done);
}

fn check_all(ring: &Ring<'_>, done: Vec<Done>) {
    let accepted =
        done.iter().find_map(|done| if let Done::Produced(count) = done { Some(*count) } else { None });
    let accepted = accepted.expect("somebody produces");
    let last = drain(ring);
    assert_eq!(ring.get(lane::COMMITTED), accepted);
    for done in done {
        match done {
            Done::Produced(_) => {}
            Done::Drained(mut numbers) => {
                numbers.extend(&last);
                assert_eq!(numbers, (0..accepted).collect::<Vec<_>>());
            }
            Done::Watched(cursor, seen) => account(ring, cursor, seen, accepted),
        }
    }
}
