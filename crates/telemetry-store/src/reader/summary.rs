//! What many rows add up to: of a workflow, of its nested ones, of the whole database.

use serde::Serialize;

use super::Reader;
use super::rows::{Row, WorkflowRow, row};
use crate::error::StoreError;

row! {
    /// What a workflow's tasks come to.
    TaskCount {
        /// Tasks that have a record.
        tasks: i64,
        /// Of these, the failed ones.
        errors: i64,
        /// Of these, the ones that have ended.
        ended: i64,
    }
}

row! {
    /// What the process and the machine did between the first and the last snapshot of a workflow.
    Resources {
        /// Snapshots that were taken.
        snapshots: i64,
        /// Processor time that the process used.
        process_cpu_s: Option<f64>,
        /// The highest memory of the process that was seen.
        process_rss_peak_bytes: Option<i64>,
        /// Bytes that the process read from disks.
        process_read_bytes: Option<i64>,
        /// Bytes that the process wrote to disks.
        process_write_bytes: Option<i64>,
        /// The mean load of the machine's processors.
        machine_cpu_percent: Option<f64>,
        /// The highest memory in use on the machine that was seen.
        machine_memory_peak_bytes: Option<i64>,
    }
}

row! {
    /// What does not belong to anything.
    Orphans {
        /// Tasks that no workflow has.
        without_workflow: i64,
        /// Tasks of which only the end is known.
        without_start: i64,
        /// The latest moment that is written down, in unix nanoseconds.
        latest_ns: Option<i64>,
    }
}

impl Reader {
    /// How many tasks a workflow has.
    pub fn task_count(&self, workflow_id: &str) -> Result<TaskCount, StoreError> {
        self.only(
            "select count(*), coalesce(sum(status is 5), 0), coalesce(sum(ended_ns is not null), 0) from task
            where workflow = (select key from workflow where workflow_id = ?1)",
            workflow_id,
        )
    }

    /// How many tasks a workflow and those nested in it have.
    pub fn task_count_with_nested(&self, workflow_id: &str) -> Result<TaskCount, StoreError> {
        self.only(
            "with recursive nested (id) as (
                select ?1
                union
                select w.workflow_id from nested join workflow w on w.parent_workflow_id = nested.id
            )
            select count(*), coalesce(sum(t.status is 5), 0), coalesce(sum(t.ended_ns is not null), 0)
            from nested join workflow w on w.workflow_id = nested.id join task t on t.workflow = w.key",
            workflow_id,
        )
    }

    /// The workflows that are nested in a workflow, the first one first.
    pub fn nested(&self, workflow_id: &str) -> Result<Vec<WorkflowRow>, StoreError> {
        self.rows(
            "select * from workflows where parent_workflow_id = ?1 order by started_at, workflow_id",
            (workflow_id,),
        )
    }

    /// What the process and the machine did during a workflow.
    pub fn resources(&self, workflow_id: &str) -> Result<Resources, StoreError> {
        self.only(
            "with reading as materialized (
                select n.* from snapshot n
                where n.workflow = (select key from workflow where workflow_id = ?1)
            ),
            first as (select * from reading order by taken_ns, key limit 1),
            last as (select * from reading order by taken_ns desc, key desc limit 1)
            select (select count(*) from reading),
                iif(is_pair, last.process_cpu_s - first.process_cpu_s, null),
                (select max(process_rss_bytes) from reading),
                iif(is_pair, last.process_read_bytes - first.process_read_bytes, null),
                iif(is_pair, last.process_write_bytes - first.process_write_bytes, null),
                (select avg(cpu_percent) from reading),
                (select max(memory_used_bytes) from reading)
            from (select (select key from first) <> (select key from last)
                and (select key >> 32 from first) = (select key >> 32 from last) as is_pair)
            left join first left join last",
            workflow_id,
        )
    }

    /// The views with their columns, for whoever helps people to write queries.
    pub fn views(&self) -> Result<Vec<(String, Vec<String>)>, StoreError> {
        let read = || {
            let mut statement = self
                .connection
                .prepare("select name from sqlite_schema where type = 'view' order by name")?;
            let names: Vec<String> = statement.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?;
            let columns = |name: &String| -> rusqlite::Result<Vec<String>> {
                let statement = self.connection.prepare(&format!("select * from {name} limit 0"))?;
                Ok(statement.column_names().map(str::to_owned).collect())
            };
            names
                .into_iter()
                .map(|name| columns(&name).map(|columns| (name, columns)))
                .collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|source| self.failed(source))
    }

    /// What does not belong to anything, and when the last thing happened.
    pub fn orphans(&self) -> Result<Orphans, StoreError> {
        self.only(
            "select (select count(*) from task where workflow = 0), (select count(*) from task where activity = 0),
                (select max(coalesce(ended_ns, started_ns)) from workflow where workflow_id >= ?1)",
            "",
        )
    }

    fn only<T: Row>(&self, sql: &str, parameter: &str) -> Result<T, StoreError> {
        let found = self.rows(sql, (parameter,))?;
        found.into_iter().next().ok_or_else(|| StoreError::NotFound { wanted: parameter.to_owned() })
    }
}
