//! What a journal promises: accepted records come out once and in order, also after the process died.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use telemetry_journal::{
    Batch, Config, Counters, DeadJournal, DropReason, Journal, JournalError, Lane, Name, OnFull, Outgoing,
    Source, Word, find_journals, put_aside,
};

fn config(lane_bytes: u64, on_full: OnFull) -> Config {
    Config {
        id: 0x0199_0000_0000_7000_8000_0000_0000_0001,
        lane_bytes,
        lanes_max: 4,
        on_full,
        wait_max: Duration::ZERO,
    }
}

/// Offers a record of fixed words and others.
fn offer(lane: &Lane, fixed: &[u64], rest: &[Word]) -> bool {
    let words: Vec<Word> = fixed.iter().map(|word| word.to_le_bytes()).chain(rest.iter().copied()).collect();
    lane.offer(outgoing(fixed.len(), &words))
}

fn outgoing(fixed: usize, words: &[Word]) -> Outgoing<'_> {
    Outgoing { kind: 9, fixed, words }
}

/// Takes everything out and answers the first word of each record, by lane.
fn take(source: &dyn Source) -> BTreeMap<u32, Vec<u64>> {
    let mut batch = Batch::new();
    source.collect(&mut batch);
    let mut taken: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for frame in batch.frames() {
        taken.entry(frame.lane).or_default().push(frame.words[0]);
    }
    source.release(&batch);
    taken
}

fn assert_law(counters: &Counters) {
    let dropped: u64 = counters.dropped.iter().sum();
    assert_eq!(
        counters.offered,
        counters.persisted + counters.pending + dropped + counters.torn,
        "{counters:?}"
    );
}

#[test]
fn records_of_any_length_wrap_around_in_order() {
    let journal = Journal::in_memory(config(4096, OnFull::Drop));
    let lane = journal.claim().unwrap();
    let tail = [[7u8; 8]; 50];
    for number in 0..10_000u64 {
        let length = (number * 37 % 50) as usize;
        assert!(offer(lane, &[number, length as u64], &tail[..length]));
        if number % 5 == 4 {
            let mut batch = Batch::new();
            journal.collect(&mut batch);
            let numbers: Vec<u64> = batch.frames().map(|frame| frame.words[0]).collect();
            assert_eq!(numbers, (number - 4..=number).collect::<Vec<_>>());
            for frame in batch.frames() {
                let length = frame.words[1] as usize;
                assert_eq!(&frame.bytes[16..], tail[..length].as_flattened());
            }
            journal.release(&batch);
        }
    }
    let counters = journal.counters();
    assert_eq!((counters.offered, counters.persisted, counters.pending), (10_000, 10_000, 0));
}

proptest! {
    #[test]
    fn the_law_holds_for_any_mix_of_offers_and_drains(
        steps in prop::collection::vec((0usize..90, any::<bool>()), 1..300),
        degrade in any::<bool>(),
    ) {
        let journal = Journal::in_memory(config(4096, if degrade { OnFull::Degrade } else { OnFull::Drop }));
        let lane = journal.claim().unwrap();
        let tail = [[1u8; 8]; 90];
        let (mut offered, mut accepted, mut taken) = (0u64, Vec::new(), Vec::new());
        for (length, drain) in steps {
            if offer(lane, &[offered], &tail[..length]) {
                accepted.push(offered);
            }
            offered += 1;
            assert_law(&journal.counters());
            if drain {
                taken.extend(take_records(journal));
            }
        }
        taken.extend(take_records(journal));
        prop_assert_eq!(&taken, &accepted);
        let counters = journal.counters();
        assert_law(&counters);
        prop_assert_eq!(counters.dropped.iter().sum::<u64>(), offered - accepted.len() as u64);
    }
}

/// Like [`take`] for the one lane, without gap frames.
fn take_records(journal: &Journal) -> Vec<u64> {
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    let numbers = batch.frames().filter(|frame| frame.kind == 9).map(|frame| frame.words[0]).collect();
    journal.release(&batch);
    numbers
}

#[test]
fn a_full_lane_drops_counts_and_leaves_a_gap() {
    let journal = Journal::in_memory(config(4096, OnFull::Drop));
    let lane = journal.claim().unwrap();
    let accepted = (0..200u64).filter(|number| offer(lane, &[*number, 0, 0], &[])).count();
    assert!(accepted < 200);
    take(journal);
    assert!(offer(lane, &[200], &[]));
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    let gap = batch.frame(0);
    assert_eq!(gap.kind, telemetry_journal::GAP_KIND);
    assert_eq!(gap.words[2], 200 - accepted as u64);
    assert!(gap.words[0] <= gap.words[1]);
    assert_eq!(batch.frame(1).words[0], 200);
    assert_law(&journal.counters_after(&batch));
}

#[test]
fn waiting_producers_lose_nothing() {
    let waiting = Config { wait_max: Duration::from_mins(1), ..config(4096, OnFull::Wait) };
    let journal = Journal::in_memory(waiting);
    let done = AtomicBool::new(false);
    let mut taken: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    std::thread::scope(|scope| {
        let producers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let lane = journal.claim().unwrap();
                    for number in 0..20_000u64 {
                        assert!(offer(lane, &[number, 1, 2], &[*b"somethin"]));
                    }
                    lane.give_back();
                })
            })
            .collect();
        scope.spawn(|| {
            for producer in producers {
                producer.join().unwrap();
            }
            done.store(true, Ordering::Release);
            journal.ask_for_drain();
        });
        while !done.load(Ordering::Acquire) {
            journal.wait_for_work(Duration::from_millis(100));
            for (lane, numbers) in take(journal) {
                taken.entry(lane).or_default().extend(numbers);
            }
        }
    });
    for (lane, numbers) in take(journal) {
        taken.entry(lane).or_default().extend(numbers);
    }
    let total: usize = taken.values().map(Vec::len).sum();
    assert_eq!(total, 40_000);
    let counters = journal.counters();
    assert!(counters.waits > 0);
    assert_law(&counters);
}

#[test]
fn a_wait_in_vain_ends_and_is_not_repeated() {
    let journal =
        Journal::in_memory(Config { wait_max: Duration::from_millis(50), ..config(4096, OnFull::Wait) });
    let lane = journal.claim().unwrap();
    let dropped = (0..1_000u64).filter(|number| !offer(lane, &[*number, 1, 2], &[])).count() as u64;
    let counters = journal.counters();
    assert_eq!(counters.dropped[DropReason::Full as usize], dropped);
    assert_law(&counters);
}

#[test]
fn threads_beyond_the_last_lane_share_one() {
    let journal = Journal::in_memory(config(1 << 16, OnFull::Drop));
    let lanes: Vec<_> = (0..4).map(|_| journal.claim().unwrap()).collect();
    assert!(journal.claim().is_none());
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            scope.spawn(move || {
                (0..50).for_each(|_| assert!(journal.offer_shared(outgoing(1, &[u64::to_le_bytes(thread)]))));
            });
        }
    });
    assert_eq!(take(journal).values().map(Vec::len).sum::<usize>(), 400);
    lanes[2].give_back();
    assert!(journal.claim().is_some());
}

const CHILD: &str = "TELEMETRY_JOURNAL_TEST_CHILD";

/// Not a test by itself: fills a journal and dies, in a process of its own.
#[test]
#[expect(clippy::disallowed_methods, reason = "the folder of the parent test")]
fn child_that_dies() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let journal = Journal::create(Path::new(&folder), config(1 << 16, OnFull::Drop)).unwrap();
    journal.add_name(Name { kind: 1, bytes: b"first".to_vec() }).unwrap();
    journal.add_name(Name { kind: 2, bytes: vec![b'x'; 100_000] }).unwrap();
    let lane = journal.claim().unwrap();
    for number in 0..100u64 {
        assert!(offer(lane, &[number], &[*b"before\0\0"]));
    }
    take(journal);
    for number in 100..150u64 {
        assert!(offer(lane, &[number], &[*b"after\0\0\0"]));
    }
    let long = vec![[b'y'; 8]; 1 << 14];
    assert!(offer(lane, &[150], &long));
    std::process::abort();
}

fn die_in(folder: &Path) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_dies"])
        .env(CHILD, folder)
        .output()
        .unwrap();
    assert!(!status.status.success());
}

#[test]
fn what_a_dead_process_accepted_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    die_in(folder.path());
    let paths = find_journals(folder.path()).unwrap();
    let journal = DeadJournal::open(&paths[0]).unwrap();
    assert!(matches!(DeadJournal::open(&paths[0]), Err(JournalError::InUse { .. })));
    assert_eq!(journal.name(0).unwrap().bytes, b"first");
    assert_eq!(journal.name(1).unwrap().bytes.len(), 100_000);
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    let numbers: Vec<u64> = batch.frames().map(|frame| frame.words[0]).collect();
    assert_eq!(numbers, (100..=150).collect::<Vec<_>>());
    assert_eq!(batch.frame(50).kind, 9);
    assert_eq!(batch.frame(50).words.len(), 1 + (1 << 17) / 8);
    let counters = journal.counters();
    assert_law(&counters);
    assert_eq!((counters.offered, counters.persisted, counters.pending), (151, 100, 51));
    assert_eq!(journal.counters_after(&batch).persisted, 151);
    journal.release(&batch);
    journal.remove().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_recovery_that_is_cut_short_before_the_journal_is_removed_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    die_in(folder.path());
    let path = &find_journals(folder.path()).unwrap()[0];
    let recover = || {
        let journal = DeadJournal::open(path).unwrap();
        let mut batch = Batch::new();
        journal.collect(&mut batch);
        journal.release(&batch);
        let words: Vec<Vec<u64>> = batch.frames().map(|frame| frame.words.to_vec()).collect();
        (journal, words)
    };
    let (cut_short, first) = recover();
    drop(cut_short);
    let (journal, second) = recover();
    assert_eq!(first, second);
    journal.remove().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_living_journal_is_left_alone_and_removed_by_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(folder.path(), config(1 << 16, OnFull::Drop)).unwrap();
    let path = journal.path().unwrap();
    assert!(matches!(DeadJournal::open(path), Err(JournalError::InUse { .. })));
    let lane = journal.claim().unwrap();
    assert!(offer(lane, &[1], &[]));
    assert!(!journal.close(), "a record is pending");
    take(journal);
    assert!(!journal.close(), "a thread holds a lane");
    lane.give_back();
    assert!(journal.close());
    assert!(journal.claim().is_none());
    assert!(!path.exists());
}

#[test]
fn files_that_are_no_journal_are_refused_and_can_be_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.journal");
    for content in [Vec::new(), b"hello".to_vec(), vec![0; 65536]] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(DeadJournal::open(&path), Err(JournalError::NotAJournal { .. })));
    }
    let aside = put_aside(&path).unwrap();
    assert!(aside.exists() && !path.exists());
    assert!(find_journals(folder.path()).unwrap().is_empty());
}

#[test]
fn a_newer_version_is_named() {
    let folder = tempfile::tempdir().unwrap();
    die_in(folder.path());
    let path = find_journals(folder.path()).unwrap().remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8] = 9;
    std::fs::write(&path, bytes).unwrap();
    let error = DeadJournal::open(&path).unwrap_err();
    assert!(error.to_string().contains("version 9; this program reads version 1"), "{error}");
}

#[test]
fn counters_that_cannot_be_do_not_overflow() {
    let folder = tempfile::tempdir().unwrap();
    die_in(folder.path());
    let path = find_journals(folder.path()).unwrap().remove(0);
    let whole = std::fs::read(&path).unwrap();
    // The first lane follows the header of 16 KiB; its first words are positions and counters.
    for word in (0..19).filter(|word| !(9..16).contains(word)) {
        let mut bytes = whole.clone();
        bytes[16_384 + word * 8..][..8].fill(0xFF);
        std::fs::write(&path, bytes).unwrap();
        let journal = DeadJournal::open(&path).unwrap();
        let mut batch = Batch::new();
        journal.collect(&mut batch);
        journal.counters_after(&batch);
        journal.release(&batch);
        journal.counters();
    }
}

#[test]
fn flipped_bits_and_cut_files_never_harm_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    die_in(folder.path());
    let path = find_journals(folder.path()).unwrap().remove(0);
    let whole = std::fs::read(&path).unwrap();
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % below
    };
    for case in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..=random(8) {
            // Half of the flips go where the structure is.
            let place = if random(2) == 0 { random(bytes.len()) } else { random(20_000) };
            bytes[place] ^= 1 << random(8);
        }
        if case % 3 == 0 {
            bytes.truncate(random(bytes.len()));
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(journal) = DeadJournal::open(&path) {
            let mut batch = Batch::new();
            journal.collect(&mut batch);
            assert!(batch.frames().all(|frame| frame.words.len() * 8 == frame.bytes.len()));
            let _ = journal.counters_after(&batch);
        }
    }
}

/// A core dump must not hold what the journal does: the kernel's word for that is `dd`.
#[test]
#[cfg(target_os = "linux")]
fn core_dumps_leave_the_journal_out() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(folder.path(), config(4096, OnFull::Drop)).unwrap();
    journal.claim().unwrap();
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let place = folder.path().to_string_lossy().into_owned();
    let mut lines = maps.lines();
    let mut mappings = 0;
    while lines.any(|line| line.contains(&place)) {
        let flags = lines.find(|line| line.starts_with("VmFlags:")).unwrap();
        assert!(flags.split_whitespace().any(|flag| flag == "dd"), "{flags}");
        mappings += 1;
    }
    assert!(mappings >= 2, "the header and a lane");
}
