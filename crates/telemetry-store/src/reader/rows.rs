//! Rows of the views as structs: a field a column, in the order of the view.

use serde::Serialize;

use super::cell::JsonText;

/// Something that a row of a query can be read as.
pub(crate) trait Row: Sized {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self>;
}

macro_rules! row {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl $name {
            /// The names of the columns.
            pub const COLUMNS: &'static [&'static str] = &[$(stringify!($field),)+];
        }

        impl Row for $name {
            fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                let mut next = 0..;
                let mut column = || next.next().unwrap_or_default();
                Ok(Self { $($field: row.get::<usize, _>(column())?,)+ })
            }
        }
    };
}
pub(crate) use row;

row! {
    /// A row of `workflows`.
    WorkflowRow {
        /// The workflow.
        workflow_id: String,
        /// Its name.
        name: Option<String>,
        /// The set of workflows that it belongs to.
        campaign_id: Option<String>,
        /// The workflow that it is nested in.
        parent_workflow_id: Option<String>,
        /// The task that started it.
        parent_task_id: Option<String>,
        /// A free word for its kind.
        subtype: Option<String>,
        /// How it stands.
        status: String,
        /// When it started, in unix seconds.
        started_at: Option<f64>,
        /// When it ended, in unix seconds.
        ended_at: Option<f64>,
        /// How long it took.
        duration_ns: Option<i64>,
        /// Its inputs.
        used: Option<JsonText>,
        /// Its outputs.
        generated: Option<JsonText>,
        /// The user that ran it.
        user: Option<String>,
        /// The host that it ran on.
        hostname: Option<String>,
        /// The process that ran it.
        pid: Option<i64>,
        /// The program.
        exe: Option<String>,
        /// The command line of the program.
        cmd_line: Option<JsonText>,
        /// The revision of the code.
        code_repository: Option<JsonText>,
        /// The settings in force.
        settings: Option<JsonText>,
        /// The machine, in `machines`.
        machine_id: Option<String>,
        /// Free metadata.
        custom_metadata: Option<JsonText>,
        /// The agent that ran it.
        agent_id: Option<String>,
        /// The version of the recorder.
        recorder_version: Option<String>,
        /// What is known of the machine, as this run saw it.
        machine_info: Option<JsonText>,
    }
}

row! {
    /// A row of `tasks`.
    TaskRow {
        /// The task.
        task_id: String,
        /// The workflow that it belongs to.
        workflow_id: Option<String>,
        /// The campaign of that.
        campaign_id: Option<String>,
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
        status: String,
        /// In which way it failed.
        error_kind: Option<String>,
        /// What it printed.
        stdout: Option<String>,
        /// The message of its error or panic.
        stderr: Option<String>,
        /// When it was handed over, in unix seconds.
        submitted_at: Option<f64>,
        /// When it started, in unix seconds.
        started_at: Option<f64>,
        /// When it ended, in unix seconds.
        ended_at: Option<f64>,
        /// When it was written down, in unix seconds.
        registered_at: Option<f64>,
        /// How long it took.
        duration_ns: Option<i64>,
        /// Its inputs.
        used: Option<JsonText>,
        /// Its outputs.
        generated: Option<JsonText>,
        /// The tasks that it declares to depend on.
        dependencies: Option<JsonText>,
        /// The user's tags.
        tags: Option<JsonText>,
        /// Free metadata.
        custom_metadata: Option<JsonText>,
        /// The agent that ran it.
        agent_id: Option<String>,
        /// The agent that asked for it.
        source_agent_id: Option<String>,
        /// The host that it ran on.
        hostname: Option<String>,
        /// The process that ran it.
        pid: Option<i64>,
        /// The thread that it started on.
        thread: Option<String>,
        /// How much was captured.
        level: Option<String>,
        /// The snapshot at its start.
        telemetry_at_start: Option<JsonText>,
        /// The snapshot at its end.
        telemetry_at_end: Option<JsonText>,
        /// How old the snapshot was at its start.
        snapshot_age_start_ms: Option<i64>,
        /// How old the snapshot was at its end.
        snapshot_age_end_ms: Option<i64>,
        /// Where it was imported from.
        source: Option<String>,
    }
}

row! {
    /// A row of `activities`.
    ActivityRow {
        /// The workflow.
        workflow_id: Option<String>,
        /// What was called in it.
        activity_id: Option<String>,
        /// How often.
        calls: i64,
        /// How often it failed.
        errors: i64,
        /// How often it was left out by sampling.
        left_out: Option<i64>,
        /// How long all calls took together.
        total_ns: Option<i64>,
        /// How long a call took on average.
        mean_ns: Option<f64>,
        /// The shortest call.
        min_ns: Option<i64>,
        /// The longest call.
        max_ns: Option<i64>,
        /// Half of the calls took at most this long.
        p50_ns: Option<i64>,
        /// 95 of 100 calls took at most this long.
        p95_ns: Option<i64>,
    }
}

row! {
    /// A row of `health`.
    HealthRow {
        /// The recorder.
        recorder: String,
        /// Its process.
        pid: Option<i64>,
        /// Records that were offered.
        offered: i64,
        /// Of these, committed.
        persisted: i64,
        /// Of these, accepted and not yet committed.
        pending: i64,
        /// Of these, dropped because the lane was full.
        dropped_full: i64,
        /// Of these, dropped because they were too large.
        dropped_oversize: i64,
        /// Of these, dropped because they came from within another record.
        dropped_nested: i64,
        /// Of these, dropped because the recorder was stopped.
        dropped_stopped: i64,
        /// Committed by a recovery.
        recovered: i64,
        /// Half-written when the process died.
        torn: i64,
        /// What the recorder warned about.
        warnings: Option<String>,
        /// What the recorder is called.
        name: Option<String>,
    }
}

row! {
    /// A row of `derivations`.
    DerivationRow {
        /// The task that used something.
        task_id: String,
        /// The name of what it used.
        name: Option<String>,
        /// The task that generated it.
        source_task_id: String,
        /// The name under which that was generated.
        source_name: Option<String>,
        /// How we know: `declared`, `path` or `content`.
        evidence: String,
    }
}

row! {
    /// A task above or below another one.
    RelatedTask {
        /// The task.
        task_id: String,
        /// How far away it is: 1 is the parent or a child.
        depth: i64,
        /// What was called; none for a task that has no record.
        activity_id: Option<String>,
        /// How it stands.
        status: Option<String>,
        /// When it started, in unix seconds.
        started_at: Option<f64>,
        /// How long it took.
        duration_ns: Option<i64>,
    }
}

row! {
    /// How many tasks stand in one way.
    StatusCount {
        /// How they stand.
        status: String,
        /// How many they are.
        tasks: i64,
    }
}
