//! A journal on the heap with producers, a drain and a thread that only counts, small enough for an interpreter that
//! checks every access: `cargo xtask sanitize miri`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use telemetry_journal::{Batch, Config, Journal, OnFull, Outgoing, Source, Word};

const PRODUCERS: u64 = 2;
const RECORDS: u64 = if cfg!(miri) { 60 } else { 50_000 };

fn journal(lanes_max: u32) -> &'static Journal {
    let wait_max = Duration::from_mins(10);
    Journal::in_memory(Config { id: 1, lane_bytes: 4096, lanes_max, on_full: OnFull::Wait, wait_max })
}

/// A record whose words say who made it, so that a mixture of two would show.
fn record(producer: u64, number: u64) -> [u64; 4] {
    [producer, number, producer ^ number, number.wrapping_mul(0x9E37_79B9_7F4A_7C15)]
}

/// Words of such a record that stay in any case.
const FIXED: usize = 4;

/// The same with others behind it, as it is offered.
fn words(producer: u64, number: u64) -> Vec<Word> {
    record(producer, number).into_iter().chain([7; 5]).map(u64::to_le_bytes).collect()
}

/// Takes out what there is, and checks that each producer's records come whole and in order.
fn drain(journal: &Journal, expected: &mut [u64]) {
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    for frame in batch.frames() {
        let (producer, number) = (frame.words[0], frame.words[1]);
        assert_eq!(&frame.words[..4], record(producer, number), "a record is whole");
        assert_eq!(number, expected[producer as usize], "and in its place");
        expected[producer as usize] += 1;
    }
    journal.release(&batch);
}

/// Producers, through lanes of their own or the shared one, against a drain and somebody who counts.
fn run(lanes_max: u32) {
    let journal = journal(lanes_max);
    let is_over = AtomicBool::new(false);
    let mut expected = [0; PRODUCERS as usize];
    thread::scope(|scope| {
        let producers: Vec<_> = (0..PRODUCERS)
            .map(|producer| {
                scope.spawn(move || {
                    let lane = journal.claim();
                    for number in 0..RECORDS {
                        let words = words(producer, number);
                        let length = words.len() - number as usize % 5;
                        let outgoing = Outgoing { kind: 9, fixed: FIXED, words: &words[..length] };
                        let is_accepted =
                            lane.map_or_else(|| journal.offer_shared(outgoing), |lane| lane.offer(outgoing));
                        assert!(is_accepted, "the drain makes room");
                        journal.tally(lane, [producer, number % 3, 0]);
                    }
                    if let Some(lane) = lane {
                        lane.give_back();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let counters = journal.counters();
                assert!(counters.persisted <= counters.offered);
                thread::yield_now();
            }
        });
        while producers.iter().any(|producer| !producer.is_finished()) {
            drain(journal, &mut expected);
            // As the drain does; it must not wait for a producer that waits for it.
            journal.prepare();
            thread::yield_now();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    drain(journal, &mut expected);
    drain(journal, &mut expected);
    assert_eq!(expected, [RECORDS; PRODUCERS as usize]);
    let counters = journal.counters();
    assert_eq!(counters.pending, 0);
}

#[test]
fn producers_with_lanes_of_their_own_and_a_drain() {
    run(4);
}

#[test]
fn producers_that_share_a_lane_and_a_drain() {
    run(1);
}

#[test]
fn threads_that_follow_each_other_take_over_a_lane() {
    let journal = journal(1);
    let mut expected = [0];
    for life in 0..RECORDS.min(200) {
        thread::scope(|scope| {
            scope.spawn(|| {
                let lane = journal.claim().unwrap();
                assert!(lane.offer(Outgoing { kind: 9, fixed: FIXED, words: &words(0, life)[..FIXED] }));
                lane.give_back();
            });
        });
        drain(journal, &mut expected);
    }
    assert_eq!(expected, [RECORDS.min(200)]);
}
