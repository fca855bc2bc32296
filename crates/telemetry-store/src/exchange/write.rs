//! Records from elsewhere, merged by id.

mod event;

use rusqlite::{Connection, OptionalExtension, Params, TransactionBehavior};
use telemetry_core::level::Level;
use telemetry_core::status::{ErrorKind, Status};

use super::records::{
    FingerprintRecord, GapRecord, LeftOutRecord, MachineRecord, Record, RecorderRecord, SiteRecord,
    SnapshotRecord, TaskRecord, WorkflowRecord,
};
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// Merges records in one transaction. Any number of imports of the same records gives the same views.
    pub fn import(&mut self, records: &[Record]) -> Result<(), StoreError> {
        self.write("importing records", |connection, memory| {
            memory.forget();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            records.iter().try_for_each(|record| write(&transaction, record))?;
            transaction.commit()
        })
    }
}

fn write(connection: &Connection, record: &Record) -> rusqlite::Result<()> {
    match record {
        Record::Machine(record) => machine(connection, record),
        Record::Recorder(record) => recorder(connection, record),
        Record::Gap(record) => gap(connection, record),
        Record::Workflow(record) => workflow(connection, record),
        Record::Site(record) => site(connection, record),
        Record::Task(record) => task(connection, record),
        Record::Snapshot(record) => snapshot(connection, record),
        Record::LeftOut(record) => left_out(connection, record),
        Record::Event(record) => event::event(connection, record),
        Record::Session(record) => event::session(connection, record),
    }
}

fn machine(connection: &Connection, record: &MachineRecord) -> rusqlite::Result<()> {
    run(
        connection,
        "insert into machine (machine_id, facts) values (?1, coalesce(?2, '{}')) on conflict do nothing",
        (&record.machine_id, &record.facts),
    )
}

fn recorder(connection: &Connection, record: &RecorderRecord) -> rusqlite::Result<()> {
    let machine = match &record.machine_id {
        Some(id) => key(connection, "select key from machine where machine_id = ?1", id)?,
        None => None,
    };
    run(
        connection,
        "insert into recorder (recorder_id, pid, user, hostname, exe, cmd_line, code_repository, settings,
            recorder_version, machine, machine_state, interrupted_ns, critical_tags, name)
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
        on conflict (recorder_id) do update set
            pid = coalesce(pid, excluded.pid), user = coalesce(user, excluded.user),
            hostname = coalesce(hostname, excluded.hostname), exe = coalesce(exe, excluded.exe),
            cmd_line = coalesce(cmd_line, excluded.cmd_line),
            code_repository = coalesce(code_repository, excluded.code_repository),
            settings = coalesce(settings, excluded.settings),
            recorder_version = coalesce(recorder_version, excluded.recorder_version),
            machine = coalesce(machine, excluded.machine),
            machine_state = coalesce(machine_state, excluded.machine_state),
            interrupted_ns = coalesce(min(interrupted_ns, excluded.interrupted_ns), interrupted_ns,
                excluded.interrupted_ns),
            critical_tags = coalesce(critical_tags, excluded.critical_tags), name = coalesce(name, excluded.name)",
        rusqlite::params![
            record.recorder_id,
            record.pid,
            record.user,
            record.hostname,
            record.exe,
            record.cmd_line,
            record.code_repository,
            record.settings,
            record.recorder_version,
            machine,
            record.machine_state,
            record.interrupted_ns,
            record.critical_tags,
            record.name,
        ],
    )
}

fn gap(connection: &Connection, record: &GapRecord) -> rusqlite::Result<()> {
    let recorder = recorder_key(connection, Some(&record.recorder_id))?;
    run(
        connection,
        "insert into gaps (recorder, lane, sequence, first_ns, last_ns, count) values (?1, ?2, ?3, ?4, ?5, ?6)
        on conflict do nothing",
        (recorder, record.lane, record.sequence, record.first_ns, record.last_ns, record.count),
    )
}

/// What is open here and has ended there is taken over; everything else only fills what is missing.
fn workflow(connection: &Connection, record: &WorkflowRecord) -> rusqlite::Result<()> {
    let status = ended_status(record.status.as_deref());
    let id = &record.workflow_id;
    take_over(connection, "select status is null from workflow where workflow_id = ?1", id, status)?;
    let recorder = recorder_key(connection, record.recorder_id.as_ref())?;
    run(
        connection,
        "insert into workflow (workflow_id, parent_workflow_id, parent_task_id, recorder, status, error_kind, started_ns,
            ended_ns, name, campaign_id, subtype, agent_id, used, generated, custom_metadata)
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
        on conflict (workflow_id) do update set
            parent_workflow_id = coalesce(parent_workflow_id, excluded.parent_workflow_id),
            parent_task_id = coalesce(parent_task_id, excluded.parent_task_id),
            recorder = iif(recorder = 0, excluded.recorder, recorder), status = coalesce(status, excluded.status),
            error_kind = coalesce(error_kind, excluded.error_kind),
            started_ns = coalesce(started_ns, excluded.started_ns), ended_ns = coalesce(ended_ns, excluded.ended_ns),
            name = coalesce(name, excluded.name), campaign_id = coalesce(campaign_id, excluded.campaign_id),
            subtype = coalesce(subtype, excluded.subtype), agent_id = coalesce(agent_id, excluded.agent_id),
            used = coalesce(used, excluded.used), generated = coalesce(generated, excluded.generated),
            custom_metadata = coalesce(custom_metadata, excluded.custom_metadata)",
        rusqlite::params![
            id,
            record.parent_workflow_id,
            record.parent_task_id,
            recorder,
            status,
            error_code(record.error_kind.as_deref()),
            record.started_ns,
            record.ended_ns,
            record.name,
            record.campaign_id,
            record.subtype,
            record.agent_id,
            record.used,
            record.generated,
            record.custom_metadata,
        ],
    )
}

/// Takes away what an open row says and a later, complete one says better.
fn take_over(connection: &Connection, is_open: &str, id: &str, status: Option<u8>) -> rusqlite::Result<()> {
    let is_open = key(connection, is_open, id)? == Some(1);
    if !is_open || status.is_none() {
        return Ok(());
    }
    run(connection, "delete from items where owner_id = ?1", (id,))?;
    run(
        connection,
        "update workflow set updated = null, used = null, generated = null, custom_metadata = null
        where workflow_id = ?1",
        (id,),
    )?;
    run(
        connection,
        "update task set updated = null, used = null, generated = null, custom_metadata = null, tags = null,
            dependencies = null, subtype = null, group_id = null, stdout = null, stderr = null, agent_id = null,
            source_agent_id = null
        where task_id = ?1",
        (id,),
    )
}

fn site(connection: &Connection, record: &SiteRecord) -> rusqlite::Result<()> {
    let activity = activity_key(connection, Some(&record.activity_id))?;
    run(
        connection,
        "insert into activity_site (activity, path, file, line) values (?1, ?2, ?3, ?4) on conflict do nothing",
        (activity, &record.path, &record.file, record.line),
    )
}

fn task(connection: &Connection, record: &TaskRecord) -> rusqlite::Result<()> {
    let workflow = workflow_key(connection, record.workflow_id.as_ref())?;
    let activity = activity_key(connection, record.activity_id.as_ref())?;
    task_row(connection, record, workflow, activity)?;
    if workflow != 0 && activity != 0 {
        step(connection, workflow, activity)?;
        if record.was_left_out == Some(true) {
            run(
                connection,
                "insert into brought_back (workflow, activity, task_id) values (?1, ?2, ?3) on conflict do nothing",
                (workflow, activity, &record.task_id),
            )?;
        }
    }
    if let Some(dependencies) = &record.dependencies {
        run(
            connection,
            "insert into dependency (task_id, source_task_id) select ?1, d.value from json_each(?2) d where true
            on conflict do nothing",
            (&record.task_id, dependencies),
        )?;
    }
    fingerprints(connection, record)
}

fn task_row(
    connection: &Connection,
    record: &TaskRecord,
    workflow: i64,
    activity: i64,
) -> rusqlite::Result<()> {
    let status = ended_status(record.status.as_deref());
    let id = &record.task_id;
    take_over(connection, "select status is null from task where task_id = ?1", id, status)?;
    let recorder = recorder_key(connection, record.recorder_id.as_ref())?;
    let snapshot = |number: Option<i64>| number.map(|number| recorder << 32 | number);
    // As the drain writes it: only where it is neither the task itself nor its parent.
    let root = record.root_task_id.as_ref();
    let root = root.filter(|root| *root != id && Some(*root) != record.parent_task_id.as_ref());
    run(
        connection,
        TASK,
        rusqlite::params![
            id,
            record.parent_task_id,
            root,
            workflow,
            activity,
            recorder,
            thread_key(connection, record.thread.as_ref())?,
            record.depth,
            record.level.as_deref().and_then(Level::from_word).map(Level::code),
            status,
            error_code(record.error_kind.as_deref()),
            record.started_ns,
            record.ended_ns,
            record.used,
            record.generated,
            snapshot(record.start_snapshot),
            record.snapshot_age_start_ms,
            snapshot(record.end_snapshot),
            record.snapshot_age_end_ms,
            record.subtype,
            record.group_id,
            record.agent_id,
            record.source_agent_id,
            record.stdout,
            record.stderr,
            record.tags,
            record.dependencies,
            record.custom_metadata,
        ],
    )
}

const TASK: &str = "
insert into task (task_id, parent_task_id, root_task_id, workflow, activity, recorder, thread, depth, level, status,
    error_kind, started_ns, ended_ns, used, generated, start_snapshot, start_age_ms, end_snapshot, end_age_ms, subtype,
    group_id, agent_id, source_agent_id, stdout, stderr, tags, dependencies, custom_metadata)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
    ?25, ?26, ?27, ?28)
on conflict (task_id) do update set
    parent_task_id = coalesce(parent_task_id, excluded.parent_task_id),
    root_task_id = coalesce(root_task_id, excluded.root_task_id),
    workflow = iif(workflow = 0, excluded.workflow, workflow),
    activity = iif(activity = 0, excluded.activity, activity),
    recorder = iif(recorder = 0, excluded.recorder, recorder),
    thread = iif(thread = 0, excluded.thread, thread),
    depth = coalesce(depth, excluded.depth),
    level = coalesce(level, excluded.level),
    status = coalesce(status, excluded.status),
    error_kind = coalesce(error_kind, excluded.error_kind),
    started_ns = coalesce(started_ns, excluded.started_ns),
    ended_ns = coalesce(ended_ns, excluded.ended_ns),
    used = coalesce(used, excluded.used),
    generated = coalesce(generated, excluded.generated),
    start_snapshot = coalesce(start_snapshot, excluded.start_snapshot),
    start_age_ms = coalesce(start_age_ms, excluded.start_age_ms),
    end_snapshot = coalesce(end_snapshot, excluded.end_snapshot),
    end_age_ms = coalesce(end_age_ms, excluded.end_age_ms),
    subtype = coalesce(subtype, excluded.subtype),
    group_id = coalesce(group_id, excluded.group_id),
    agent_id = coalesce(agent_id, excluded.agent_id),
    source_agent_id = coalesce(source_agent_id, excluded.source_agent_id),
    stdout = coalesce(stdout, excluded.stdout),
    stderr = coalesce(stderr, excluded.stderr),
    tags = coalesce(tags, excluded.tags),
    dependencies = coalesce(dependencies, excluded.dependencies),
    custom_metadata = coalesce(custom_metadata, excluded.custom_metadata)";

fn fingerprints(connection: &Connection, record: &TaskRecord) -> rusqlite::Result<()> {
    let Some(list) = &record.fingerprints else { return Ok(()) };
    let list: Vec<FingerprintRecord> = serde_json::from_str(list.as_str())
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    for fingerprint in list {
        let value: i64 = fingerprint
            .fingerprint
            .parse()
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        run(
            connection,
            "insert into fingerprint (task_id, direction, name, fingerprint, evidence, at_ns)
            values (?1, ?2, ?3, ?4, ?5, ?6) on conflict do nothing",
            (
                &record.task_id,
                fingerprint.direction,
                fingerprint.name,
                value,
                fingerprint.evidence,
                fingerprint.at_ns,
            ),
        )?;
    }
    Ok(())
}

fn snapshot(connection: &Connection, record: &SnapshotRecord) -> rusqlite::Result<()> {
    let recorder = recorder_key(connection, Some(&record.recorder_id))?;
    let workflow = workflow_key(connection, record.workflow_id.as_ref())?;
    run(
        connection,
        "insert into snapshot (key, workflow, taken_ns, telemetry) values (?1, ?2, ?3, ?4) on conflict do nothing",
        (recorder << 32 | record.number & 0xFFFF_FFFF, workflow, record.taken_ns, &record.telemetry),
    )
}

fn left_out(connection: &Connection, record: &LeftOutRecord) -> rusqlite::Result<()> {
    let recorder = recorder_key(connection, Some(&record.recorder_id))?;
    let workflow = workflow_key(connection, record.workflow_id.as_ref())?;
    let activity = activity_key(connection, record.activity_id.as_ref())?;
    if workflow != 0 && activity != 0 {
        step(connection, workflow, activity)?;
    }
    run(
        connection,
        "insert into left_out (recorder, number, workflow, activity, count) values (?1, ?2, ?3, ?4, ?5)
        on conflict do update set count = max(count, excluded.count)",
        (recorder, record.number, workflow, activity, record.count),
    )
}

fn step(connection: &Connection, workflow: i64, activity: i64) -> rusqlite::Result<()> {
    let sql = "insert into step (workflow, activity) values (?1, ?2) on conflict do nothing";
    run(connection, sql, (workflow, activity))
}

fn run(connection: &Connection, sql: &str, parameters: impl Params) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute(parameters).map(drop)
}

fn key(connection: &Connection, sql: &str, id: &str) -> rusqlite::Result<Option<i64>> {
    connection.prepare_cached(sql)?.query_row((id,), |row| row.get(0)).optional()
}

/// The number of the row with this id, made where it is missing; 0 without an id.
fn key_or_new(connection: &Connection, id: Option<&String>, find: &str, make: &str) -> rusqlite::Result<i64> {
    let Some(id) = id else { return Ok(0) };
    if let Some(key) = key(connection, find, id)? {
        return Ok(key);
    }
    run(connection, make, (id,))?;
    Ok(connection.last_insert_rowid())
}

fn recorder_key(connection: &Connection, id: Option<&String>) -> rusqlite::Result<i64> {
    key_or_new(
        connection,
        id,
        "select key from recorder where recorder_id = ?1",
        "insert into recorder (recorder_id) values (?1)",
    )
}

fn workflow_key(connection: &Connection, id: Option<&String>) -> rusqlite::Result<i64> {
    key_or_new(
        connection,
        id,
        "select key from workflow where workflow_id = ?1",
        "insert into workflow (workflow_id) values (?1)",
    )
}

fn activity_key(connection: &Connection, id: Option<&String>) -> rusqlite::Result<i64> {
    key_or_new(
        connection,
        id,
        "select key from activity where activity_id = ?1",
        "insert into activity (activity_id) values (?1)",
    )
}

fn thread_key(connection: &Connection, name: Option<&String>) -> rusqlite::Result<i64> {
    key_or_new(
        connection,
        name,
        "select key from thread where name = ?1",
        "insert into thread (name) values (?1)",
    )
}

/// As its END says; what runs, and what was interrupted, has none.
fn ended_status(word: Option<&str>) -> Option<u8> {
    let status = word.and_then(Status::from_word)?;
    let is_ended = !matches!(status, Status::Running | Status::Interrupted);
    is_ended.then_some(status.code())
}

fn error_code(word: Option<&str>) -> Option<u8> {
    word.and_then(ErrorKind::from_word).map(ErrorKind::code)
}
