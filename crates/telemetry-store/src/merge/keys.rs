//! The keys of the rows that tasks point to: looked up or made once, then remembered.
//!
//! Only the recorder that was drained last is remembered; a drain reads one journal for long.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Params};
use serde::de::DeserializeOwned;
use telemetry_core::id::WorkflowId;
use telemetry_core::record::{ActivityName, NameKind, ProcessName, ThreadName};
use telemetry_journal::Source;

use super::event::series_key;
use super::object::KnownName;
use super::slots::IdHasherBuilder;
use crate::id_text::IdText;

/// A recorder with more distinct names than this pays for looking them up again.
const REMEMBERED_MAX: usize = 65_536;

/// An activity as records refer to it.
#[derive(Debug)]
pub(super) struct Activity {
    pub(super) key: i64,
    /// The names that items refer to by index.
    pub(super) keys: Vec<KnownName>,
}

#[derive(Debug, Default)]
pub(super) struct Keys {
    recorder: Option<(u128, i64)>,
    has_process: bool,
    activities: HashMap<u32, Arc<Activity>, IdHasherBuilder>,
    threads: HashMap<u32, i64, IdHasherBuilder>,
    workflows: HashMap<WorkflowId, i64, IdHasherBuilder>,
    series: HashMap<u32, i64, IdHasherBuilder>,
    measured: HashSet<(i64, i64), IdHasherBuilder>,
    steps: HashSet<(i64, i64), IdHasherBuilder>,
}

impl Keys {
    pub(super) fn recorder(&mut self, connection: &Connection, source: &dyn Source) -> rusqlite::Result<i64> {
        let id = source.id();
        let key = match self.recorder {
            Some((known, key)) if known == id => key,
            _ => {
                *self = Self::default();
                let key = key_of(
                    connection,
                    "select key from recorder where recorder_id = ?1",
                    "insert into recorder (recorder_id) values (?1)",
                    (IdText::new(id),),
                )?;
                connection.execute("update recorder set pid = ?2 where key = ?1", (key, source.pid()))?;
                self.recorder = Some((id, key));
                key
            }
        };
        if !self.has_process {
            self.has_process = write_process(connection, source, key)?;
        }
        Ok(key)
    }

    /// The activity with this number; none where the journal does not name it.
    pub(super) fn activity(
        &mut self,
        connection: &Connection,
        source: &dyn Source,
        number: u32,
    ) -> rusqlite::Result<Option<Arc<Activity>>> {
        if let Some(activity) = self.activities.get(&number) {
            return Ok(Some(Arc::clone(activity)));
        }
        let Some(name) = read_name::<ActivityName>(source, number, NameKind::Activity) else {
            return Ok(None);
        };
        let key = key_of(
            connection,
            "select key from activity where activity_id = ?1",
            "insert into activity (activity_id) values (?1)",
            (&name.activity_id,),
        )?;
        connection.execute(
            "insert or ignore into activity_site (activity, path, file, line) values (?1, ?2, ?3, ?4)",
            (key, &name.path, &name.file, name.line),
        )?;
        let keys = name.keys.iter().map(|key| KnownName::new(key)).collect();
        let activity = Arc::new(Activity { key, keys });
        limit(self.activities.len(), || self.activities.clear());
        self.activities.insert(number, Arc::clone(&activity));
        Ok(Some(activity))
    }

    pub(super) fn thread(
        &mut self,
        connection: &Connection,
        source: &dyn Source,
        number: u32,
    ) -> rusqlite::Result<i64> {
        if let Some(&key) = self.threads.get(&number) {
            return Ok(key);
        }
        let Some(name) = read_name::<ThreadName>(source, number, NameKind::Thread) else { return Ok(0) };
        let key = key_of(
            connection,
            "select key from thread where name = ?1",
            "insert into thread (name) values (?1)",
            (&name.name,),
        )?;
        limit(self.threads.len(), || self.threads.clear());
        self.threads.insert(number, key);
        Ok(key)
    }

    pub(super) fn series(
        &mut self,
        connection: &Connection,
        source: &dyn Source,
        number: u32,
    ) -> rusqlite::Result<i64> {
        if let Some(&key) = self.series.get(&number) {
            return Ok(key);
        }
        let key = series_key(connection, source, number)?;
        limit(self.series.len(), || self.series.clear());
        self.series.insert(number, key);
        Ok(key)
    }

    pub(super) fn workflow(&mut self, connection: &Connection, id: WorkflowId) -> rusqlite::Result<i64> {
        if let Some(&key) = self.workflows.get(&id) {
            return Ok(key);
        }
        let key = key_of(
            connection,
            "select key from workflow where workflow_id = ?1",
            "insert into workflow (workflow_id) values (?1)",
            (IdText::new(id.as_u128()),),
        )?;
        limit(self.workflows.len(), || self.workflows.clear());
        self.workflows.insert(id, key);
        Ok(key)
    }

    /// Notes that the workflow has events of the series.
    pub(super) fn measured(
        &mut self,
        connection: &Connection,
        workflow: i64,
        series: i64,
    ) -> rusqlite::Result<()> {
        if self.measured.contains(&(workflow, series)) {
            return Ok(());
        }
        let mut statement =
            connection.prepare_cached("insert or ignore into measured (workflow, series) values (?1, ?2)")?;
        statement.execute((workflow, series))?;
        limit(self.measured.len(), || self.measured.clear());
        self.measured.insert((workflow, series));
        Ok(())
    }

    /// Notes that the workflow has tasks of the activity.
    pub(super) fn step(
        &mut self,
        connection: &Connection,
        workflow: i64,
        activity: i64,
    ) -> rusqlite::Result<()> {
        if self.steps.contains(&(workflow, activity)) {
            return Ok(());
        }
        let mut statement =
            connection.prepare_cached("insert or ignore into step (workflow, activity) values (?1, ?2)")?;
        statement.execute((workflow, activity))?;
        limit(self.steps.len(), || self.steps.clear());
        self.steps.insert((workflow, activity));
        Ok(())
    }
}

fn limit(length: usize, clear: impl FnOnce()) {
    if length >= REMEMBERED_MAX {
        clear();
    }
}

pub(super) fn key_of(
    connection: &Connection,
    find: &str,
    make: &str,
    name: impl Params + Clone,
) -> rusqlite::Result<i64> {
    let found = connection.prepare_cached(find)?.query_row(name.clone(), |row| row.get(0)).optional()?;
    match found {
        Some(key) => Ok(key),
        None => connection.prepare_cached(make)?.insert(name),
    }
}

pub(super) fn read_name<T: DeserializeOwned>(source: &dyn Source, number: u32, kind: NameKind) -> Option<T> {
    let name = source.name(number).filter(|name| name.kind == kind.code())?;
    serde_json::from_slice(&name.bytes).ok()
}

/// Writes down what is known of the process; says whether anything was.
fn write_process(connection: &Connection, source: &dyn Source, recorder: i64) -> rusqlite::Result<bool> {
    let Some(process) = read_name::<ProcessName>(source, 0, NameKind::Process) else { return Ok(false) };
    let machine = write_machine(connection, &process)?;
    let cmd_line =
        (!process.cmd_line.is_empty()).then(|| serde_json::Value::from(process.cmd_line).to_string());
    connection.execute(
        "update recorder set user = ?2, hostname = ?3, exe = ?4, cmd_line = ?5, code_repository = ?6, settings = ?7,
            recorder_version = ?8, machine = ?9, machine_state = ?10, critical_tags = ?11, name = ?12 where key = ?1",
        (
            recorder,
            &process.user,
            &process.hostname,
            &process.exe,
            cmd_line,
            json_text(&process.code_repository),
            json_text(&process.settings),
            &process.recorder_version,
            machine,
            json_text(&process.machine_state),
            critical_tags(&process.settings),
            &process.name,
        ),
    )?;
    Ok(true)
}

fn write_machine(connection: &Connection, process: &ProcessName) -> rusqlite::Result<Option<i64>> {
    let Some(facts) = json_text(&process.machine) else { return Ok(None) };
    let machine_id = format!("{:032x}", content_hash(facts.as_bytes()));
    let find = "select key from machine where machine_id = ?1";
    if let Some(key) = connection.query_row(find, (&machine_id,), |row| row.get(0)).optional()? {
        return Ok(Some(key));
    }
    connection.execute("insert into machine (machine_id, facts) values (?1, ?2)", (&machine_id, &facts))?;
    Ok(Some(connection.last_insert_rowid()))
}

/// The thresholds of critical tags, where there are any.
fn critical_tags(settings: &serde_json::Value) -> Option<String> {
    let tags = settings.pointer("/capture/critical_tags")?.as_object()?;
    (!tags.is_empty()).then(|| serde_json::Value::from(tags.clone()).to_string())
}

fn json_text(value: &serde_json::Value) -> Option<String> {
    (!value.is_null()).then(|| value.to_string())
}

/// FNV-1a with 128 bits: the same machine has the same id in every store.
fn content_hash(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, &byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B)
    })
}
