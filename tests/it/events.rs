//! Events: into the database, with their series, owners and sums.

use std::fmt;

use telemetry::{Category, Event, EventKind, Recorder, Settings, Task, Workflow, event};

use crate::programs::Place;

/// A program that records events of every kind.
pub(crate) fn events() {
    let _recorder = Recorder::start_with_found_settings().unwrap();
    event!(SYSTEM, "start", 1);
    let workflow = Workflow::start("events");
    let task = Task::start("transfer");
    task.run(|| {
        for (bytes, device) in [(100_u64, 0), (200, 1), (50, 0)] {
            event!(
                TRANSFER,
                "tx_bytes",
                bytes,
                unit = "B",
                peer = "node-7",
                device = format_args!("gpu_{device}")
            );
        }
        event!(MEMORY, "used", 5.5, kind = gauge, unit = "B");
        event!(MEMORY, "used", 2.25_f32, kind = gauge, unit = "B",);
    });
    for microseconds in [7.0, 10.0, 10.1, 4000.0, f64::INFINITY] {
        event!(PERFORMANCE, "time", microseconds, unit = "us", kind = histogram);
    }
    event!(CUSTOM, "not_a_number", f64::NAN);
    event!(CUSTOM, "large", u64::MAX);
    event!(ERROR, "secret", 1, password = "hunter2", url = "postgres://u:pw@host/db");
    event!(BACKEND, "noise.tick", 1);
    event!(CONNECTION, "evil", 1, label = Panics);
    let name = format!("dynamic_{}", 1);
    Event::new(Category::Custom, &name).kind(EventKind::Gauge).label("k", 3).record(-4);
    task.end();
    workflow.end();
}

struct Panics;

impl fmt::Display for Panics {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("a label that cannot be written")
    }
}

#[test]
fn events_of_every_kind_are_in_the_database() {
    let place = Place::new();
    place.run("events");
    let events =
        "select e.category, e.name, e.kind, e.value, typeof(e.value), e.unit, e.labels, t.activity_id, w.name
        from events e left join tasks t using (task_id) left join workflows w on w.workflow_id = e.workflow_id
        order by e.timestamp, e.event_id";
    assert_eq!(
        place.table(events),
        r#"SYSTEM|start|counter|1|integer|null|{}|null|null
TRANSFER|tx_bytes|counter|100|integer|B|{"device":"gpu_0","peer":"node-7"}|transfer|events
TRANSFER|tx_bytes|counter|200|integer|B|{"device":"gpu_1","peer":"node-7"}|transfer|events
TRANSFER|tx_bytes|counter|50|integer|B|{"device":"gpu_0","peer":"node-7"}|transfer|events
MEMORY|used|gauge|5.5|real|B|{}|transfer|events
MEMORY|used|gauge|2.25|real|B|{}|transfer|events
PERFORMANCE|time|histogram|7.0|real|us|{}|null|events
PERFORMANCE|time|histogram|10.0|real|us|{}|null|events
PERFORMANCE|time|histogram|10.1|real|us|{}|null|events
PERFORMANCE|time|histogram|4000.0|real|us|{}|null|events
PERFORMANCE|time|histogram|Inf|real|us|{}|null|events
CUSTOM|not_a_number|counter|null|null|null|{}|null|events
CUSTOM|large|counter|1.84467440737096e+19|real|null|{}|null|events
ERROR|secret|counter|1|integer|null|{"password":"[redacted:password]","url":"postgres://u:[redacted:password]@host/db"}|null|events
BACKEND|noise.tick|counter|1|integer|null|{}|null|events
CONNECTION|evil|counter|1|integer|null|{"label":""}|null|events
CUSTOM|dynamic_1|gauge|-4|integer|null|{"k":"3"}|null|events
"#
    );
    let series = "select name, labels, events, total, min, max, last from event_series
        where name in ('tx_bytes', 'used') order by name, labels";
    assert_eq!(
        place.table(series),
        r#"tx_bytes|{"device":"gpu_0","peer":"node-7"}|2|150|50|100|50
tx_bytes|{"device":"gpu_1","peer":"node-7"}|1|200|200|200|200
used|{}|2|7.75|2.25|5.5|2.25
"#
    );
    let histogram = "select name, unit, le, events from event_histograms";
    assert_eq!(place.table(histogram), "time|us|10.0|2\ntime|us|25.0|1\ntime|us|5000.0|1\ntime|us|Inf|1\n");
    let law = "select offered = persisted, dropped_full + dropped_oversize + dropped_nested + dropped_stopped from health";
    assert_eq!(place.table(law), "1|0\n");
}

#[test]
fn only_the_events_that_the_settings_allow_reach_a_lane() {
    let place = Place::new();
    let settings = "capture: {events: ['tx_*', dynamic_1, '*.never']}\njournal: {name: agent one}\n";
    std::fs::write(place.path("settings.yaml"), settings).unwrap();
    place.run("events");
    let events = "select name, count(*) from events group by 1 order by 1";
    assert_eq!(place.table(events), "dynamic_1|1\ntx_bytes|3\n");
    // Two records of the workflow, two of the task, two snapshots at the most, and these events.
    assert_eq!(place.table("select offered between 8 and 10, name from health"), "1|agent one\n");
}

#[test]
fn without_a_recorder_labels_are_not_even_written_out() {
    event!(CONNECTION, "evil", 1, label = Panics);
    let mut settings = Settings::default();
    settings.instrumentation.enabled = false;
    let _recorder = Recorder::start(settings).unwrap();
    event!(CONNECTION, "evil", 1, label = Panics);
}
