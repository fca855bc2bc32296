//! A workflow as a whole, for whoever compares, reports or draws it: its calls in a few bytes each, its
//! readings, its files and examples of its values.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Params};
use serde::Serialize;

use super::rows::{Row, row};
use super::{JsonText, Reader};
use crate::error::StoreError;

/// The calls of a workflow in the order of their rows, with the names that they refer to by number.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// The calls whose start is known.
    pub calls: Vec<RunCall>,
    /// Names of activities.
    pub activities: HashMap<u32, String>,
    /// Names of threads.
    pub threads: HashMap<u32, String>,
    /// When the workflow started, in unix nanoseconds.
    pub started_ns: Option<i64>,
    /// When it ended; none while it runs.
    pub ended_ns: Option<i64>,
}

/// A call: numbers only, since a run may have millions of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCall {
    /// The number of its row; see [`Reader::task_id`].
    pub key: i64,
    /// The place of its caller among the calls.
    pub caller: Option<u32>,
    /// What was called.
    pub activity: u32,
    /// The thread that it started on.
    pub thread: u32,
    /// The recorder whose process it ran in.
    pub recorder: u32,
    /// How it stands, as the code of a status.
    pub status: u8,
    /// When it started, in unix nanoseconds.
    pub started_ns: i64,
    /// When it ended; none while it runs.
    pub ended_ns: Option<i64>,
    /// The reading at its start, by number.
    pub start_snapshot: Option<i64>,
    /// The reading at its end.
    pub end_snapshot: Option<i64>,
}

row! {
    /// A reading: what the process and the machine had used until then.
    Reading {
        /// Its number; the recorder's is in the upper half.
        key: i64,
        /// When it was taken, in unix nanoseconds.
        taken_ns: Option<i64>,
        /// The load of the machine's processors.
        cpu_percent: Option<f64>,
        /// Memory in use on the machine.
        memory_used_bytes: Option<i64>,
        /// Swap in use on the machine.
        swap_used_bytes: Option<i64>,
        /// Processor time of the process.
        process_cpu_s: Option<f64>,
        /// The load of the process.
        process_cpu_percent: Option<f64>,
        /// Memory of the process.
        process_rss_bytes: Option<i64>,
        /// Threads of the process.
        process_threads: Option<i64>,
        /// Bytes that the process read from disks.
        process_read_bytes: Option<i64>,
        /// Bytes that it wrote to disks.
        process_write_bytes: Option<i64>,
        /// Switches between threads.
        process_ctx_switches: Option<i64>,
        /// Bytes read from the machine's disks.
        disk_read_bytes: Option<i64>,
        /// Bytes written to them.
        disk_write_bytes: Option<i64>,
        /// Bytes that the machine sent.
        net_sent_bytes: Option<i64>,
        /// Bytes that it received.
        net_recv_bytes: Option<i64>,
    }
}

row! {
    /// What a graphics processor did during a workflow.
    GpuUse {
        /// Its name in the readings.
        gpu: String,
        /// Readings that have it.
        readings: i64,
        /// The most memory in use.
        used_peak_bytes: Option<i64>,
        /// Its mean load.
        utilization_percent: Option<f64>,
        /// The highest temperature.
        temperature_max: Option<f64>,
        /// The highest power.
        power_max: Option<f64>,
    }
}

row! {
    /// Values of a call.
    ValuesRow {
        /// Its inputs.
        used: Option<JsonText>,
        /// Its outputs.
        generated: Option<JsonText>,
        /// A free word for its kind.
        subtype: Option<String>,
        /// The user's tags.
        tags: Option<JsonText>,
        /// The host that it ran on.
        hostname: Option<String>,
    }
}

row! {
    /// A file that a call named.
    FileRow {
        /// The call.
        task_id: String,
        /// What was called.
        activity_id: Option<String>,
        /// Whether it was an output.
        is_generated: bool,
        /// Under which name.
        name: String,
        /// Where the file is.
        path: Option<String>,
        /// How long it was.
        bytes: Option<i64>,
        /// Its content.
        sha256: Option<String>,
        /// Why it could not be read.
        state: Option<String>,
    }
}

row! {
    /// Values that calls of one activity generated and calls of another used.
    FlowRow {
        /// Who made them.
        source_activity_id: Option<String>,
        /// Who used them.
        activity_id: Option<String>,
        /// How we know.
        evidence: String,
        /// How often.
        derivations: i64,
    }
}

const CALLS: &str = "
select t.key, p.key, t.activity, t.thread, t.recorder, coalesce(t.status, iif(r.interrupted_ns is null, 3, 8)),
    t.started_ns, coalesce(t.ended_ns, max(t.started_ns, r.interrupted_ns)), t.start_snapshot, t.end_snapshot
from task t
left join task p on p.task_id = t.parent_task_id
left join recorder r on r.key = t.recorder
where t.workflow = (select key from workflow where workflow_id = ?1) and t.started_ns is not null
order by t.key";

const SPAN: &str = "
select w.started_ns, coalesce(w.ended_ns, max(w.started_ns, r.interrupted_ns))
from workflow w left join recorder r on r.key = w.recorder where w.workflow_id = ?1";

const READING: &str = "
select key, taken_ns, cpu_percent, memory_used_bytes, swap_used_bytes, process_cpu_s, process_cpu_percent,
    process_rss_bytes, process_threads, process_read_bytes, process_write_bytes, process_ctx_switches,
    disk_read_bytes, disk_write_bytes, net_sent_bytes, net_recv_bytes
from snapshot";

const GPUS: &str = "
select g.key, count(*), max(g.value ->> '$.used'),
    avg(coalesce(g.value ->> '$.activity.gfx_activity', g.value ->> '$.utilization')),
    max(coalesce(g.value ->> '$.temperature.edge', g.value ->> '$.temperature')),
    max(coalesce(g.value ->> '$.power.average_socket_power', g.value ->> '$.power'))
from snapshot n join json_each(n.telemetry, '$.gpu') g on g.type = 'object'
where n.workflow = (select key from workflow where workflow_id = ?1)
group by g.key order by g.key";

const VALUES: &str = "
select used, generated, subtype, tags, hostname from tasks where task_id in (
    select t.task_id from task t
    where t.workflow = (select key from workflow where workflow_id = ?1)
        and t.activity = (select key from activity where activity_id = ?2)
    order by t.key limit ?3)";

const FILES: &str = "
select t.task_id, a.activity_id, j.direction, j.name, j.file ->> '$.path', j.file ->> '$.bytes',
    j.file ->> '$.sha256', j.file ->> '$.state'
from task t left join activity a on a.key = t.activity
join (
    select f.task_id as task, 0 as direction, e.key as name, e.value -> '$.\"$file\"' as file
    from task f join json_each(f.used) e on e.type = 'object'
    where f.workflow = (select key from workflow where workflow_id = ?1) and f.used like '%\"$file\"%'
    union all
    select f.task_id, 1, e.key, e.value -> '$.\"$file\"'
    from task f join json_each(f.generated) e on e.type = 'object'
    where f.workflow = (select key from workflow where workflow_id = ?1) and f.generated like '%\"$file\"%'
) j on j.task = t.task_id
where j.file is not null
order by t.started_ns, t.key, j.direction, j.name
limit ?2";

const FLOWS: &str = "
select s.activity_id, u.activity_id, d.evidence, count(*)
from (select task_id, activity from task where workflow = (select key from workflow where workflow_id = ?1)
    order by key limit ?2) t
join derivations d on d.task_id = t.task_id
left join task m on m.task_id = d.source_task_id
left join activity s on s.key = m.activity
left join activity u on u.key = t.activity
group by 1, 2, 3 order by 4 desc, 1, 2, 3";

impl Reader {
    /// The calls of a workflow.
    ///
    /// ```no_run
    /// use telemetry_store::Reader;
    ///
    /// let reader = Reader::open(".telemetry/provenance.db".as_ref())?;
    /// let run = reader.run_of(reader.resolve("@last")?.id())?;
    /// println!("{} calls", run.calls.len());
    /// # Ok::<(), telemetry_store::StoreError>(())
    /// ```
    pub fn run_of(&self, workflow_id: &str) -> Result<Run, StoreError> {
        let span = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let span = self.connection.query_row(SPAN, (workflow_id,), span).optional();
        let (started_ns, ended_ns) = span.map_err(|source| self.failed(source))?.unwrap_or_default();
        Ok(Run {
            started_ns,
            ended_ns,
            calls: self.run_calls(workflow_id).map_err(|source| self.failed(source))?,
            activities: self.names("select key, activity_id from activity")?,
            threads: self.names("select key, name from thread")?,
        })
    }

    /// In the order of keys, so that a caller is found by searching.
    fn run_calls(&self, workflow_id: &str) -> rusqlite::Result<Vec<RunCall>> {
        let mut statement = self.connection.prepare_cached(CALLS)?;
        let mut rows = statement.query((workflow_id,))?;
        let (mut calls, mut callers) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            callers.push(row.get::<_, Option<i64>>(1)?);
            calls.push(RunCall {
                key: row.get(0)?,
                caller: None,
                activity: row.get(2)?,
                thread: row.get(3)?,
                recorder: row.get(4)?,
                status: row.get(5)?,
                started_ns: row.get(6)?,
                ended_ns: row.get(7)?,
                start_snapshot: row.get(8)?,
                end_snapshot: row.get(9)?,
            });
        }
        for (number, key) in callers.into_iter().enumerate() {
            let place = key.and_then(|key| calls.binary_search_by_key(&key, |call: &RunCall| call.key).ok());
            calls[number].caller = place.map(|place| place as u32);
        }
        Ok(calls)
    }

    fn names(&self, sql: &str) -> Result<HashMap<u32, String>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<HashMap<u32, String>, _>>()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The id of a task whose row has this number.
    pub fn task_id(&self, key: i64) -> Result<String, StoreError> {
        let read =
            || self.connection.query_row("select task_id from task where key = ?1", (key,), |row| row.get(0));
        read().map_err(|source| self.failed(source))
    }

    /// The readings of a workflow in the order of time.
    pub fn readings(&self, workflow_id: &str) -> Result<Vec<Reading>, StoreError> {
        let sql = format!(
            "{READING} where workflow = (select key from workflow where workflow_id = ?1) and taken_ns is not null
            order by taken_ns, key"
        );
        self.rows(&sql, (workflow_id,))
    }

    /// One reading.
    pub fn reading(&self, key: i64) -> Result<Option<Reading>, StoreError> {
        self.first(&format!("{READING} where key = ?1"), (key,))
    }

    /// What the graphics processors did during a workflow.
    pub fn gpus(&self, workflow_id: &str) -> Result<Vec<GpuUse>, StoreError> {
        self.rows(GPUS, (workflow_id,))
    }

    /// Values of the first calls of an activity.
    pub fn values(
        &self,
        workflow_id: &str,
        activity_id: &str,
        limit: u32,
    ) -> Result<Vec<ValuesRow>, StoreError> {
        self.rows(VALUES, (workflow_id, activity_id, limit))
    }

    /// The files that the calls of a workflow named, in the order of time.
    pub fn files(&self, workflow_id: &str, limit: u32) -> Result<Vec<FileRow>, StoreError> {
        self.rows(FILES, (workflow_id, limit))
    }

    /// How values went from activity to activity, as far as the first calls of a workflow used them.
    pub fn flows(&self, workflow_id: &str, calls_max: u32) -> Result<Vec<FlowRow>, StoreError> {
        self.rows(FLOWS, (workflow_id, calls_max))
    }

    fn first<T: Row>(&self, sql: &str, parameters: impl Params) -> Result<Option<T>, StoreError> {
        Ok(self.rows(sql, parameters)?.into_iter().next())
    }
}
