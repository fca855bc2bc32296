//! Retention: which workflows go when a database is older, longer or larger than it may be.
//!
//! What goes is decided once, from the newest workflow to the oldest, and then deleted in small transactions, so that
//! programs which write at the same time wait for milliseconds only. An interrupted deletion leaves a workflow with
//! fewer tasks, and the next one goes on with it. What runs, and what was written by a recorder that may still live,
//! always stays.

use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use serde::Serialize;

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// How many rows one transaction deletes.
const ROWS_AT_ONCE: u32 = 1_000;

/// What may stay; a limit that is not set keeps everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Workflows that ended longer ago go.
    pub age_s_max: Option<u64>,
    /// So many workflows stay, the newest.
    pub workflows_max: Option<u64>,
    /// The oldest go until the rest fits into so many bytes.
    pub bytes_max: Option<u64>,
}

/// A workflow that goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Expired {
    /// The workflow.
    pub workflow_id: String,
    /// Its name.
    pub name: Option<String>,
    /// When it started, in unix seconds.
    pub started_at: Option<f64>,
    /// How many tasks it has.
    pub tasks: i64,
    /// How many bytes that is, by the share of its tasks and snapshots.
    pub bytes: u64,
    #[serde(skip)]
    key: i64,
}

/// What stays in a database under a retention, and what goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RetentionPlan {
    /// What goes, the newest first.
    pub expired: Vec<Expired>,
    /// How many workflows stay.
    pub kept: usize,
    /// The bytes in use before.
    pub bytes: u64,
}

impl FromStr for Retention {
    type Err = String;

    /// An age and a size, as `store.retention` has them: `90d, 10GiB`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut retention = Self::default();
        for part in text.split(',').map(str::trim) {
            match (parse_age(part), parse_size(part)) {
                (Some(age_s), _) => retention.age_s_max = Some(age_s),
                (None, Some(bytes)) => retention.bytes_max = Some(bytes),
                (None, None) => {
                    return Err(format!("{part:?} is neither an age such as 30d nor a size such as 10GiB"));
                }
            }
        }
        Ok(retention)
    }
}

/// Seconds of an age: `90s`, `30min`, `2h`, `30d`, `4w`.
///
/// ```
/// assert_eq!(telemetry_store::parse_age("2h"), Some(7200));
/// assert_eq!(telemetry_store::parse_age("2 hours"), None);
/// ```
pub fn parse_age(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 5] =
        [("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("d", 86_400.0), ("w", 604_800.0)];
    amount(text, &UNITS)
}

/// Bytes of a size: `500MB`, `10GiB`.
///
/// ```
/// assert_eq!(telemetry_store::parse_size("1.5KiB"), Some(1536));
/// ```
pub fn parse_size(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 9] = [
        ("b", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("tib", 1_099_511_627_776.0),
    ];
    amount(text, &UNITS)
}

fn amount(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (number, unit): (f64, _) = (number.parse().ok()?, unit.trim().to_ascii_lowercase());
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some((number * factor) as u64)
}

/// Every workflow with what it holds, the newest first. One that has no end and whose recorder is not known to be dead
/// may be running.
const CANDIDATES: &str = "
select w.key, w.workflow_id, w.name, coalesce(w.started_ns, 0), coalesce(w.ended_ns, r.interrupted_ns, w.started_ns, 0),
    w.status is null and r.interrupted_ns is null and r.key is not null,
    (select count(*) from task t where t.workflow = w.key), (select count(*) from snapshot n where n.workflow = w.key)
from workflow w left join recorder r on r.key = w.recorder
order by coalesce(w.started_ns, 0) desc, w.key desc";

const BYTES: &str = "
select (p.page_count - f.freelist_count) * s.page_size
from pragma_page_count p, pragma_freelist_count f, pragma_page_size s";

/// A snapshot takes as much room as so many tasks.
const TASKS_A_SNAPSHOT: i64 = 12;

struct Candidate {
    expired: Expired,
    ended_ns: i64,
    may_run: bool,
}

impl Reader {
    /// What would go under a retention, at this moment.
    pub fn plan_retention(&self, retention: &Retention, now_ns: i64) -> Result<RetentionPlan, StoreError> {
        let bytes = crate::reader::unguarded_number(self.path(), BYTES)?;
        plan(self.connection(), bytes, retention, now_ns).map_err(|source| self.failed(source))
    }
}

/// What a store that is written to still has to delete.
#[derive(Debug, Default)]
pub(crate) struct Keeping {
    retention: Option<Retention>,
    /// None until it has been looked at what goes.
    expired: Option<Vec<Expired>>,
}

impl Store {
    /// From now on, [`delete_expired`](Self::delete_expired) deletes what is too old or too much at its first call.
    pub fn keep(&mut self, retention: Retention) {
        self.keeping = Keeping { retention: Some(retention), expired: None };
    }

    /// Deletes a part of what a retention leaves, in one short transaction, the oldest first; says whether there is
    /// more of it.
    pub fn delete_expired(&mut self, now_ns: i64) -> Result<bool, StoreError> {
        let Some(retention) = self.keeping.retention else { return Ok(false) };
        let mut expired = match self.keeping.expired.take() {
            Some(expired) => expired,
            None => self.plan_retention(&retention, now_ns)?.expired,
        };
        if let Some(oldest) = expired.last()
            && !self.delete_some(oldest)?
        {
            expired.pop();
        }
        let is_more = !expired.is_empty();
        self.keeping.expired = Some(expired);
        Ok(is_more)
    }

    /// What goes under a retention, at this moment.
    pub fn plan_retention(
        &mut self,
        retention: &Retention,
        now_ns: i64,
    ) -> Result<RetentionPlan, StoreError> {
        self.write("looking for what is too old", |connection, _| {
            let bytes = connection.query_row(BYTES, (), |row| row.get::<_, i64>(0))?;
            plan(connection, bytes, retention, now_ns)
        })
    }

    /// Deletes a part of a workflow, in one short transaction; says whether there is more of it.
    pub fn delete_some(&mut self, expired: &Expired) -> Result<bool, StoreError> {
        let key = expired.key;
        self.write("deleting a workflow", |connection, memory| {
            memory.forget();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let is_more = delete(&transaction, key)?;
            transaction.commit()?;
            Ok(is_more)
        })
    }

    /// Gives the space of deleted rows back to the file system; others must not be writing.
    pub fn vacuum(&mut self) -> Result<(), StoreError> {
        self.write("vacuuming", |connection, _| connection.execute_batch("vacuum"))?;
        self.checkpoint()
    }
}

fn plan(
    connection: &Connection,
    bytes: i64,
    retention: &Retention,
    now_ns: i64,
) -> rusqlite::Result<RetentionPlan> {
    let mut statement = connection.prepare(CANDIDATES)?;
    let candidates = statement.query_map((), read)?.collect::<Result<Vec<(Candidate, i64)>, _>>()?;
    let weights: i64 = candidates.iter().map(|(_, weight)| *weight).sum::<i64>().max(1);
    let oldest_ns =
        retention.age_s_max.map(|age_s| now_ns.saturating_sub_unsigned(age_s.saturating_mul(1_000_000_000)));
    let mut plan = RetentionPlan { bytes: bytes.max(0) as u64, ..RetentionPlan::default() };
    let mut kept_bytes = 0;
    for (mut candidate, weight) in candidates {
        let share = (plan.bytes as u128 * weight as u128 / weights as u128) as u64;
        candidate.expired.bytes = share;
        let is_old = oldest_ns.is_some_and(|oldest_ns| candidate.ended_ns < oldest_ns);
        let is_beyond = retention.workflows_max.is_some_and(|max| plan.kept as u64 >= max);
        let is_too_large = retention.bytes_max.is_some_and(|max| kept_bytes + share > max);
        if !candidate.may_run && (is_old || is_beyond || is_too_large) {
            plan.expired.push(candidate.expired);
        } else {
            plan.kept += 1;
            kept_bytes += share;
        }
    }
    Ok(plan)
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<(Candidate, i64)> {
    let (started_ns, tasks, snapshots): (i64, i64, i64) = (row.get(3)?, row.get(6)?, row.get(7)?);
    let expired = Expired {
        key: row.get(0)?,
        workflow_id: row.get(1)?,
        name: row.get(2)?,
        started_at: (started_ns != 0).then_some(started_ns as f64 / 1e9),
        tasks,
        bytes: 0,
    };
    let weight = 1 + tasks + snapshots * TASKS_A_SNAPSHOT;
    Ok((Candidate { expired, ended_ns: row.get(4)?, may_run: row.get(5)? }, weight))
}

/// What hangs on the tasks of this round goes with them; the workflow itself goes last.
const OF_TASKS: &[&str] = &[
    "delete from items where owner_id in (select task_id from task where workflow = ?1 order by key limit ?2)",
    "delete from fingerprint where task_id in (select task_id from task where workflow = ?1 order by key limit ?2)",
    "delete from dependency where task_id in (select task_id from task where workflow = ?1 order by key limit ?2)",
    "delete from task where key in (select key from task where workflow = ?1 order by key limit ?2)",
];

const OF_WORKFLOW: &[&str] = &[
    "delete from items where owner_id = (select workflow_id from workflow where key = ?1)",
    "delete from step where workflow = ?1",
    "delete from session where workflow = ?1",
    "delete from left_out where workflow = ?1",
    "delete from brought_back where workflow = ?1",
    "delete from workflow where key = ?1",
];

/// The recorder of a workflow, if it is known to be gone and nothing else of it is left.
const LONELY_RECORDER: &str = "
select r.key from workflow w join recorder r on r.key = w.recorder
where w.key = ?1 and r.interrupted_ns is not null and r.pending = 0
    and not exists (select 1 from workflow o where o.recorder = r.key and o.key <> ?1)
    and not exists (select 1 from snapshot n where n.key between r.key << 32 and (r.key << 32) + 4294967295)
    and not exists (select 1 from task t where t.workflow = 0 and t.recorder = r.key)";

fn delete(connection: &Connection, workflow: i64) -> rusqlite::Result<bool> {
    let mut deleted = 0;
    for sql in OF_TASKS {
        deleted = connection.prepare_cached(sql)?.execute((workflow, ROWS_AT_ONCE))?;
    }
    if deleted > 0 {
        return Ok(true);
    }
    let snapshots = "delete from snapshot where key in (
        select key from snapshot where workflow = ?1 order by key limit ?2)";
    if connection.prepare_cached(snapshots)?.execute((workflow, ROWS_AT_ONCE))? > 0 {
        return Ok(true);
    }
    let lonely: Option<i64> =
        connection.prepare_cached(LONELY_RECORDER)?.query_row((workflow,), |row| row.get(0)).optional()?;
    for sql in OF_WORKFLOW {
        connection.prepare_cached(sql)?.execute((workflow,))?;
    }
    if let Some(recorder) = lonely {
        for sql in ["delete from gaps where recorder = ?1", "delete from recorder where key = ?1"] {
            connection.prepare_cached(sql)?.execute((recorder,))?;
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_has_an_age_a_size_or_both() {
        let both: Retention = "90d, 10GiB".parse().unwrap();
        assert_eq!((both.age_s_max, both.bytes_max), (Some(7_776_000), Some(10 << 30)));
        assert_eq!("1.5h".parse::<Retention>().unwrap().age_s_max, Some(5_400));
        assert!("30 parsecs".parse::<Retention>().is_err() && "".parse::<Retention>().is_err());
    }
}
