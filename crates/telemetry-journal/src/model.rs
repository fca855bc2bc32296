//! A lane with its producer, its drain and a tap, in every order that the memory model allows.
//!
//! The ring is as small as can be, eight words with frames of three or four, so that a producer that is only
//! one frame ahead of the drain overwrites what a tap may be reading. Run by `cargo xtask torture loom`.

use loom::sync::Arc;
use loom::thread;

use crate::batch::{Batch, Mark};
use crate::follow::Cursor;
use crate::lane::{Outgoing, Ring};
use crate::layout::lane;
use crate::sync::AtomicU64;

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
    /// Looks once, from the oldest frame on that it finds.
    Watches,
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
            Self::WatchesFromTheFirst => watch(&ring, Cursor::first()),
            Self::Watches => watch(&ring, Cursor::oldest(&ring)),
        }
    }
}

fn watch(ring: &Ring<'_>, mut cursor: Cursor) -> Done {
    let mut seen = Vec::new();
    look(ring, &mut cursor, &mut seen);
    Done::Watched(cursor, seen)
}

/// Lets them play together, and compares what they bring home with what there was. The first begins: loom
/// forgets that a thread read a word once another one did, so that who reads and then writes must be first to be
/// interrupted everywhere.
///
/// What would take hours is tried with so many interruptions of a thread at the most: `preemptions`.
fn play(roles: &'static [Role], preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(preemptions);
    model.check(move || {
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
    });
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

use Role::{Drains, Produces, ProducesAndReleases, Watches, WatchesFromTheFirst};

/// A producer, with the drain in its pauses, overwrites what the tap reads.
#[test]
fn a_tap_is_overrun_and_knows_it() {
    play(&[ProducesAndReleases(3), WatchesFromTheFirst], Some(2));
}

/// A producer and a drain hand every frame over once, in order, and free the space only when it is read.
#[test]
fn a_drain_gets_every_frame_once() {
    play(&[Produces(4), Drains(2)], None);
}

#[test]
fn a_producer_a_drain_and_a_tap() {
    play(&[Produces(3), Drains(1), Watches], Some(2));
}

#[test]
fn a_drain_a_producer_and_a_tap() {
    play(&[Drains(1), Produces(3), Watches], None);
}

#[test]
fn a_tap_a_producer_and_a_drain() {
    play(&[Watches, Produces(3), Drains(1)], None);
}
