//! Puts recorded tasks together from the records of a journal in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Map, Value};
use telemetry_core::id::TaskId;
use telemetry_core::record::{ActivityName, Field, Item, Items, Key, Raw, Record};
use telemetry_core::status::Status;
use telemetry_core::value::Encoded;
use telemetry_journal::{Batch, Frame, Journal, Source, Tally};

use super::RecordedTask;

/// Empties a journal while others fill it.
pub(super) struct Collector {
    journal: &'static Journal,
    is_done: Arc<AtomicBool>,
    thread: JoinHandle<Tasks>,
}

impl Collector {
    pub(super) fn start(journal: &'static Journal) -> Self {
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let thread = thread::spawn(move || {
            let mut tasks = Tasks::default();
            while !done.load(Ordering::Acquire) {
                journal.wait_for_work(Duration::from_millis(20));
                tasks.take(journal);
            }
            tasks.take(journal);
            tasks
        });
        Self { journal, is_done, thread }
    }

    /// The tasks, in the order in which they started, and how many of each activity were left out.
    pub(super) fn finish(self) -> (Vec<RecordedTask>, BTreeMap<String, u64>) {
        self.is_done.store(true, Ordering::Release);
        self.journal.ask_for_drain();
        let tasks = self.thread.join().expect("reading records does not panic");
        let left_out = tasks.left_out(self.journal);
        let mut tasks: Vec<Gathered> = tasks.gathered.into_values().collect();
        tasks.sort_by_key(|gathered| (gathered.started_ticks, gathered.task.id));
        (tasks.into_iter().map(|gathered| gathered.task).collect(), left_out)
    }
}

#[derive(Default)]
struct Tasks {
    gathered: HashMap<TaskId, Gathered>,
    tallies: HashMap<u64, Tally>,
}

struct Gathered {
    task: RecordedTask,
    started_ticks: u64,
    was_left_out: bool,
}

impl Tasks {
    fn take(&mut self, journal: &Journal) {
        let mut batch = Batch::new();
        journal.collect(&mut batch);
        for frame in batch.frames() {
            self.add(journal, &frame);
        }
        self.tallies.extend(batch.tallies().iter().map(|tally| (tally.number, *tally)));
        journal.release(&batch);
    }

    /// What was counted as left out and not written after all.
    fn left_out(&self, journal: &Journal) -> BTreeMap<String, u64> {
        let mut left_out = BTreeMap::new();
        for tally in self.tallies.values() {
            let number = u32::try_from(tally.key[2]).unwrap_or(u32::MAX);
            *left_out.entry(activity(journal, number).activity_id).or_default() += tally.count;
        }
        for gathered in self.gathered.values().filter(|gathered| gathered.was_left_out) {
            *left_out.entry(gathered.task.activity.clone()).or_default() -= 1;
        }
        left_out.retain(|_, count| *count > 0);
        left_out
    }

    fn add(&mut self, journal: &Journal, frame: &Frame<'_>) {
        match Record::decode(Raw { kind: frame.kind, words: frame.words, bytes: frame.bytes }) {
            Some(Record::TaskStart(start, items)) => {
                let gathered = self.of(start.task);
                gathered.started_ticks = start.ticks;
                gathered.was_left_out = start.was_left_out;
                gathered.task.parent = start.parent;
                let name = activity(journal, start.activity);
                gathered.task.activity.clone_from(&name.activity_id);
                gathered.task.add(&name, items);
            }
            Some(Record::TaskEnd(end, items)) => {
                let task = &mut self.of(end.task).task;
                (task.status, task.error_kind) = (end.status, end.error_kind);
                task.add(&activity(journal, end.activity), items);
            }
            Some(Record::TaskUpdate(update, items)) => {
                let name = activity(journal, update.activity);
                self.of(update.task).task.add(&name, items);
            }
            _ => {}
        }
    }

    fn of(&mut self, id: TaskId) -> &mut Gathered {
        self.gathered.entry(id).or_insert_with(|| Gathered {
            task: RecordedTask {
                id,
                parent: None,
                activity: String::new(),
                status: Status::Running,
                error_kind: None,
                error: None,
                used: Map::new(),
                generated: Map::new(),
                more: Map::new(),
            },
            started_ticks: 0,
            was_left_out: false,
        })
    }
}

impl RecordedTask {
    fn add(&mut self, activity: &ActivityName, items: Items<'_>) {
        for Item { field, key, value } in items {
            let key = key.map(|key| name_of(key, activity)).unwrap_or_default();
            match field {
                Field::Used => {
                    self.used.insert(key, to_json(value));
                }
                Field::Generated => {
                    self.generated.insert(key, to_json(value));
                }
                Field::Result => match to_json(value) {
                    Value::Object(members) if value.is_map() => self.generated.extend(members),
                    other => {
                        self.generated.insert("result".to_owned(), other);
                    }
                },
                Field::Stderr => self.error = value.as_str().map(str::to_owned),
                Field::Metadata => self.more_of("metadata", Value::Object(Map::new()), |metadata| {
                    if let Value::Object(metadata) = metadata {
                        metadata.insert(key, to_json(value));
                    }
                }),
                Field::Tag => self.add_to_list("tags", to_json(value)),
                Field::Dependency => self.add_to_list("dependencies", to_json(value)),
                other => {
                    self.more.insert(other.as_str().to_owned(), to_json(value));
                }
            }
        }
    }

    fn add_to_list(&mut self, name: &str, member: Value) {
        self.more_of(name, Value::Array(Vec::new()), |list| {
            if let Value::Array(list) = list {
                list.push(member);
            }
        });
    }

    fn more_of(&mut self, name: &str, empty: Value, change: impl FnOnce(&mut Value)) {
        change(self.more.entry(name).or_insert(empty));
    }
}

fn activity(journal: &Journal, number: u32) -> ActivityName {
    let name = journal.name(number);
    name.and_then(|name| serde_json::from_slice(&name.bytes).ok()).unwrap_or_default()
}

fn name_of(key: Key<'_>, activity: &ActivityName) -> String {
    match key {
        Key::Inline(name) => name.to_owned(),
        Key::Index(index) => activity.keys.get(index).cloned().unwrap_or_else(|| format!("arg_{index}")),
    }
}

fn to_json(value: Encoded<'_>) -> Value {
    let mut json = Vec::new();
    value.write_json(&mut json);
    serde_json::from_slice(&json).unwrap_or(Value::Null)
}
