//! Snapshots under contention: a reading that takes long holds up nobody but its own thread. A binary of
//! its own, since the sensor of a recording is its process's.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use telemetry::store::{Drain, QueryLimits, Reader, Store, StoreOptions};
use telemetry::{Settings, Task};
use telemetry_core::encoder::Encoder;
use telemetry_core::record::ProcessName;
use telemetry_core::runtime::{Recording, RecordingOptions};
use telemetry_core::sensor::Sensor;
use telemetry_journal::{Config, Journal, OnFull};

const THREADS: usize = 64;
const TASKS_A_THREAD: usize = 100;

/// Gives its first reading at once; for the second it says that it is at it and waits.
struct Blocking {
    readings: u32,
    is_reading: Sender<()>,
    may_go_on: Receiver<()>,
}

impl Sensor for Blocking {
    fn read(&mut self, encoder: &mut Encoder) -> bool {
        self.readings += 1;
        if self.readings == 2 {
            self.is_reading.send(()).expect("the test listens");
            self.may_go_on.recv().expect("the test goes on");
        }
        encoder.telemetry(&serde_json::json!({"reading": self.readings}));
        true
    }
}

#[test]
fn no_task_waits_for_the_reading_of_another() {
    let (is_reading, reading) = channel();
    let (go_on, may_go_on) = channel();
    let journal = Journal::in_memory(Config {
        id: 1,
        lane_bytes: 1 << 20,
        lanes_max: 2 * THREADS as u32,
        on_full: OnFull::Drop,
        wait_max: Duration::ZERO,
    });
    let mut settings = Settings::default();
    settings.telemetry_capture.max_age_ms = 0;
    let recording = Recording::install(RecordingOptions {
        journal,
        process: ProcessName::default(),
        settings,
        sensor: Some(Box::new(Blocking { readings: 0, is_reading, may_go_on })),
        parent: None,
        inherited: None,
        redactor: None,
    })
    .expect("nothing else records in this process");

    let slow = thread::spawn(|| {
        recording.sample();
        Task::start("slow").end();
    });
    reading.recv().expect("the second reading begins");
    let begin = Arc::new(Barrier::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let begin = Arc::clone(&begin);
            thread::spawn(move || {
                begin.wait();
                (0..TASKS_A_THREAD).for_each(|_| Task::start("quick").end());
            })
        })
        .collect();
    // The reading ends only after all of them: had one waited for it, this would not return.
    for thread in threads {
        thread.join().expect("the thread ends");
    }
    assert!(!slow.is_finished());
    go_on.send(()).expect("the sensor waits");
    slow.join().expect("the thread ends");
    recording.remove();

    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("provenance.db");
    let store = Store::open(&database, StoreOptions::default()).expect("a database");
    Drain::new(store, Arc::new(journal)).finish().expect("the drain writes");
    let reader = Reader::open(&database).expect("a database");
    let ask = |sql: &str| {
        let table = reader.query(sql, &[], QueryLimits::default()).expect("a query");
        serde_json::to_value(&table.rows).expect("JSON")
    };
    // All of them have the first reading, and how old it was.
    let quick = "select count(*), sum(telemetry_at_start ->> '$.reading' = 1 and telemetry_at_end ->> '$.reading' = 1),
        sum(snapshot_age_start_ms >= 0 and snapshot_age_end_ms >= snapshot_age_start_ms)
        from tasks where activity_id = 'quick'";
    let count = THREADS * TASKS_A_THREAD;
    assert_eq!(ask(quick), serde_json::json!([[count, count, count]]));
    let slow = "select telemetry_at_start ->> '$.reading', telemetry_at_end ->> '$.reading' from tasks
        where activity_id = 'slow'";
    assert_eq!(ask(slow), serde_json::json!([[2, 3]]));
}
