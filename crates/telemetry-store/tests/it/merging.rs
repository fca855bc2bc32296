//! Any order, repetition, split and lane of the same records gives the same views.

use proptest::prelude::*;
use telemetry_core::record::{Field, TaskEnd, TaskStart};
use telemetry_core::status::{ErrorKind, Status};
use telemetry_journal::Batch;
use telemetry_store::Reader;

use crate::harness::*;

/// What a random task is made of.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    parent: Option<prop::sample::Index>,
    length: Option<u64>,
    outcome: u8,
    updates: u8,
    pub(crate) fields: u16,
}

pub(crate) fn sketch() -> impl Strategy<Value = Sketch> {
    (any::<Option<prop::sample::Index>>(), any::<Option<u8>>(), 0..5u8, 0..4u8, any::<u16>()).prop_map(
        |(parent, length, outcome, updates, fields)| Sketch {
            parent,
            length: length.map(u64::from),
            outcome,
            updates,
            fields,
        },
    )
}

/// What is used or generated: small values, large ones that leave a fingerprint, and odd names.
fn values(fields: u16, generated: bool) -> Vec<u8> {
    items(|encoder| {
        if fields & 1 != 0 {
            encoder.used(0, |value| value.int(i64::from(fields)));
            encoder.used(7, |value| value.float(2.5));
        }
        if fields & 2 != 0 {
            encoder.generated_named("big", |value| value.text(&"x".repeat(usize::from(fields % 3) + 90)));
        }
        if fields & 4 != 0 {
            encoder.used_named("big", |value| value.text(&"x".repeat(usize::from(fields % 3) + 90)));
        }
        if fields & 8 != 0 {
            encoder.metadata("odd \"name\\", |value| value.boolean(generated));
            encoder.metadata("$note", |value| value.serialize(&()));
        }
        if fields & 16 != 0 {
            encoder.text(Field::Tag, if generated { "late" } else { "early" });
            encoder.text(Field::Tag, "both");
        }
        if fields & 32 != 0 {
            encoder.text(Field::Dependency, &task_id(u64::from(fields % 5)).to_string());
        }
        if fields & 64 != 0 {
            encoder.text(Field::Subtype, if generated { "from end" } else { "from start" });
            encoder.text(Field::Stdout, if generated { "end out" } else { "start out" });
        }
        if fields & 128 != 0 {
            encoder.result(|value| value.serialize(&std::collections::BTreeMap::from([("k", 1), ("a", 2)])));
        } else if generated {
            encoder.result(|value| value.int(-7));
        }
        if fields & 256 != 0 {
            encoder.text(Field::Group, "loop");
            encoder.generated_named("a", |value| value.unsigned(u64::MAX));
        }
    })
}

pub(crate) fn records_of(sketches: &[Sketch]) -> Vec<Framed> {
    let mut records = vec![
        workflow_start(1, 1, &values(0b1_0000_1001, false)),
        snapshot(1, 2, &serde_json::json!({"cpu": {"percent_all": 3.5}})),
        snapshot(2, 9, &serde_json::json!({"cpu": {"percent_all": 4.5}})),
    ];
    for (sketch, number) in sketches.iter().zip(0..) {
        task_records(sketch, number, &mut records);
    }
    records.push(workflow_end(1, 10_000, &values(0b1_1000_1011, true)));
    records
}

fn task_records(sketch: &Sketch, number: u64, records: &mut Vec<Framed>) {
    let ticks = 10 + number * 10;
    let parent =
        sketch.parent.filter(|_| number > 0).map(|parent| task_id(parent.index(number as usize) as u64));
    let begun = TaskStart {
        parent,
        root: parent.map(|_| task_id(0)),
        workflow: (sketch.fields & 512 == 0).then(|| workflow_id(1 + number % 2)),
        depth: u16::from(parent.is_some()),
        snapshot: (sketch.fields & 1024 == 0).then(|| snapshot_use(1)),
        ..started(number, ticks)
    };
    records.push(start(begun, &values(sketch.fields, false)));
    for ordinal in 0..sketch.updates {
        let fields = sketch.fields.rotate_left(u32::from(ordinal) + 3);
        records.push(update(number, u32::from(ordinal), &values(fields, ordinal % 2 == 0)));
    }
    let Some(length) = sketch.length else { return };
    let done = TaskEnd { snapshot: Some(snapshot_use(2)), ..ended(number, ticks + length) };
    match sketch.outcome {
        0 => records.push(failed(number, ticks + length, ErrorKind::Err, "no")),
        1 => records.push(failed(number, ticks + length, ErrorKind::Panic, "oh")),
        2 => records.push(end(TaskEnd { status: Status::Cancelled, ..done }, &[])),
        // An iteration that was left, and then was found to have failed.
        3 => {
            records.push(end(done, &[]));
            records.push(failed(number, ticks + length, ErrorKind::Err, "left"));
        }
        _ => records.push(end(done, &values(sketch.fields.rotate_left(5), true))),
    }
}

/// The dump after these batches of (lane, record).
fn dump_of(batches: &[Vec<(u32, Framed)>], interrupt_first: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let (mut store, journal) = (open(&path), Journal::default());
    if interrupt_first {
        store.interrupt(journal.id, 20_000).unwrap();
    }
    for records in batches {
        let mut batch = Batch::new();
        for ((lane, record), sequence) in records.iter().zip(0..) {
            batch.push(*lane, sequence, record.kind, record.words.iter().copied());
        }
        store.apply(&journal, &batch).unwrap();
    }
    if !interrupt_first {
        store.interrupt(journal.id, 20_000).unwrap();
    }
    assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    dump(&Reader::open(&path).unwrap())
}

fn shuffled(records: Vec<Framed>) -> impl Strategy<Value = Vec<Framed>> {
    let twice: Vec<Framed> = records.iter().cloned().chain(records.iter().cloned()).collect();
    let all = records.len();
    (Just(twice).prop_shuffle(), Just(records), 0..=all).prop_map(|(mut some, rest, kept)| {
        // Some records twice or thrice, and each at least once.
        some.truncate(kept);
        some.extend(rest);
        some
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn order_repetition_and_batches_do_not_matter(
        (plain, mixed) in prop::collection::vec(sketch(), 1..8).prop_map(|sketches| records_of(&sketches))
            .prop_flat_map(|records| (Just(records.clone()), shuffled(records).prop_shuffle())),
        sizes in prop::collection::vec(1..9usize, 1..6),
        lanes in prop::collection::vec(0..3u32, 1..7),
        interrupt_first: bool,
    ) {
        let expected = dump_of(&[plain.into_iter().map(|record| (0, record)).collect()], false);
        let mut batches = Vec::new();
        let mut rest: Vec<_> = lanes.into_iter().cycle().zip(mixed).collect();
        for size in sizes.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            batches.push(rest.drain(..size.min(rest.len())).collect());
        }
        prop_assert_eq!(dump_of(&batches, interrupt_first), expected);
    }
}

#[test]
fn a_record_of_another_version_is_kept_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("provenance.db"));
    let strange = Framed { kind: 99, words: vec![1, 2, 3] };
    let applied = store.apply(&Journal::default(), &batch_of(&[strange, gap(5)])).unwrap();
    assert_eq!((applied.records, applied.unreadable), (2, 1));
    let reader = Reader::open(store.path()).unwrap();
    assert_eq!(
        lines(&reader, "select lane, sequence, kind, length(bytes) from unreadable"),
        ["0 | 0 | 99 | 24"]
    );
    assert_eq!(lines(&reader, "select sequence, first_ns, last_ns, count from gaps"), ["1 | 1 | 2 | 5"]);
}
