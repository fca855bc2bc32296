//! Sessions: which workflows have files, and the packets and figures that go into these.

use rusqlite::{Connection, OptionalExtension, Params};
use serde::Serialize;

use crate::error::StoreError;
use crate::id_text::IdText;
use crate::reader::{Cell, JsonText, Reader, Row, row};
use crate::schema;
use crate::store::Store;

const TASKS_A_STATEMENT: usize = 1_000;

/// Tasks whose end is committed, to be asked for their [packets](Store::packets_that_ended).
#[derive(Debug, Default)]
pub struct Ended(pub(crate) Vec<IdText>);

impl Ended {
    /// Whether nothing ended.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

row! {
    /// A workflow that has session files, or will have them.
    Session {
        /// The workflow.
        workflow_id: String,
        /// The folder of the files: where they are, or where the settings want them.
        folder: Option<String>,
        /// What the settings want them to be called.
        wanted_name: Option<String>,
        /// What they are called if nobody wants anything: the time of the workflow's start, here.
        default_name: String,
        /// What they are called; none until they are begun.
        name: Option<String>,
        /// Whether the workflow has ended.
        has_ended: bool,
        /// Whether both files have everything.
        is_written: bool,
    }
}

row! {
    /// A row of `packets`. What a task says about itself may be of any type.
    PacketRow {
        /// The workflow.
        workflow_id: Option<String>,
        /// The task.
        task_id: String,
        /// When it ended, in unix seconds.
        timestamp: f64,
        /// Where it ran.
        device: Cell,
        /// The stage of the pipeline that ran it.
        worker_instance: Cell,
        /// How long it took.
        duration_ms: f64,
        /// Its number.
        packet_id: Cell,
        /// The layer of the model; -1 outside of the layers.
        layer_idx: Cell,
        /// What was done.
        operation: Cell,
        /// Whether it was done well.
        success: bool,
        /// How much memory it took, in MiB.
        memory_used_mb: Cell,
        /// Why it failed.
        error_message: Option<String>,
        /// When it started, in unix nanoseconds.
        started_ns: i64,
        /// How long it took.
        duration_ns: i64,
        /// The experts that it chose.
        experts: Option<JsonText>,
        /// How many it could choose from.
        num_experts: Cell,
        /// Tokens that it read of the prompt.
        prompt_tokens: Cell,
        /// Tokens that it generated.
        tokens_generated: Cell,
        /// Floating-point operations that it took.
        flops: Cell,
        /// Floating-point operations that it would have taken without experts.
        dense_flops: Cell,
    }
}

row! {
    /// A row of `session_summary`.
    SessionSummaryRow {
        /// The workflow.
        workflow_id: String,
        /// What its files are called; none where it has none.
        session_name: Option<String>,
        /// How the workflow stands.
        status: String,
        /// When it started, in unix seconds.
        start_time: f64,
        /// When it ended, in unix seconds: while it runs, or where it died, the end of its last packet.
        end_time: f64,
        /// The time between the two.
        total_time_s: f64,
        /// Tokens of the prompt.
        prompt_tokens: Cell,
        /// Tokens that were generated.
        tokens_generated: Cell,
        /// Both together.
        total_tokens: Cell,
        /// Generated tokens over the total time; none where no time has passed.
        tokens_per_second: Option<f64>,
        /// Packets that have ended.
        total_packets_processed: i64,
        /// Of these, on the device `cpu`.
        cpu_packets: i64,
        /// Of these, on the device `igpu`.
        igpu_packets: i64,
        /// Of these, failed.
        failed_packets: i64,
        /// Packets that were open when their process ended; they are in no other figure.
        interrupted_packets: i64,
        /// The share of packets that did not fail.
        success_rate: f64,
        /// The sum of the durations on `cpu`.
        total_cpu_time_ms: f64,
        /// The sum of the durations on `igpu`.
        total_igpu_time_ms: f64,
        /// The mean duration on `cpu`; none without packets there.
        avg_cpu_time_ms: Option<f64>,
        /// The mean duration on `igpu`; none without packets there.
        avg_igpu_time_ms: Option<f64>,
        /// The share of the total time in which `cpu` had a packet.
        cpu_utilization: Option<f64>,
        /// The share of the total time in which `igpu` had a packet.
        igpu_utilization: Option<f64>,
        /// How often a packet began on one of `cpu` and `igpu` while the other had one.
        cpu_igpu_contention_events: i64,
        /// Half of the packets took at most this long.
        p50_time_ms: f64,
        /// 95 of 100 packets took at most this long.
        p95_time_ms: f64,
        /// 99 of 100 packets took at most this long.
        p99_time_ms: f64,
        /// The share of floating-point operations that choosing experts saved; none where no packet says.
        flop_reduction: Option<f64>,
        /// Figures of each device.
        devices: JsonText,
        /// Figures of each operation.
        operation_breakdown: JsonText,
        /// How often each expert was chosen.
        expert_selection_distribution: JsonText,
        /// The file of packets.
        csv_log: Option<String>,
        /// The file of these figures.
        json_summary: Option<String>,
    }
}

const SESSION: &str = "
select w.workflow_id, coalesce(s.folder, r.settings ->> '$.session.output_dir'),
    r.settings ->> '$.session.session_name',
    strftime('session_%Y-%m-%d_%H-%M-%S', coalesce(w.started_ns, 0) / 1000000000, 'unixepoch', 'localtime'),
    s.name, w.status is not null, s.is_written
from session s
join workflow w on w.key = s.workflow
left join recorder r on r.key = w.recorder";

impl Store {
    /// From now on remembers which tasks end, for [`take_ended`](Self::take_ended).
    pub fn watch_ends(&mut self) {
        self.memory_mut().watch_ends();
    }

    /// The tasks whose end was committed since the last call.
    pub fn take_ended(&mut self) -> Ended {
        self.memory_mut().take_ended()
    }

    /// The packets of these tasks, in no particular order. A task that is no packet has none.
    pub fn packets_that_ended(
        &self,
        ended: &Ended,
        mut each: impl FnMut(PacketRow),
    ) -> Result<(), StoreError> {
        // Preparing the statement costs as much as reading ten packets.
        for tasks in ended.0.chunks(TASKS_A_STATEMENT) {
            let list = format!("[{}]", tasks.iter().map(IdText::quoted).collect::<Vec<_>>().join(","));
            let sql = "select * from packets where task_id in (select value from json_each(?1))";
            self.each_row(sql, (list,), &mut each)?;
        }
        Ok(())
    }

    /// The packets of a workflow, in the order of their ends.
    pub fn packets(&self, workflow_id: &str, each: impl FnMut(PacketRow)) -> Result<(), StoreError> {
        let sql = "select * from packets where workflow_id = ?1 order by started_ns + duration_ns, task_id";
        self.each_row(sql, (workflow_id,), each)
    }

    /// The figures of a workflow; none where it has no packets.
    pub fn session_summary(&self, workflow_id: &str) -> Result<Option<SessionSummaryRow>, StoreError> {
        summary(self.connection(), workflow_id)
            .map_err(|source| schema::failed(self.path(), "summing a session up", source))
    }

    /// The session of a workflow; none where the settings of its recorder want no files.
    pub fn session(&self, workflow_id: &str) -> Result<Option<Session>, StoreError> {
        let sql = format!("{SESSION} where w.workflow_id = ?1");
        Ok(self.sessions(&sql, (workflow_id,))?.pop())
    }

    /// The session of a workflow if it is this recorder's.
    pub fn session_of(&self, workflow_id: &str, recorder: u128) -> Result<Option<Session>, StoreError> {
        let sql = format!("{SESSION} where w.workflow_id = ?1 and r.recorder_id = ?2");
        Ok(self.sessions(&sql, (workflow_id, IdText::new(recorder)))?.pop())
    }

    /// The sessions of a recorder whose files lack something.
    pub fn sessions_of(&self, recorder: u128) -> Result<Vec<Session>, StoreError> {
        let sql = format!("{SESSION} where not s.is_written and r.recorder_id = ?1");
        self.sessions(&sql, (IdText::new(recorder),))
    }

    /// The sessions of dead processes whose files lack something.
    pub fn sessions_of_the_dead(&self) -> Result<Vec<Session>, StoreError> {
        self.sessions(&format!("{SESSION} where not s.is_written and r.interrupted_ns is not null"), ())
    }

    /// Notes where the files of a session are.
    pub fn name_session(&mut self, workflow_id: &str, folder: &str, name: &str) -> Result<(), StoreError> {
        self.update_session("set folder = ?2, name = ?3", (workflow_id, folder, name))
    }

    /// Notes whether the files of a session have everything.
    pub fn set_session_written(&mut self, workflow_id: &str, is_written: bool) -> Result<(), StoreError> {
        self.update_session("set is_written = ?2", (workflow_id, is_written))
    }

    fn update_session(&mut self, set: &str, parameters: impl Params + Copy) -> Result<(), StoreError> {
        let sql = format!(
            "update session {set} where workflow = (select key from workflow where workflow_id = ?1)"
        );
        self.write("noting a session", |connection, _| connection.execute(&sql, parameters).map(drop))
    }

    fn sessions(&self, sql: &str, parameters: impl Params) -> Result<Vec<Session>, StoreError> {
        let mut sessions = Vec::new();
        self.each_row(sql, parameters, |session| sessions.push(session))?;
        Ok(sessions)
    }

    fn each_row<T: Row>(
        &self,
        sql: &str,
        parameters: impl Params,
        mut each: impl FnMut(T),
    ) -> Result<(), StoreError> {
        let read = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            let mut rows = statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                each(T::read(row)?);
            }
            Ok(())
        };
        read().map_err(|source| schema::failed(self.path(), "reading a session", source))
    }
}

impl Reader {
    /// Whether a dead process left session files that lack something.
    pub fn has_unwritten_sessions(&self) -> Result<bool, StoreError> {
        let sql =
            format!("select exists ({SESSION} where not s.is_written and r.interrupted_ns is not null)");
        self.connection().query_row(&sql, (), |row| row.get(0)).map_err(|source| self.failed(source))
    }

    /// The figures of a workflow so far; none where it has no packets.
    ///
    /// ```
    /// # use telemetry_store::{Reader, Store};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("provenance.db");
    /// # let _store = Store::open(&path, Default::default())?;
    /// let summary = Reader::open(&path)?.session_summary("no such workflow")?;
    /// assert_eq!(summary, None);
    /// # Ok(()) }
    /// ```
    pub fn session_summary(&self, workflow_id: &str) -> Result<Option<SessionSummaryRow>, StoreError> {
        summary(self.connection(), workflow_id).map_err(|source| self.failed(source))
    }
}

fn summary(connection: &Connection, workflow_id: &str) -> rusqlite::Result<Option<SessionSummaryRow>> {
    let mut statement = connection.prepare_cached("select * from session_summary where workflow_id = ?1")?;
    statement.query_row((workflow_id,), SessionSummaryRow::read).optional()
}
