//! The records: a struct for each type, with the fields of its line in a JSON lines file.
//!
//! Where a view has a column of the same meaning, the field has its name.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::number::ExactNumber;

/// A JSON value as it was written down, digit for digit.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct ExactJson(Box<RawValue>);

impl ExactJson {
    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl FromSql for ExactJson {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        // Outside of a text, a line break is only space; inside of one it is escaped.
        let parsed = RawValue::from_string(text.replace('\n', " "));
        let parsed = parsed.or_else(|_| serde_json::value::to_raw_value(text));
        parsed.map(Self).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

impl ToSql for ExactJson {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

/// A struct that is read from a row, field by field, and from and to JSON.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* #[serde(default)] pub $field: $type,)+
        }

        impl $name {
            pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
                let mut next = 0..;
                let mut column = || next.next().unwrap_or_default();
                Ok(Self { $($field: row.get::<usize, _>(column())?,)+ })
            }
        }
    };
}

record! {
    /// A machine.
    MachineRecord {
        /// The machine.
        machine_id: String,
        /// What is known of it.
        facts: Option<ExactJson>,
    }
}

record! {
    /// A process that recorded.
    RecorderRecord {
        /// The recorder.
        recorder_id: String,
        /// Its process.
        pid: Option<i64>,
        /// Who ran it.
        user: Option<String>,
        /// Where.
        hostname: Option<String>,
        /// The program.
        exe: Option<String>,
        /// Its command line.
        cmd_line: Option<ExactJson>,
        /// The revision of the code.
        code_repository: Option<ExactJson>,
        /// The settings in force.
        settings: Option<ExactJson>,
        /// The version of the recorder.
        recorder_version: Option<String>,
        /// The machine.
        machine_id: Option<String>,
        /// What this process saw of the machine.
        machine_state: Option<ExactJson>,
        /// When it was found dead, in unix nanoseconds.
        interrupted_ns: Option<i64>,
        /// The thresholds of its critical tags.
        critical_tags: Option<ExactJson>,
        /// What it is called.
        name: Option<String>,
    }
}

record! {
    /// A stretch of time in which records were dropped.
    GapRecord {
        /// The recorder.
        recorder_id: String,
        /// The lane of its journal.
        lane: i64,
        /// The place in the lane.
        sequence: i64,
        /// When the first one was dropped, in unix nanoseconds.
        first_ns: i64,
        /// When the last one was.
        last_ns: i64,
        /// How many were.
        count: i64,
    }
}

record! {
    /// A workflow.
    WorkflowRecord {
        /// The workflow.
        workflow_id: String,
        /// Its name.
        name: Option<String>,
        /// The campaign.
        campaign_id: Option<String>,
        /// The workflow that it is nested in.
        parent_workflow_id: Option<String>,
        /// The task that started it.
        parent_task_id: Option<String>,
        /// A free word for its kind.
        subtype: Option<String>,
        /// How it stands.
        status: Option<String>,
        /// In which way it failed.
        error_kind: Option<String>,
        /// When it started, in unix seconds.
        started_at: Option<f64>,
        /// When it ended, in unix seconds.
        ended_at: Option<f64>,
        /// How long it took.
        duration_ns: Option<i64>,
        /// When it started, exactly.
        started_ns: Option<i64>,
        /// When it ended, exactly.
        ended_ns: Option<i64>,
        /// Its inputs.
        used: Option<ExactJson>,
        /// Its outputs.
        generated: Option<ExactJson>,
        /// Free metadata.
        custom_metadata: Option<ExactJson>,
        /// The agent that ran it.
        agent_id: Option<String>,
        /// The recorder of its process.
        recorder_id: Option<String>,
    }
}

record! {
    /// Where an activity is in the code.
    SiteRecord {
        /// The activity.
        activity_id: String,
        /// The path of the function.
        path: String,
        /// The file.
        file: Option<String>,
        /// The line in it.
        line: Option<i64>,
    }
}

record! {
    /// A task.
    TaskRecord {
        /// The task.
        task_id: String,
        /// The workflow that it belongs to.
        workflow_id: Option<String>,
        /// Who called it.
        parent_task_id: Option<String>,
        /// The topmost task above it, or itself.
        root_task_id: Option<String>,
        /// How many tasks are above it.
        depth: Option<i64>,
        /// What was called.
        activity_id: Option<String>,
        /// A free word for its kind.
        subtype: Option<String>,
        /// The loop that it is an iteration of.
        group_id: Option<String>,
        /// How it stands.
        status: Option<String>,
        /// In which way it failed.
        error_kind: Option<String>,
        /// What it printed.
        stdout: Option<String>,
        /// The message of its error or panic.
        stderr: Option<String>,
        /// When it started, in unix seconds.
        started_at: Option<f64>,
        /// When it ended, in unix seconds.
        ended_at: Option<f64>,
        /// How long it took.
        duration_ns: Option<i64>,
        /// When it started, exactly.
        started_ns: Option<i64>,
        /// When it ended, exactly.
        ended_ns: Option<i64>,
        /// Its inputs.
        used: Option<ExactJson>,
        /// Its outputs.
        generated: Option<ExactJson>,
        /// The tasks that it declares to depend on.
        dependencies: Option<ExactJson>,
        /// Its tags.
        tags: Option<ExactJson>,
        /// Free metadata.
        custom_metadata: Option<ExactJson>,
        /// The agent that ran it.
        agent_id: Option<String>,
        /// The agent that asked for it.
        source_agent_id: Option<String>,
        /// The recorder of its process.
        recorder_id: Option<String>,
        /// The thread that it started on.
        thread: Option<String>,
        /// How much was captured.
        level: Option<String>,
        /// The number of the snapshot at its start among those of its recorder.
        start_snapshot: Option<i64>,
        /// How old that was.
        snapshot_age_start_ms: Option<i64>,
        /// The number of the snapshot at its end.
        end_snapshot: Option<i64>,
        /// How old that was.
        snapshot_age_end_ms: Option<i64>,
        /// Whether sampling left it out at first.
        was_left_out: Option<bool>,
        /// The fingerprints of its values, a list of [`FingerprintRecord`].
        fingerprints: Option<ExactJson>,
    }
}

/// A fingerprint of a value that a task used or generated.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[non_exhaustive]
pub struct FingerprintRecord {
    /// 0 used, 1 generated.
    pub direction: i64,
    /// The name of the value.
    pub name: String,
    /// The fingerprint, as a text because it has 64 bits.
    pub fingerprint: String,
    /// How it is known.
    pub evidence: i64,
    /// When the record was made that names the value, in unix nanoseconds.
    pub at_ns: Option<i64>,
}

record! {
    /// A telemetry reading.
    SnapshotRecord {
        /// The recorder that took it.
        recorder_id: String,
        /// Its number there.
        number: i64,
        /// The workflow.
        workflow_id: Option<String>,
        /// When it was taken, in unix seconds.
        taken_at: Option<f64>,
        /// When it was taken, exactly.
        taken_ns: Option<i64>,
        /// The reading.
        telemetry: Option<ExactJson>,
    }
}

record! {
    /// What sampling left out.
    LeftOutRecord {
        /// The recorder.
        recorder_id: String,
        /// The number of the tally there.
        number: i64,
        /// The workflow.
        workflow_id: Option<String>,
        /// The activity.
        activity_id: Option<String>,
        /// How many calls.
        count: i64,
    }
}

record! {
    /// An event.
    EventRecord {
        /// The recorder.
        recorder_id: String,
        /// The lane of its journal.
        lane: i64,
        /// The place in the lane.
        sequence: i64,
        /// The workflow.
        workflow_id: Option<String>,
        /// The task.
        task_id: Option<String>,
        /// What it is about.
        category: Option<String>,
        /// What was measured.
        name: Option<String>,
        /// Whether values add up, replace each other, or are a distribution.
        kind: Option<String>,
        /// In what.
        unit: Option<String>,
        /// What it is told apart by.
        labels: Option<ExactJson>,
        /// When, in unix seconds.
        timestamp: Option<f64>,
        /// When, exactly.
        at_ns: i64,
        /// The value; none for what is no number.
        value: Option<ExactNumber>,
    }
}

record! {
    /// That a workflow has session files, and where they are on the machine that wrote them.
    SessionRecord {
        /// The workflow.
        workflow_id: String,
        /// The folder.
        folder: Option<String>,
        /// What they are called, without endings.
        name: Option<String>,
    }
}

/// A record of any type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Record {
    /// A machine.
    Machine(MachineRecord),
    /// A process that recorded.
    Recorder(Box<RecorderRecord>),
    /// A stretch of time in which records were dropped.
    Gap(GapRecord),
    /// A workflow.
    Workflow(Box<WorkflowRecord>),
    /// Where an activity is in the code.
    Site(SiteRecord),
    /// A task.
    Task(Box<TaskRecord>),
    /// A telemetry reading.
    Snapshot(SnapshotRecord),
    /// What sampling left out.
    LeftOut(LeftOutRecord),
    /// An event.
    Event(Box<EventRecord>),
    /// That a workflow has session files.
    Session(SessionRecord),
}
