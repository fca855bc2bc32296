//! Every record of some workflows, one by one.

use std::ops::ControlFlow;

use rusqlite::Row;

use super::records::{
    EventRecord, GapRecord, LeftOutRecord, MachineRecord, Record, RecorderRecord, SessionRecord, SiteRecord,
    SnapshotRecord, TaskRecord, WorkflowRecord,
};
use crate::error::StoreError;
use crate::reader::Reader;

type Make = fn(&Row<'_>) -> rusqlite::Result<Record>;

/// The kinds of records of a workflow, each before those that refer to it.
const KINDS: &[(&str, Make)] = &[
    (MACHINES, |row| MachineRecord::read(row).map(Record::Machine)),
    (RECORDERS, |row| RecorderRecord::read(row).map(Box::new).map(Record::Recorder)),
    (GAPS, |row| GapRecord::read(row).map(Record::Gap)),
    (WORKFLOW, |row| WorkflowRecord::read(row).map(Box::new).map(Record::Workflow)),
    (SITES, |row| SiteRecord::read(row).map(Record::Site)),
    (SNAPSHOTS, |row| SnapshotRecord::read(row).map(Record::Snapshot)),
    (TASKS, |row| TaskRecord::read(row).map(Box::new).map(Record::Task)),
    (LEFT_OUT, |row| LeftOutRecord::read(row).map(Record::LeftOut)),
    (EVENTS, |row| EventRecord::read(row).map(Box::new).map(Record::Event)),
    (SESSION, |row| SessionRecord::read(row).map(Record::Session)),
];

impl Reader {
    /// Hands every record of a workflow to `each`, until that has enough.
    pub fn records(
        &self,
        workflow_id: &str,
        mut each: impl FnMut(Record) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut run = || {
            for (sql, make) in KINDS {
                let mut statement = self.connection().prepare_cached(sql)?;
                let mut rows = statement.query((workflow_id,))?;
                while let Some(row) = rows.next()? {
                    if each(make(row)?).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        };
        run().map_err(|source| self.failed(source))
    }

    /// How many records of a workflow there are, tasks, snapshots and events alone.
    pub fn record_count(&self, workflow_id: &str) -> Result<u64, StoreError> {
        let count = self.connection().query_row(RECORD_COUNT, (workflow_id,), |row| row.get::<_, i64>(0));
        count.map(|count| count as u64).map_err(|source| self.failed(source))
    }
}

const RECORD_COUNT: &str = "
select (select count(*) from task t where t.workflow = w.key) + (select count(*) from snapshot n where n.workflow = w.key)
    + (select count(*) from event e where e.workflow = w.key)
from workflow w where w.workflow_id = ?1";

const MACHINES: &str = "
select m.machine_id, m.facts from machine m where m.key in (
    select r.machine from recorder r where r.key in (
        select w.recorder from workflow w where w.workflow_id = ?1
        union select t.recorder from task t join workflow w on w.key = t.workflow where w.workflow_id = ?1
        union select n.key >> 32 from snapshot n join workflow w on w.key = n.workflow where w.workflow_id = ?1
        union select e.recorder from event e join workflow w on w.key = e.workflow where w.workflow_id = ?1))
order by m.machine_id";

const RECORDERS: &str = "
select r.recorder_id, r.pid, r.user, r.hostname, r.exe, r.cmd_line, r.code_repository, r.settings, r.recorder_version,
    m.machine_id, r.machine_state, r.interrupted_ns, r.critical_tags, r.name
from recorder r left join machine m on m.key = r.machine
where r.key in (
    select w.recorder from workflow w where w.workflow_id = ?1
    union select t.recorder from task t join workflow w on w.key = t.workflow where w.workflow_id = ?1
    union select n.key >> 32 from snapshot n join workflow w on w.key = n.workflow where w.workflow_id = ?1
    union select e.recorder from event e join workflow w on w.key = e.workflow where w.workflow_id = ?1)
order by r.recorder_id";

const GAPS: &str = "
select r.recorder_id, g.lane, g.sequence, g.first_ns, g.last_ns, g.count
from workflow w join gaps g on g.recorder = w.recorder join recorder r on r.key = g.recorder
where w.workflow_id = ?1 order by g.lane, g.sequence";

const WORKFLOW: &str = "
select v.workflow_id, v.name, v.campaign_id, v.parent_workflow_id, v.parent_task_id, v.subtype, v.status,
    case w.error_kind when 1 then 'err' when 2 then 'panic' end, v.started_at, v.ended_at, v.duration_ns, w.started_ns,
    w.ended_ns, v.used, v.generated, v.custom_metadata, v.agent_id,
    (select r.recorder_id from recorder r where r.key = w.recorder)
from workflow w join workflows v on v.workflow_id = w.workflow_id
where w.workflow_id = ?1";

const SITES: &str = "
select a.activity_id, s.path, s.file, s.line
from workflow w join step p on p.workflow = w.key join activity a on a.key = p.activity
join activity_site s on s.activity = a.key
where w.workflow_id = ?1 order by a.activity_id, s.path";

const SNAPSHOTS: &str = "
select r.recorder_id, n.key & 4294967295, w.workflow_id, n.taken_ns / 1e9, n.taken_ns, n.telemetry
from workflow w join snapshot n on n.workflow = w.key join recorder r on r.key = n.key >> 32
where w.workflow_id = ?1 order by r.recorder_id, n.key";

const TASKS: &str = "
select v.task_id, v.workflow_id, v.parent_task_id, v.root_task_id, v.depth, v.activity_id, v.subtype, v.group_id,
    v.status, v.error_kind, v.stdout, v.stderr, v.started_at, v.ended_at, v.duration_ns, t.started_ns, t.ended_ns,
    v.used, v.generated, v.dependencies, v.tags, v.custom_metadata, v.agent_id, v.source_agent_id,
    (select r.recorder_id from recorder r where r.key = t.recorder), v.thread, v.level,
    t.start_snapshot & 4294967295, v.snapshot_age_start_ms, t.end_snapshot & 4294967295, v.snapshot_age_end_ms,
    (select 1 from brought_back b
        where b.workflow = t.workflow and b.activity = t.activity and b.task_id = t.task_id),
    (select json_group_array(json_object('direction', f.direction, 'name', f.name,
        'fingerprint', cast(f.fingerprint as text), 'evidence', f.evidence, 'at_ns', f.at_ns))
        from fingerprint f where f.task_id = t.task_id having count(*) > 0)
from workflow w join task t on t.workflow = w.key join tasks v on v.task_id = t.task_id
where w.workflow_id = ?1 order by t.key";

const LEFT_OUT: &str = "
select r.recorder_id, l.number, w.workflow_id, a.activity_id, l.count
from workflow w join left_out l on l.workflow = w.key join recorder r on r.key = l.recorder
left join activity a on a.key = l.activity
where w.workflow_id = ?1 order by r.recorder_id, l.number";

const EVENTS: &str = "
select r.recorder_id, e.lane, e.sequence, w.workflow_id, e.task_id, s.category, s.name, s.kind, nullif(s.unit, ''),
    s.labels, e.at_ns / 1e9, e.at_ns, e.value
from workflow w join event e on e.workflow = w.key join recorder r on r.key = e.recorder
left join series s on s.key = e.series
where w.workflow_id = ?1 order by r.recorder_id, e.lane, e.sequence";

const SESSION: &str = "
select w.workflow_id, s.folder, s.name from workflow w join session s on s.workflow = w.key where w.workflow_id = ?1";
