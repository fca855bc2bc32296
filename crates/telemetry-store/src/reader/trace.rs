//! What a picture of a run over time needs: spans, readings and arrows, in the order of time.

use std::ops::ControlFlow;

use serde::Serialize;

use super::rows::{Row, row};
use super::{JsonText, Reader};
use crate::error::StoreError;

row! {
    /// A task as a span.
    SpanRow {
        /// The task.
        task_id: String,
        /// Who called it.
        parent_task_id: Option<String>,
        /// The recorder whose process it ran in, by number.
        recorder: i64,
        /// The thread that it started on, by number.
        thread: i64,
        /// What was called.
        activity_id: Option<String>,
        /// How it stands.
        status: String,
        /// When it started, in unix nanoseconds.
        started_ns: i64,
        /// When it ended; none while it runs.
        ended_ns: Option<i64>,
        /// Its inputs.
        used: Option<JsonText>,
        /// Its outputs.
        generated: Option<JsonText>,
        /// The message of its error or panic.
        stderr: Option<String>,
    }
}

row! {
    /// A telemetry reading as points of curves.
    CurveRow {
        /// The recorder that took it, by number.
        recorder: i64,
        /// When, in unix nanoseconds.
        taken_ns: i64,
        /// The load of the machine's processors.
        cpu_percent: Option<f64>,
        /// Memory in use on the machine.
        memory_used_bytes: Option<i64>,
        /// Memory of the process.
        process_rss_bytes: Option<i64>,
        /// The load of the process.
        process_cpu_percent: Option<f64>,
        /// Threads of the process.
        process_threads: Option<i64>,
    }
}

row! {
    /// An event as a point of a curve, or a mark.
    MeasuredRow {
        /// The recorder, by number.
        recorder: i64,
        /// The series, by number.
        series: i64,
        /// When, in unix nanoseconds.
        at_ns: i64,
        /// The value.
        value: f64,
        /// What it is about.
        category: String,
        /// What was measured.
        name: String,
        /// `counter`, `gauge` or `histogram`.
        kind: String,
        /// In what.
        unit: Option<String>,
        /// What it is told apart by.
        labels: JsonText,
        /// The task.
        task_id: Option<String>,
    }
}

row! {
    /// A process and the name of a workflow in it.
    ProcessRow {
        /// Its recorder, by number.
        recorder: i64,
        /// Its number in its system.
        pid: Option<i64>,
        /// Its host.
        hostname: Option<String>,
        /// The workflow's name.
        name: Option<String>,
    }
}

row! {
    /// A thread.
    ThreadRow {
        /// Its number in the database.
        thread: i64,
        /// Its name.
        name: Option<String>,
    }
}

row! {
    /// The beginning and the end of what a workflow recorded.
    SpanOfTime {
        /// The earliest moment, in unix nanoseconds.
        first_ns: Option<i64>,
        /// The latest.
        last_ns: Option<i64>,
    }
}

const SPANS: &str = "
select t.task_id, t.parent_task_id, t.recorder, t.thread, v.activity_id, v.status, t.started_ns,
    coalesce(t.ended_ns, (select max(t.started_ns, r.interrupted_ns) from recorder r where r.key = t.recorder)),
    v.used, v.generated, v.stderr
from task t join tasks v on v.task_id = t.task_id
where t.workflow = (select key from workflow where workflow_id = ?1) and t.started_ns is not null
order by t.started_ns, t.depth, t.key";

const CURVES: &str = "
select n.key >> 32, n.taken_ns, n.cpu_percent, n.memory_used_bytes, n.process_rss_bytes, n.process_cpu_percent,
    n.process_threads
from snapshot n
where n.workflow = (select key from workflow where workflow_id = ?1) and n.taken_ns is not null
order by n.taken_ns, n.key";

/// What is no number, or not finite, has no place in a picture.
const MEASURED: &str = "
select e.recorder, e.series, e.at_ns, cast(e.value as real), s.category, s.name, s.kind, nullif(s.unit, ''), s.labels,
    e.task_id
from event e join series s on s.key = e.series
where e.workflow = (select key from workflow where workflow_id = ?1) and abs(e.value) < 9e999
order by e.at_ns, e.recorder, e.lane, e.sequence";

const PROCESSES: &str = "
select r.key, r.pid, r.hostname, w.name from workflow w
join recorder r on r.key in (
    select t.recorder from task t where t.workflow = w.key union select e.recorder from event e where e.workflow = w.key)
where w.workflow_id = ?1 order by r.key";

const THREADS: &str = "
select distinct t.thread, h.name from task t left join thread h on h.key = t.thread
where t.workflow = (select key from workflow where workflow_id = ?1) order by t.thread";

const SPAN_OF_TIME: &str = "
select min(first_ns), max(last_ns) from workflow w join (
    select workflow, min(t.started_ns) as first_ns,
        max(max(coalesce(t.ended_ns, t.started_ns), t.started_ns)) as last_ns
    from task t where t.workflow = (select key from workflow where workflow_id = ?1)
    union all
    select workflow, min(e.at_ns), max(e.at_ns) from event e
    where e.workflow = (select key from workflow where workflow_id = ?1)
) on workflow = w.key
where w.workflow_id = ?1";

const LINKS: &str = "
select d.source_task_id, d.task_id
from task t join derivations d on d.task_id = t.task_id
join task m on m.task_id = d.source_task_id and m.workflow = t.workflow and m.started_ns <= t.started_ns
where t.workflow = (select key from workflow where workflow_id = ?1)";

impl Reader {
    /// The tasks of a workflow in the order of their starts, callers before what they called.
    pub fn spans(
        &self,
        workflow_id: &str,
        each: impl FnMut(SpanRow) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.each(SPANS, workflow_id, each)
    }

    /// The readings of a workflow in the order of time.
    pub fn curves(
        &self,
        workflow_id: &str,
        each: impl FnMut(CurveRow) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.each(CURVES, workflow_id, each)
    }

    /// The events of a workflow in the order of time, but for those whose value is no finite number.
    pub fn measured(
        &self,
        workflow_id: &str,
        each: impl FnMut(MeasuredRow) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.each(MEASURED, workflow_id, each)
    }

    /// The processes that a workflow's tasks ran in.
    pub fn processes(&self, workflow_id: &str) -> Result<Vec<ProcessRow>, StoreError> {
        self.rows(PROCESSES, (workflow_id,))
    }

    /// The threads that a workflow's tasks started on.
    pub fn threads(&self, workflow_id: &str) -> Result<Vec<ThreadRow>, StoreError> {
        self.rows(THREADS, (workflow_id,))
    }

    /// When a workflow's first task or event was, and its last.
    pub fn span_of_time(&self, workflow_id: &str) -> Result<Option<SpanOfTime>, StoreError> {
        Ok(self.rows(SPAN_OF_TIME, (workflow_id,))?.into_iter().next())
    }

    /// Which task's output was used by which task of the same workflow: maker and user, each pair once.
    pub fn links(&self, workflow_id: &str) -> Result<Vec<(String, String)>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(LINKS)?;
            let pairs = statement.query_map((workflow_id,), |row| Ok((row.get(0)?, row.get(1)?)))?;
            pairs.collect::<Result<Vec<(String, String)>, _>>()
        };
        let mut links = read().map_err(|source| self.failed(source))?;
        links.sort();
        links.dedup();
        Ok(links)
    }

    fn each<T: Row>(
        &self,
        sql: &str,
        workflow_id: &str,
        mut each: impl FnMut(T) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut run = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query((workflow_id,))?;
            while let Some(row) = rows.next()? {
                if each(T::read(row)?).is_break() {
                    break;
                }
            }
            Ok(())
        };
        run().map_err(|source| self.failed(source))
    }
}
