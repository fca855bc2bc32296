//! What a tap promises: it sees what is there, says how much it missed, and changes nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use telemetry_journal::{
    Batch, Config, Journal, JournalError, Name, OnFull, Outgoing, Sightings, Source, Standing, Tap,
};

fn config(number: u128, lane_bytes: u64, on_full: OnFull) -> Config {
    let id = 0x0199_0000_0000_7000_8000_0000_0000_0000 | number;
    Config { id, lane_bytes, lanes_max: 4, on_full, wait_max: Duration::from_mins(1) }
}

fn offer(lane: &telemetry_journal::Lane, number: u64) -> bool {
    let words = [number, !number, number.wrapping_mul(0x9E37_79B9_7F4A_7C15), 7, 7].map(u64::to_le_bytes);
    lane.offer(Outgoing { kind: 9, fixed: 1, words: &words[..=number as usize % 5] })
}

fn drain(journal: &Journal) -> usize {
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    journal.release(&batch);
    batch.len()
}

fn look(tap: &mut Tap) -> Vec<u64> {
    let mut batch = Batch::new();
    tap.look(&mut batch).unwrap();
    batch.frames().map(|frame| frame.words[0]).collect()
}

fn numbers(range: std::ops::Range<u64>) -> Vec<u64> {
    range.collect()
}

fn sum(sightings: Sightings) -> u64 {
    sightings.before + sightings.seen + sightings.missed
}

#[test]
fn a_tap_sees_what_comes_and_what_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(folder.path(), config(1, 4096, OnFull::Drop)).unwrap();
    let path = journal.path().unwrap();
    let lane = journal.claim().unwrap();
    let mut early = Tap::open(path).unwrap();
    assert_eq!(look(&mut early), [0; 0]);
    assert!((0..10).all(|number| offer(lane, number)));
    assert_eq!(look(&mut early), numbers(0..10));
    assert_eq!((early.counters().offered, early.counters().pending), (10, 10));
    assert_eq!(drain(journal), 10);
    assert_eq!((early.counters().persisted, early.counters().pending), (10, 0));
    // What is drained stays until it is overwritten.
    let mut late = Tap::open(path).unwrap();
    assert_eq!(look(&mut late), numbers(0..10));
    let mut later = Tap::open(path).unwrap();
    later.skip_to_end();
    let number = journal.add_name(Name { kind: 2, bytes: b"{}".to_vec() }).unwrap();
    // A lane that is younger than the taps.
    let second = journal.claim().unwrap();
    assert!(offer(second, 70) && offer(lane, 10));
    for tap in [&mut early, &mut late, &mut later] {
        assert_eq!(look(tap), [10, 70]);
        assert_eq!(tap.name(number).unwrap().bytes, b"{}");
        assert_eq!(sum(tap.sightings()), 12);
        assert!(!tap.is_over());
    }
    assert_eq!(early.sightings(), late.sightings());
    assert_eq!((later.sightings().before, later.sightings().missed), (10, 0));
}

#[test]
fn a_tap_that_is_too_slow_says_how_much_it_missed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(folder.path(), config(2, 4096, OnFull::Drop)).unwrap();
    let lane = journal.claim().unwrap();
    let mut tap = Tap::open(journal.path().unwrap()).unwrap();
    for number in 0..1000 {
        assert!(offer(lane, number));
        drain(journal);
    }
    let seen = look(&mut tap);
    let first = seen[0];
    assert_eq!(seen, numbers(first..1000));
    assert_eq!((tap.sightings().seen, tap.sightings().missed), (1000 - first, first));
    // Nothing is left of what it missed, and nothing is new.
    for number in 1000..1200 {
        assert!(offer(lane, number));
        drain(journal);
    }
    look(&mut tap);
    assert_eq!(sum(tap.sightings()), 1200);
    // A lane that is full and waits for its drain is read to the last word.
    let full = (1200..10_000).take_while(|number| offer(lane, *number)).count() as u64;
    assert_eq!(look(&mut Tap::open(journal.path().unwrap()).unwrap()).last(), Some(&(1200 + full - 1)));
    assert_eq!(look(&mut tap), numbers(1200..1200 + full));
}

#[test]
fn readers_of_any_speed_account_for_every_record() {
    const RECORDS: u64 = 200_000;
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(folder.path(), config(3, 4096, OnFull::Wait)).unwrap();
    let path = journal.path().unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) || journal.counters().pending > 0 {
                drain(journal);
            }
        });
        let watch = |pause: u64| {
            let mut tap = Tap::open(path).unwrap();
            let (mut expected, mut batch) = (0, Batch::new());
            let mut is_last = false;
            loop {
                batch.clear();
                tap.look(&mut batch).unwrap();
                for frame in batch.frames() {
                    assert!(frame.words[0] >= expected, "a record came again");
                    let is_whole = frame.words[1..]
                        .first()
                        .is_none_or(|word| frame.words[0] % 3 == 0 || *word == !frame.words[0]);
                    assert!(is_whole, "a record is garbled");
                    assert_eq!(frame.sequence, frame.words[0]);
                    expected = frame.words[0] + 1;
                }
                (0..pause).for_each(|_| thread::yield_now());
                if is_last {
                    return tap.sightings();
                }
                is_last = is_over.load(Ordering::Acquire) && journal.counters().pending == 0;
            }
        };
        let readers = [0, 1, 50].map(|pause| scope.spawn(move || watch(pause)));
        let lane = journal.claim().unwrap();
        assert!((0..RECORDS).all(|number| offer(lane, number)));
        is_over.store(true, Ordering::Release);
        for reader in readers {
            let sightings = reader.join().unwrap();
            assert_eq!(sum(sightings), RECORDS, "{sightings:?}");
        }
    });
    assert_eq!(journal.counters().persisted, RECORDS);
}

#[test]
fn what_is_no_journal_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.journal");
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Tap::open(&path).unwrap_err()
    };
    assert!(matches!(refused(b""), JournalError::NotAJournal { .. }));
    assert!(matches!(refused(&vec![0x55; 40_000]), JournalError::NotAJournal { .. }));
    assert!(matches!(Tap::open(folder.path()).unwrap_err(), JournalError::NotAJournal { .. }));
    assert!(matches!(Tap::open(Path::new("/nowhere")).unwrap_err(), JournalError::Io { .. }));

    let standing = Standing { name: Some("agent"), is_drained_from_outside: false };
    let journal = Journal::create_as(folder.path(), config(4, 4096, OnFull::Drop), standing).unwrap();
    assert!(journal.path().unwrap().file_name().unwrap().to_str().unwrap().starts_with("agent-0199"));
    offer(journal.claim().unwrap(), 1);
    let whole = fs::read(journal.path().unwrap()).unwrap();
    let mut newer = whole.clone();
    newer[8] = 2;
    let message = refused(&newer).to_string();
    assert!(message.ends_with("is a journal of version 2; this program reads version 1"), "{message}");
    let message = refused(&whole[..whole.len() - 4096]).to_string();
    assert!(message.contains("is truncated"), "{message}");
    // A copy belongs to a living process, and its lanes are mapped like those of the journal itself.
    fs::write(&path, &whole).unwrap();
    assert_eq!(look(&mut Tap::open(&path).unwrap()), [1]);
    for position in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[position] ^= 0x41;
        fs::write(&path, &damaged).unwrap();
        if let Ok(mut tap) = Tap::open(&path) {
            let _ = tap.look(&mut Batch::new());
        }
    }
}
