//! Recording into memory, for tests: what a piece of code records, as a tree in text.
//!
//! ```
//! use telemetry::{task, testing};
//!
//! #[task]
//! fn double(x: i64) -> i64 {
//!     2 * x
//! }
//!
//! let recorded = testing::record(|| {
//!     double(21);
//! });
//! assert_eq!(recorded.tree(), "double FINISHED {\"x\":21} → {\"result\":42}\n");
//! ```

mod collect;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use telemetry_core::id::{RecorderId, TaskId};
use telemetry_core::record::ProcessName;
use telemetry_core::redaction::Redactor;
use telemetry_core::runtime::{Recording, RecordingOptions, StartedWorkflow};
use telemetry_core::settings::Settings;
use telemetry_core::status::{ErrorKind, Status};
use telemetry_export::tree::{Line, draw};
use telemetry_journal::{Config, Counters, Journal, OnFull, Source};

use collect::Collector;

/// One recording at a time in a process.
static TURN: Mutex<()> = Mutex::new(());

/// A task that was recorded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedTask {
    /// Its id.
    pub id: TaskId,
    /// Who called it.
    pub parent: Option<TaskId>,
    /// What was called.
    pub activity: String,
    /// How it stands.
    pub status: Status,
    /// In which way it failed.
    pub error_kind: Option<ErrorKind>,
    /// The message of its error or panic.
    pub error: Option<String>,
    /// What it used.
    pub used: Map<String, Value>,
    /// What it generated.
    pub generated: Map<String, Value>,
    /// What else was said about it: `metadata` by key, `tags`, `dependencies`, `subtype`, `group`, `stdout`.
    pub more: Map<String, Value>,
}

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    tasks: Vec<RecordedTask>,
    left_out: BTreeMap<String, u64>,
    counters: Counters,
}

/// Runs `body` as a workflow and records it into memory, with the built-in settings and without
/// telemetry. Calls from several threads take turns.
pub fn record(body: impl FnOnce()) -> Recorded {
    let mut settings = Settings::default();
    settings.capture.default_level = crate::Level::Data;
    record_with(settings, body)
}

/// Like [`record`], with settings. Where they are stored is ignored, and no snapshots are taken.
///
/// # Panics
///
/// If a recorder is started in this process, if `body` panics, or if a pattern of the settings is no regular expression.
pub fn record_with(settings: Settings, body: impl FnOnce()) -> Recorded {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let journal = Journal::in_memory(Config {
        id: RecorderId::generate().as_u128(),
        lane_bytes: settings.journal.lane_bytes.min(1 << 20),
        lanes_max: settings.journal.lanes_max,
        on_full: OnFull::Wait,
        wait_max: Duration::from_millis(settings.journal.wait_ms_max),
    });
    let process = ProcessName::default();
    let redactor = Redactor::new(&settings.redaction).expect("the patterns are regular expressions");
    let options = RecordingOptions {
        journal,
        process,
        settings,
        sensor: None,
        parent: None,
        inherited: None,
        redactor,
    };
    let recording =
        Recording::install(options).expect("no recorder is started in a process that records into memory");
    let collector = Collector::start(journal);
    // The recording ends also when the body panics, or the next test could not begin.
    let removed = RemoveOnDrop(recording);
    let workflow = StartedWorkflow::start("testing", |_| {});
    let context = workflow.as_ref().map(StartedWorkflow::context).unwrap_or_default();
    context.run(body);
    drop(removed);
    let (tasks, left_out) = collector.finish();
    Recorded { tasks, left_out, counters: journal.counters() }
}

struct RemoveOnDrop(&'static Recording);

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        self.0.remove();
    }
}

impl Recorded {
    /// The tasks, in the order in which they started.
    pub fn tasks(&self) -> &[RecordedTask] {
        &self.tasks
    }

    /// How many tasks of each activity sampling left out.
    pub fn left_out(&self) -> &BTreeMap<String, u64> {
        &self.left_out
    }

    /// What became of the records.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The tree of calls: activity, status, what was used → what was generated, and the error.
    pub fn tree(&self) -> String {
        let mut lines = Vec::new();
        self.add_children(None, 0, &mut lines);
        draw(&lines)
    }

    fn add_children(&self, parent: Option<TaskId>, depth: usize, lines: &mut Vec<Line>) {
        for task in self.tasks.iter().filter(|task| task.parent == parent) {
            lines.push(Line { depth, text: task.to_string() });
            self.add_children(Some(task.id), depth + 1, lines);
        }
    }
}

impl std::fmt::Display for RecordedTask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.activity, self.status)?;
        if !self.used.is_empty() {
            write!(formatter, " {}", Value::Object(self.used.clone()))?;
        }
        if !self.generated.is_empty() {
            write!(formatter, " → {}", Value::Object(self.generated.clone()))?;
        }
        if let Some(kind) = self.error_kind {
            write!(formatter, " {kind}: {}", self.error.as_deref().unwrap_or("(no message)"))?;
        }
        Ok(())
    }
}
