//! What sampling left out is counted exactly, whatever is read twice, late or in another order.

use proptest::prelude::*;
use telemetry_core::record::TaskStart;
use telemetry_journal::{Batch, Tally};
use telemetry_store::Reader;

use crate::harness::*;

const LEFT_OUT: &str = "select workflow_id, activity_id, calls, left_out from activities order by 1, 2";

fn batch(records: &[Framed], tallies: &[Tally]) -> Batch {
    let mut batch = batch_of(records);
    for tally in tallies {
        batch.push_tally(*tally);
    }
    batch
}

/// A task that was counted as left out, and written because it failed.
fn brought_back(number: u64) -> Framed {
    start(TaskStart { was_left_out: true, ..started(number, 10) }, &[])
}

#[test]
fn what_was_left_out_is_what_was_counted_and_not_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("provenance.db"));
    let tallies = [tally(1, 1, 1, 90), tally(2, 1, 1, 10), tally(3, 1, 3, 5), tally(4, 2, 7, 1)];
    let records = [start(started(1, 5), &[]), brought_back(2), brought_back(3)];
    store.apply(&Journal::default(), &batch(&records, &tallies)).unwrap();
    let reader = Reader::open(store.path()).unwrap();
    let (first, second) = (workflow_id(1), workflow_id(2));
    assert_eq!(
        lines(&reader, LEFT_OUT),
        [
            format!("{first} | step_1 | 3 | 98"),
            format!("{first} | step_3 | 0 | 5"),
            format!("{second} | null | 0 | 1"),
        ]
    );
}

#[test]
fn counts_beyond_what_the_database_can_hold_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("provenance.db"));
    let hostile = Tally { number: u64::MAX, key: [0, 0, u64::MAX], count: u64::MAX };
    store.apply(&Journal::default(), &batch(&[], &[hostile])).unwrap();
    let reader = Reader::open(store.path()).unwrap();
    assert_eq!(lines(&reader, LEFT_OUT), [format!("null | null | 0 | {}", i64::MAX)]);
}

/// One reading, of a tally or of a task that came back.
#[derive(Clone, Debug)]
enum Reading {
    Tally(Tally),
    BroughtBack(u64),
}

/// Readings in any order, among them the last of each tally: counts only grow.
fn readings() -> impl Strategy<Value = (Vec<Reading>, Vec<Reading>)> {
    let tenure =
        (1..4u64, prop::sample::select(vec![1u64, 3]), 1..50u64, prop::collection::vec(0.0..1.0, 0..4));
    let tenures = prop::collection::vec(tenure, 1..8);
    (tenures, 0..6u64).prop_flat_map(|(tenures, back)| {
        let (mut last, mut all) = (Vec::new(), Vec::new());
        for ((workflow, activity, count, earlier), number) in tenures.into_iter().zip(1..) {
            let of = |count: u64| Reading::Tally(tally(number, workflow, activity, count));
            last.push(of(count));
            all.extend(earlier.iter().map(|share: &f64| of(1 + (share * (count - 1) as f64) as u64)));
        }
        last.extend((0..back).map(Reading::BroughtBack));
        all.extend(last.iter().cloned().chain(last.iter().cloned()));
        (Just(last), Just(all).prop_shuffle())
    })
}

fn dump_of(batches: &[&[Reading]]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let mut store = open(&path);
    for readings in batches {
        let tallies: Vec<Tally> = readings
            .iter()
            .filter_map(|reading| match reading {
                Reading::Tally(tally) => Some(*tally),
                Reading::BroughtBack(_) => None,
            })
            .collect();
        let records: Vec<Framed> = readings
            .iter()
            .filter_map(|reading| match reading {
                Reading::Tally(_) => None,
                Reading::BroughtBack(number) => Some(brought_back(*number)),
            })
            .collect();
        store.apply(&Journal::default(), &batch(&records, &tallies)).unwrap();
    }
    let reader = Reader::open(&path).unwrap();
    format!("{}\n{}", dump(&reader), lines(&reader, LEFT_OUT).join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn order_repetition_and_batches_do_not_matter((last, mixed) in readings(), size in 1..9usize) {
        let batches: Vec<&[Reading]> = mixed.chunks(size).collect();
        prop_assert_eq!(dump_of(&batches), dump_of(&[&last]));
    }
}
