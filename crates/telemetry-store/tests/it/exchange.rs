//! What leaves a database and enters another is the same there, however often it does.

use std::ops::ControlFlow;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use telemetry_core::event::EventValue;
use telemetry_core::record::Event;
use telemetry_store::{Reader, Record, Store, WorkflowFilter};

use crate::harness::*;
use crate::merging::{records_of, sketch};

/// A series (99 has no name), a value, whether it belongs to a task, and to which workflow.
type EventSketch = (u32, EventValue, bool, u64);

fn event_sketch() -> impl Strategy<Value = EventSketch> {
    let value = prop_oneof![
        any::<i64>().prop_map(EventValue::Int),
        any::<f64>().prop_map(EventValue::Float),
        Just(EventValue::Float(f64::NAN)),
        Just(EventValue::Float(f64::NEG_INFINITY)),
    ];
    (prop::sample::select(vec![4, 5, 99]), value, any::<bool>(), 1..3u64)
}

fn events_of(sketches: &[EventSketch]) -> Vec<Framed> {
    let event_of = |(number, sketch): (u64, &EventSketch)| {
        let &(series, value, has_task, workflow) = sketch;
        event(Event {
            ticks: 100 + number,
            value,
            series,
            task: has_task.then(|| task_id(number % 3)),
            workflow: Some(workflow_id(workflow)),
        })
    };
    (0..).zip(sketches).map(event_of).collect()
}

/// Every record of every workflow.
fn records(reader: &Reader) -> Vec<Record> {
    let mut records = Vec::new();
    for workflow in reader.workflows(&WorkflowFilter::default()).unwrap() {
        let keep = |record| {
            records.push(through_json(record));
            ControlFlow::Continue(())
        };
        reader.records(&workflow.workflow_id, keep).unwrap();
    }
    records
}

/// The record as it is after it was a line of a file.
fn through_json(record: Record) -> Record {
    fn again<T: Serialize + DeserializeOwned>(record: &T) -> T {
        serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap()
    }
    match record {
        Record::Machine(record) => Record::Machine(again(&record)),
        Record::Recorder(record) => Record::Recorder(again(&record)),
        Record::Gap(record) => Record::Gap(again(&record)),
        Record::Workflow(record) => Record::Workflow(again(&record)),
        Record::Site(record) => Record::Site(again(&record)),
        Record::Task(record) => Record::Task(again(&record)),
        Record::Snapshot(record) => Record::Snapshot(again(&record)),
        Record::LeftOut(record) => Record::LeftOut(again(&record)),
        Record::Event(record) => Record::Event(again(&record)),
        Record::Session(record) => Record::Session(again(&record)),
        other => panic!("{other:?}"),
    }
}

/// A database with these records, of a program that wants session files.
fn recorded(records: &[Framed], folder: &std::path::Path, is_interrupted: bool) -> Store {
    let settings = serde_json::json!({"session": {"enabled": true, "output_dir": "/out"}});
    let journal = Journal { settings, ..Journal::default() };
    let mut store = open(&folder.join("first.db"));
    store.apply(&journal, &batch_of(records)).unwrap();
    store.name_session(&workflow_id(1).to_string(), "/out", "session_1").unwrap();
    if is_interrupted {
        store.interrupt(journal.id, 20_000).unwrap();
    }
    store
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_is_exported_and_imported_any_number_of_times_is_the_same(
        sketches in prop::collection::vec(sketch(), 1..8),
        events in prop::collection::vec(event_sketch(), 0..12),
        is_interrupted: bool,
        split in any::<prop::sample::Index>(),
    ) {
        // What belongs to no workflow is not exported.
        let mut sketches = sketches;
        for sketch in &mut sketches {
            sketch.fields &= !512;
        }
        let all: Vec<Framed> = records_of(&sketches).into_iter().chain(events_of(&events)).collect();
        let folder = tempfile::tempdir().unwrap();
        let first = recorded(&all, folder.path(), is_interrupted);
        let expected = dump(&Reader::open(first.path()).unwrap());
        let exported = records(&Reader::open(first.path()).unwrap());

        let mut second = open(&folder.path().join("second.db"));
        // Once in two parts, which may tear a workflow apart; then all of it again.
        let (some, rest) = exported.split_at(split.index(exported.len()));
        for part in [some, rest, &exported] {
            second.import(part).unwrap();
        }
        let reader = Reader::open(second.path()).unwrap();
        prop_assert_eq!(dump(&reader), expected.clone());
        prop_assert_eq!(format!("{:?}", records(&reader)), format!("{exported:?}"));
        // Nobody here writes the files of another machine.
        prop_assert_eq!(second.sessions_of_the_dead().unwrap(), Vec::new());

        let mut third = open(&folder.path().join("third.db"));
        third.import(&records(&reader)).unwrap();
        prop_assert_eq!(dump(&Reader::open(third.path()).unwrap()), expected);
    }
}

#[test]
fn an_import_into_the_database_itself_leaves_its_sessions_to_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = recorded(&[workflow_start(1, 1, &[])], folder.path(), true);
    let exported = records(&Reader::open(store.path()).unwrap());
    store.import(&exported).unwrap();
    let waiting = store.sessions_of_the_dead().unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].folder.as_deref(), waiting[0].name.as_deref()), (Some("/out"), Some("session_1")));
}
