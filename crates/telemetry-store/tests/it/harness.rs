//! A journal in memory, records to put into it, and the views as text.

use std::path::Path;
use std::sync::Mutex;

use telemetry_core::encoder::{Encoder, Limits};
use telemetry_core::id::{TaskId, WorkflowId};
use telemetry_core::level::Level;
use telemetry_core::record::{
    ActivityName, Event, FixedWords, Gap, Head, NameKind, ProcessName, SeriesName, Snapshot, SnapshotUse,
    TaskEnd, TaskStart, TaskUpdate, ThreadName, WorkflowEnd, WorkflowStart,
};
use telemetry_core::status::{ErrorKind, Status};
use telemetry_journal::clock::Clock;
use telemetry_journal::{Batch, Counters, Name, Source, Tally, to_words};
use telemetry_store::{QueryLimits, Reader, Store, StoreOptions};

pub(crate) const VIEWS: [&str; 17] = [
    "workflows",
    "tasks",
    "task_telemetry",
    "task_gpus",
    "snapshots",
    "activities",
    "ancestors",
    "descendants",
    "derivations",
    "events",
    "event_series",
    "event_histograms",
    "machines",
    "health",
    "packets",
    "expert_selection",
    "session_summary",
];

/// A record before it is framed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Framed {
    pub(crate) kind: u8,
    pub(crate) words: Vec<u64>,
}

impl Framed {
    fn new<F: FixedWords>(fixed: &F, items: &[u8]) -> Self {
        let mut head = Head::default();
        let words = fixed.outgoing(&mut head).words;
        let fixed: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Self { kind: F::KIND.code(), words: to_words(&fixed, items).collect() }
    }
}

/// Items, written as a recorder writes them.
pub(crate) fn items(write: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::new();
    encoder.reset(Limits::default());
    write(&mut encoder);
    encoder.bytes().to_vec()
}

pub(crate) fn task_id(number: u64) -> TaskId {
    TaskId::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 | u128::from(number))
}

pub(crate) fn workflow_id(number: u64) -> WorkflowId {
    WorkflowId::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 | u128::from(number))
}

/// A START of a task without parent in workflow 1; activity 1, thread 2 and nanoseconds for ticks.
pub(crate) fn started(number: u64, ticks: u64) -> TaskStart {
    TaskStart {
        task: task_id(number),
        parent: None,
        workflow: Some(workflow_id(1)),
        ticks,
        activity: 1,
        depth: 0,
        level: Level::Full,
        thread: 2,
        root: None,
        snapshot: None,
        was_left_out: false,
    }
}

pub(crate) fn ended(number: u64, ticks: u64) -> TaskEnd {
    let task = task_id(number);
    TaskEnd { task, ticks, status: Status::Finished, error_kind: None, activity: 1, snapshot: None }
}

pub(crate) fn start(start: TaskStart, items: &[u8]) -> Framed {
    Framed::new(&start, items)
}

pub(crate) fn end(end: TaskEnd, items: &[u8]) -> Framed {
    Framed::new(&end, items)
}

pub(crate) fn failed(number: u64, ticks: u64, kind: ErrorKind, message: &str) -> Framed {
    let items = items(|encoder| encoder.error(|value| value.text(message)));
    end(TaskEnd { status: Status::Error, error_kind: Some(kind), ..ended(number, ticks) }, &items)
}

pub(crate) fn update(number: u64, ordinal: u32, items: &[u8]) -> Framed {
    let update = TaskUpdate { task: task_id(number), ticks: 5, activity: 1, ordinal };
    Framed::new(&update, items)
}

pub(crate) fn workflow_start(number: u64, ticks: u64, items: &[u8]) -> Framed {
    let workflow = workflow_id(number);
    let start = WorkflowStart { workflow, parent_workflow: None, parent_task: None, ticks };
    Framed::new(&start, items)
}

pub(crate) fn workflow_end(number: u64, ticks: u64, items: &[u8]) -> Framed {
    let end =
        WorkflowEnd { workflow: workflow_id(number), ticks, status: Status::Finished, error_kind: None };
    Framed::new(&end, items)
}

pub(crate) fn snapshot(number: u32, ticks: u64, reading: &serde_json::Value) -> Framed {
    let snapshot = Snapshot { snapshot: number, workflow: Some(workflow_id(1)), ticks };
    let items = items(|encoder| encoder.telemetry(reading));
    Framed::new(&snapshot, &items)
}

pub(crate) fn snapshot_use(snapshot: u32) -> SnapshotUse {
    SnapshotUse { snapshot, age_ms: 7 }
}

/// What was left out of activity 1 or 3 in a workflow, read in this tenure of a tally.
pub(crate) fn tally(number: u64, workflow: u64, activity: u64, count: u64) -> Tally {
    let [high, low] = workflow_id(workflow).words();
    Tally { number, key: [high, low, activity], count }
}

pub(crate) fn gap(count: u64) -> Framed {
    Framed::new(&Gap { first_ticks: 1, last_ticks: 2, count }, &[])
}

/// A journal of one process: name 0 is the process, 1 and 3 are activities, 2 is a thread.
pub(crate) struct Journal {
    pub(crate) id: u128,
    pub(crate) waiting: Mutex<Vec<Framed>>,
    pub(crate) counters: Mutex<Counters>,
    /// What its process was set to.
    pub(crate) settings: serde_json::Value,
}

impl Default for Journal {
    fn default() -> Self {
        let id = 0x0197_0000_0000_7000_8000_0000_0000_0001;
        let settings = serde_json::json!({"enabled": true});
        Self { id, waiting: Mutex::default(), counters: Mutex::default(), settings }
    }
}

impl Journal {
    pub(crate) fn offer(&self, records: impl IntoIterator<Item = Framed>) {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.extend(records);
        let mut counters = self.counters.lock().unwrap();
        counters.offered = counters.persisted + waiting.len() as u64;
        counters.pending = waiting.len() as u64;
    }
}

impl Source for Journal {
    fn id(&self) -> u128 {
        self.id
    }

    fn pid(&self) -> u32 {
        4242
    }

    fn name(&self, number: u32) -> Option<Name> {
        let (kind, bytes) = match number {
            0 => (NameKind::Process, serde_json::to_vec(&process_name(&self.settings))),
            1 | 3 => (NameKind::Activity, serde_json::to_vec(&activity_name(number))),
            2 => (NameKind::Thread, serde_json::to_vec(&ThreadName { name: "main".into() })),
            4 | 5 => (NameKind::Series, serde_json::to_vec(&series_name(number))),
            _ => return None,
        };
        Some(Name { kind: kind.code(), bytes: bytes.unwrap() })
    }

    fn clock(&self) -> Clock {
        Clock::new(Vec::new())
    }

    fn collect(&self, batch: &mut Batch) {
        let persisted = self.counters.lock().unwrap().persisted;
        for (record, sequence) in self.waiting.lock().unwrap().iter().zip(persisted..) {
            batch.push(0, sequence, record.kind, record.words.iter().copied());
        }
    }

    fn release(&self, batch: &Batch) {
        self.waiting.lock().unwrap().drain(..batch.len());
        *self.counters.lock().unwrap() = self.counters_after(batch);
    }

    fn counters(&self) -> Counters {
        *self.counters.lock().unwrap()
    }

    fn counters_after(&self, batch: &Batch) -> Counters {
        let mut counters = self.counters();
        counters.persisted += batch.len() as u64;
        counters.pending = counters.pending.saturating_sub(batch.len() as u64);
        counters
    }
}

fn process_name(settings: &serde_json::Value) -> ProcessName {
    ProcessName {
        name: None,
        user: Some("ada".into()),
        hostname: Some("node1".into()),
        exe: Some("/bin/demo".into()),
        cmd_line: vec!["demo".into(), "--fast".into()],
        settings: settings.clone(),
        code_repository: serde_json::json!({"sha": "abc"}),
        machine: serde_json::json!({"hostname": "node1", "cpu": {"count": 2}}),
        machine_state: serde_json::json!({"environment": {"LANG": "C"}}),
        recorder_version: "0.1.0".into(),
    }
}

fn activity_name(number: u32) -> ActivityName {
    ActivityName {
        activity_id: format!("step_{number}"),
        path: format!("demo::step_{number}"),
        keys: vec!["a".into(), "b".into(), "c".into()],
        ..ActivityName::default()
    }
}

/// A histogram of times in two series.
fn series_name(number: u32) -> SeriesName {
    let labels = [("device".to_owned(), format!("gpu_{number}"))].into();
    let word = |word: &str| word.to_owned();
    SeriesName {
        category: word("PERFORMANCE"),
        name: word("time"),
        kind: word("histogram"),
        unit: Some(word("us")),
        labels,
    }
}

pub(crate) fn event(event: Event) -> Framed {
    Framed::new(&event, &[])
}

pub(crate) fn batch_of(records: &[Framed]) -> Batch {
    let mut batch = Batch::new();
    for (record, sequence) in records.iter().zip(0..) {
        batch.push(0, sequence, record.kind, record.words.iter().copied());
    }
    batch
}

pub(crate) fn open(path: &Path) -> Store {
    Store::open(path, StoreOptions::default()).unwrap()
}

/// A store with these records, merged as one batch.
pub(crate) fn store_with(records: &[Framed]) -> (tempfile::TempDir, Store, Reader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    let mut store = open(&path);
    store.apply(&Journal::default(), &batch_of(records)).unwrap();
    let reader = Reader::open(&path).unwrap();
    (folder, store, reader)
}

/// The rows of a query, a line each.
pub(crate) fn lines(reader: &Reader, sql: &str) -> Vec<String> {
    let table = reader.query(sql, &[], QueryLimits::default()).unwrap();
    let to_line = |row: &Vec<_>| row.iter().map(cell_text).collect::<Vec<_>>().join(" | ");
    table.rows.iter().map(to_line).collect()
}

fn cell_text(cell: &telemetry_store::Cell) -> String {
    match cell {
        telemetry_store::Cell::Text(text) => text.clone(),
        other => serde_json::to_string(other).unwrap(),
    }
}

/// All views but `health`, whose counters say how often something was written: sorted lines.
pub(crate) fn dump(reader: &Reader) -> String {
    let views = VIEWS.into_iter().filter(|&view| view != "health");
    views.map(|view| section(reader, view)).collect()
}

fn section(reader: &Reader, view: &str) -> String {
    let mut rows = lines(reader, &format!("select * from {view}"));
    rows.sort();
    format!("== {view}\n{}\n", rows.join("\n"))
}
