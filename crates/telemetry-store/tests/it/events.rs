//! Events are rows by lane and sequence: what is merged twice is there once.

use telemetry_core::event::EventValue;
use telemetry_core::record::Event;
use telemetry_store::Reader;

use crate::harness::*;

fn measured(ticks: u64, value: impl Into<EventValue>, series: u32) -> Framed {
    event(Event {
        ticks,
        value: value.into(),
        series,
        task: Some(task_id(1)),
        workflow: Some(workflow_id(1)),
    })
}

#[test]
fn what_is_merged_again_is_there_once_and_the_sums_are_those_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("provenance.db"));
    let records = [
        measured(1_000_000_000, 3, 4),
        measured(3_000_000_000, 30, 4),
        measured(2_000_000_000, 7.5, 4),
        measured(4_000_000_000, 0, 5),
        // A series that the journal does not name.
        measured(5_000_000_000, 1, 99),
    ];
    let batch = batch_of(&records);
    for _ in 0..2 {
        store.apply(&Journal::default(), &batch).unwrap();
    }
    let reader = Reader::open(store.path()).unwrap();
    let series = "select name, labels, events, total, mean, last, last_at from event_series order by 1, 2";
    assert_eq!(
        lines(&reader, series),
        [
            " | {} | 1 | 1 | 1.0 | 1 | 5.0",
            r#"time | {"device":"gpu_4"} | 3 | 40.5 | 13.5 | 30 | 3.0"#,
            r#"time | {"device":"gpu_5"} | 1 | 0 | 0.0 | 0 | 4.0"#,
        ]
    );
    let histogram = "select labels ->> 'device', le, events from event_histograms order by 1, 2";
    assert_eq!(
        lines(&reader, histogram),
        ["gpu_4 | 5.0 | 1", "gpu_4 | 10.0 | 1", "gpu_4 | 50.0 | 1", "gpu_5 | 0.0 | 1"]
    );
    // Whole numbers that cannot be added up as such are added up all the same.
    store
        .apply(
            &Journal { id: 9, ..Journal::default() },
            &batch_of(&[measured(6, i64::MAX, 5), measured(7, i64::MAX, 5)]),
        )
        .unwrap();
    let large = "select total, mean from event_series where labels like '%gpu_5%'";
    assert_eq!(lines(&reader, large), ["1.8446744073709552e+19 | 6.148914691236517e+18"]);
    let first = "select event_id, timestamp, value, unit from events where value = 3";
    assert_eq!(lines(&reader, first), ["01970000-0000-7000-8000-000000000001-0-0 | 1.0 | 3 | us"]);
}
