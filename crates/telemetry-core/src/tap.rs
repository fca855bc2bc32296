//! The live tap, in the language of tasks: what other processes watch a running program with.
//!
//! [`Tap`] reads the records of a journal as they come and says what they mean; [`Seen::to_json`] is the form
//! in which `telemetry tail --jsonl` and the reader in Python print them.

mod json;
mod names;

use std::path::Path;

use telemetry_journal::clock::Clock;
use telemetry_journal::{Batch, Counters, Frame, JournalError, Sightings};

use crate::event::EventValue;
use crate::id::{TaskId, WorkflowId};
use crate::level::Level;
use crate::record::{Field, Items, Key, ProcessName, Raw, Record, SeriesName};
use crate::status::{ErrorKind, Status};
use names::Names;

/// Watches what a running process records, without its noticing.
///
/// The program never waits for a tap. One that is too slow is overrun, and says by how much:
/// [`sightings`](Self::sightings).
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use telemetry_core::tap::Tap;
///
/// let mut tap = Tap::open(".telemetry/journal/agent-0199….journal".as_ref())?;
/// while !tap.is_over() {
///     for seen in tap.look()? {
///         println!("{}", seen.to_json());
///     }
///     std::thread::sleep(std::time::Duration::from_millis(10));
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Tap {
    journal: telemetry_journal::Tap,
    names: Names,
    batch: Batch,
    has_values: bool,
}

/// Something that a tap saw.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Seen {
    /// When it happened, in unix nanoseconds.
    pub at_unix_ns: i64,
    /// The lane that it came through.
    pub lane: u32,
    /// Its number in that lane.
    pub sequence: u64,
    /// What it is.
    pub what: What,
}

/// What a tap saw.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum What {
    /// Something was measured or counted.
    Event {
        /// What is measured.
        series: SeriesName,
        /// How much.
        value: EventValue,
        /// The task that it belongs to.
        task: Option<TaskId>,
        /// The workflow that it belongs to.
        workflow: Option<WorkflowId>,
    },
    /// A task started.
    TaskStart {
        /// The task.
        task: TaskId,
        /// What is called.
        activity: Option<String>,
        /// Who called it.
        parent: Option<TaskId>,
        /// The workflow it belongs to.
        workflow: Option<WorkflowId>,
        /// How many tasks are above it.
        depth: u16,
        /// How much it captures.
        level: Level,
        /// The thread that it started on.
        thread: Option<String>,
        /// What it used, as JSON.
        used: String,
    },
    /// Something was added to a running task.
    TaskUpdate {
        /// The task.
        task: TaskId,
        /// What was called.
        activity: Option<String>,
        /// What it used, as JSON.
        used: String,
        /// What it generated, as JSON.
        generated: String,
    },
    /// A task ended.
    TaskEnd {
        /// The task.
        task: TaskId,
        /// What was called.
        activity: Option<String>,
        /// How it ended.
        status: Status,
        /// In which way it failed.
        error_kind: Option<ErrorKind>,
        /// The message of its error or panic, as JSON.
        stderr: Option<String>,
        /// What it generated, as JSON.
        generated: String,
    },
    /// A workflow started.
    WorkflowStart {
        /// The workflow.
        workflow: WorkflowId,
        /// Its name, as JSON.
        name: Option<String>,
        /// The workflow that started it.
        parent_workflow: Option<WorkflowId>,
        /// The task that started it.
        parent_task: Option<TaskId>,
    },
    /// A workflow ended.
    WorkflowEnd {
        /// The workflow.
        workflow: WorkflowId,
        /// How it ended.
        status: Status,
    },
    /// Records were dropped, because their lane was full or they were too large.
    Gap {
        /// How many.
        dropped: u64,
    },
}

impl Seen {
    /// Something that happened at this time: for those who test what they make of it.
    pub fn new(at_unix_ns: i64, what: What) -> Self {
        Self { at_unix_ns, lane: 0, sequence: 0, what }
    }
}

impl Tap {
    /// Begins to watch the journal of a process, at the oldest records that are still there. The journal of
    /// a process that is gone is read as it was left.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let journal = telemetry_journal::Tap::open(path)?;
        Ok(Self { journal, names: Names::default(), batch: Batch::new(), has_values: true })
    }

    /// Leaves `used` and `generated` empty from now on: who only counts calls sees more of a fast program.
    pub fn pass_over_values(&mut self) {
        self.has_values = false;
    }

    /// Passes over everything that is there: only what comes from now on is seen.
    pub fn skip_to_end(&mut self) {
        self.journal.skip_to_end();
    }

    /// What was recorded since the last look, in the order in which it happened. Snapshots are passed over.
    pub fn look(&mut self) -> Result<Vec<Seen>, JournalError> {
        self.batch.clear();
        self.journal.look(&mut self.batch)?;
        let clock = self.journal.clock();
        let (tap, names, has_values) = (&self.journal, &mut self.names, self.has_values);
        let read = |frame| Reading { tap, names: &mut *names, clock: &clock, has_values }.read(frame);
        let mut seen: Vec<Seen> = self.batch.frames().filter_map(read).collect();
        seen.sort_by_key(|seen| (seen.at_unix_ns, seen.lane, seen.sequence));
        Ok(seen)
    }

    /// Whether nothing can come any more: the process is gone, or has closed its journal. One more look then
    /// sees the last of it.
    pub fn is_over(&self) -> bool {
        self.journal.is_over()
    }

    /// What it saw and missed so far, of all records.
    pub fn sightings(&self) -> Sightings {
        self.journal.sightings()
    }

    /// The counters of the journal as they are now: how much waits in its lanes, and how much was dropped.
    pub fn counters(&self) -> Counters {
        self.journal.counters()
    }

    /// The process that writes, or wrote, the journal.
    pub fn pid(&self) -> u32 {
        self.journal.pid()
    }

    /// The id of the recorder.
    pub fn id(&self) -> crate::id::RecorderId {
        crate::id::RecorderId::from_u128(self.journal.id())
    }

    /// The journal.
    pub fn path(&self) -> &Path {
        self.journal.path()
    }

    /// What is known of the process.
    pub fn process(&self) -> Option<ProcessName> {
        names::process(&self.journal)
    }
}

/// The reading of one frame.
struct Reading<'a> {
    tap: &'a telemetry_journal::Tap,
    names: &'a mut Names,
    clock: &'a Clock,
    has_values: bool,
}

impl Reading<'_> {
    fn read(self, frame: Frame<'_>) -> Option<Seen> {
        let Frame { lane, sequence, kind, words, bytes } = frame;
        let record = Record::decode(Raw { kind, words, bytes })?;
        let at_unix_ns = self.clock.unix_ns(ticks(&record)?);
        Some(Seen { at_unix_ns, lane, sequence, what: self.what(record)? })
    }

    fn what(self, record: Record<'_>) -> Option<What> {
        let Self { tap, names, has_values, .. } = self;
        let object = |items: Items<'_>, keys: &[String], fields: &[Field]| {
            if has_values { object(items, keys, fields) } else { "{}".to_owned() }
        };
        Some(match record {
            Record::Event(event) => What::Event {
                series: names.series(tap, event.series).cloned().unwrap_or_default(),
                value: event.value,
                task: event.task,
                workflow: event.workflow,
            },
            Record::TaskStart(start, items) => {
                let thread = names.thread(tap, start.thread).map(|thread| thread.name.clone());
                let activity = names.activity(tap, start.activity);
                let keys = activity.map_or(&[][..], |activity| &activity.keys);
                What::TaskStart {
                    task: start.task,
                    used: object(items, keys, &[Field::Used]),
                    activity: activity.map(|activity| activity.activity_id.clone()),
                    parent: start.parent,
                    workflow: start.workflow,
                    depth: start.depth,
                    level: start.level,
                    thread,
                }
            }
            Record::TaskUpdate(update, items) => {
                let activity = names.activity(tap, update.activity);
                let keys = activity.map_or(&[][..], |activity| &activity.keys);
                What::TaskUpdate {
                    task: update.task,
                    activity: activity.map(|activity| activity.activity_id.clone()),
                    used: object(items.clone(), keys, &[Field::Used]),
                    generated: object(items, keys, &[Field::Generated]),
                }
            }
            Record::TaskEnd(end, items) => {
                let activity = names.activity(tap, end.activity);
                let keys = activity.map_or(&[][..], |activity| &activity.keys);
                What::TaskEnd {
                    task: end.task,
                    activity: activity.map(|activity| activity.activity_id.clone()),
                    status: end.status,
                    error_kind: end.error_kind,
                    stderr: text(items.clone(), Field::Stderr),
                    generated: object(items, keys, &[Field::Generated, Field::Result]),
                }
            }
            Record::WorkflowStart(start, items) => What::WorkflowStart {
                workflow: start.workflow,
                name: text(items, Field::Name),
                parent_workflow: start.parent_workflow,
                parent_task: start.parent_task,
            },
            Record::WorkflowEnd(end, _) => What::WorkflowEnd { workflow: end.workflow, status: end.status },
            Record::Gap(gap) => What::Gap { dropped: gap.count },
            _ => return None,
        })
    }
}

fn ticks(record: &Record<'_>) -> Option<u64> {
    Some(match record {
        Record::Event(event) => event.ticks,
        Record::TaskStart(start, _) => start.ticks,
        Record::TaskUpdate(update, _) => update.ticks,
        Record::TaskEnd(end, _) => end.ticks,
        Record::WorkflowStart(start, _) => start.ticks,
        Record::WorkflowEnd(end, _) => end.ticks,
        Record::Gap(gap) => gap.first_ticks,
        _ => return None,
    })
}

/// The items of these fields as a JSON object, in the order in which they were written. A result that is a
/// map adds its own members, any other one is called `result`.
fn object(items: Items<'_>, keys: &[String], fields: &[Field]) -> String {
    let mut members: Vec<String> = Vec::new();
    for item in items.filter(|item| fields.contains(&item.field)) {
        let value = json::of_value(item.value);
        let name = match item.key {
            Some(Key::Inline(name)) => name.to_owned(),
            Some(Key::Index(index)) => keys.get(index).cloned().unwrap_or_else(|| format!("arg_{index}")),
            None if item.value.is_map() => {
                members
                    .extend(value.strip_prefix('{').and_then(|it| it.strip_suffix('}')).map(str::to_owned));
                continue;
            }
            None => "result".to_owned(),
        };
        members.push(format!("{}:{value}", json::quoted(&name)));
    }
    members.retain(|member| !member.is_empty());
    format!("{{{}}}", members.join(","))
}

/// The last item of this field, as JSON.
fn text(items: Items<'_>, field: Field) -> Option<String> {
    items.filter(|item| item.field == field).last().map(|item| json::of_value(item.value))
}
