//! The statements that write rows. All of them may be run again with the same values.

use rusqlite::{CachedStatement, Connection};

use super::task::Steady;

/// A START, with its END if that is in the same batch, of a task as most are. Such tasks come once, so
/// the program is kept short: a row that is there already is an error, and goes through `TASK_MERGE`.
const TASK_USUAL: &str = "
insert into task (
    task_id, parent_task_id, root_task_id, activity, started_ns, ended_ns, used, generated,
    workflow, recorder, thread, depth, level, status, start_snapshot, start_age_ms, end_snapshot, end_age_ms
) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

/// The same with all columns.
const TASK_RARE: &str = "
insert into task (
    task_id, parent_task_id, root_task_id, activity, started_ns, ended_ns, used, generated,
    workflow, recorder, thread, depth, level, status, start_snapshot, start_age_ms, end_snapshot, end_age_ms,
    error_kind, updated, subtype, group_id, agent_id, source_agent_id, stdout, stderr, tags, dependencies,
    custom_metadata
) values (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
    ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29
)";

/// The same where the row is there: START has its columns, and END may have been first with its own.
const TASK_MERGE: &str = "
update task set
    parent_task_id = ?2,
    root_task_id = ?3,
    activity = ?4,
    started_ns = ?5,
    ended_ns = coalesce(max(?6, ended_ns), ?6, ended_ns),
    used = ?7,
    generated = coalesce(?8, generated),
    workflow = ?9,
    recorder = ?10,
    thread = ?11,
    depth = ?12,
    level = ?13,
    status = coalesce(max(?14, status), ?14, status),
    start_snapshot = ?15,
    start_age_ms = ?16,
    end_snapshot = coalesce(?17, end_snapshot),
    end_age_ms = coalesce(?18, end_age_ms),
    error_kind = coalesce(?19, error_kind),
    updated = coalesce(?20, updated),
    subtype = coalesce(?21, subtype),
    group_id = coalesce(?22, group_id),
    agent_id = coalesce(?23, agent_id),
    source_agent_id = coalesce(?24, source_agent_id),
    stdout = iif(?6 is null, coalesce(stdout, ?25), coalesce(?25, stdout)),
    stderr = iif(?6 is null, coalesce(stderr, ?26), coalesce(?26, stderr)),
    tags = ?27,
    dependencies = ?28,
    custom_metadata = ?29
where task_id = ?1";

/// An END whose task is there already; touches no column that has an index. A task may have two of them, `FINISHED`
/// and `ERROR`: the greater stays.
const TASK_END: &str = "
update task set
    status = coalesce(max(?2, status), ?2), error_kind = coalesce(?3, error_kind),
    ended_ns = coalesce(max(?4, ended_ns), ?4), generated = coalesce(?5, generated),
    end_snapshot = coalesce(?6, end_snapshot), end_age_ms = coalesce(?7, end_age_ms),
    updated = coalesce(?8, updated),
    subtype = coalesce(subtype, ?9),
    group_id = coalesce(group_id, ?10),
    agent_id = coalesce(agent_id, ?11),
    source_agent_id = coalesce(source_agent_id, ?12),
    stdout = coalesce(?13, stdout),
    stderr = coalesce(?14, stderr)
where task_id = ?1";

/// A task of which nothing is known but that an END or UPDATE names it.
const TASK_TOUCH: &str = "
insert into task (task_id, recorder, activity, updated) values (?1, ?2, ?3, 1)
on conflict (task_id) do update set updated = 1";

const TASK_BARE: &str = "insert or ignore into task (task_id, recorder, activity) values (?1, ?2, ?3)";

const ITEM: &str = "
insert or ignore into items (owner_id, field, ordinal, position, name, value) values (?1, ?2, ?3, ?4, ?5, ?6)";

/// A value that is named again was there from the first time it was generated, to the last time it was used.
const FINGERPRINT: &str = "
insert into fingerprint (task_id, direction, name, fingerprint, evidence, at_ns) values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict do update set at_ns = coalesce(
    iif(direction = 1, min(at_ns, excluded.at_ns), max(at_ns, excluded.at_ns)), excluded.at_ns)";

const DEPENDENCY: &str = "insert or ignore into dependency (task_id, source_task_id) values (?1, ?2)";

const SNAPSHOT: &str = "
insert or replace into snapshot (key, workflow, taken_ns, telemetry) values (?1, ?2, ?3, ?4)";

pub(super) const GAP: &str = "
insert or ignore into gaps (recorder, lane, sequence, first_ns, last_ns, count) values (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) const EVENT: &str = "
insert or ignore into event (recorder, lane, sequence, series, at_ns, value, task_id, workflow)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

pub(super) const UNREADABLE: &str = "
insert or ignore into unreadable (recorder, lane, sequence, kind, bytes) values (?1, ?2, ?3, ?4, ?5)";

pub(super) const LEFT_OUT: &str = "
insert into left_out (recorder, number, workflow, activity, count) values (?1, ?2, ?3, ?4, ?5)
on conflict (recorder, number) do update set count = max(count, excluded.count)";

pub(super) const BROUGHT_BACK: &str = "
insert or ignore into brought_back (workflow, activity, task_id) values (?1, ?2, ?3)";

/// Counters only grow, so the larger is the later; `pending`, which does not, goes with the latest of them.
/// What a recovery adds to `recovered` is what it adds to `persisted`: a repeated one adds nothing.
pub(super) const COUNTERS: &str = "
update recorder set
    recovered = recovered + iif(?11, max(?3 - persisted, 0), 0),
    pending = iif(?2 > offered or (?2 = offered and ?3 >= persisted), ?12, pending),
    offered = max(offered, ?2),
    persisted = max(persisted, ?3),
    dropped_full = max(dropped_full, ?4),
    dropped_oversize = max(dropped_oversize, ?5),
    dropped_nested = max(dropped_nested, ?6),
    dropped_stopped = max(dropped_stopped, ?7),
    torn = max(torn, ?8),
    waits = max(waits, ?9),
    spilled = max(spilled, ?10)
where key = ?1";

pub(super) const WORKFLOW_START: &str = "
update workflow set
    parent_workflow_id = ?2, parent_task_id = ?3, recorder = ?4, started_ns = ?5,
    used = ?6, custom_metadata = ?7, updated = coalesce(?8, updated),
    name = coalesce(?9, name),
    campaign_id = coalesce(?10, campaign_id),
    subtype = coalesce(?11, subtype),
    agent_id = coalesce(?12, agent_id)
where key = ?1";

/// A workflow whose recorder is set to write session files.
pub(super) const SESSION: &str = "
insert or ignore into session (workflow)
select ?1 from recorder r where r.key = ?2 and r.settings ->> '$.session.enabled' = 1";

pub(super) const WORKFLOW_END: &str = "
update workflow set
    recorder = iif(started_ns is null, ?2, recorder), status = ?3, error_kind = ?4, ended_ns = ?5,
    generated = ?6, updated = coalesce(?7, updated),
    name = coalesce(name, ?8),
    campaign_id = coalesce(campaign_id, ?9),
    subtype = coalesce(subtype, ?10),
    agent_id = coalesce(agent_id, ?11)
where key = ?1";

/// The statements that run for most records, kept at hand for one batch.
pub(super) struct Statements<'c> {
    pub(super) task_usual: CachedStatement<'c>,
    pub(super) task_rare: CachedStatement<'c>,
    pub(super) task_merge: CachedStatement<'c>,
    pub(super) task_end: CachedStatement<'c>,
    pub(super) task_touch: CachedStatement<'c>,
    pub(super) task_bare: CachedStatement<'c>,
    pub(super) item: CachedStatement<'c>,
    pub(super) fingerprint: CachedStatement<'c>,
    pub(super) dependency: CachedStatement<'c>,
    pub(super) snapshot: CachedStatement<'c>,
    /// What is bound in `task_usual`.
    pub(super) steady: Option<Steady>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            task_usual: connection.prepare_cached(TASK_USUAL)?,
            task_rare: connection.prepare_cached(TASK_RARE)?,
            task_merge: connection.prepare_cached(TASK_MERGE)?,
            task_end: connection.prepare_cached(TASK_END)?,
            task_touch: connection.prepare_cached(TASK_TOUCH)?,
            task_bare: connection.prepare_cached(TASK_BARE)?,
            item: connection.prepare_cached(ITEM)?,
            fingerprint: connection.prepare_cached(FINGERPRINT)?,
            dependency: connection.prepare_cached(DEPENDENCY)?,
            snapshot: connection.prepare_cached(SNAPSHOT)?,
            steady: None,
        })
    }
}
