//! The recording that is in force in this process: where records go and what is captured.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use telemetry_journal::{Journal, Name};

use super::callsite::{NO_ACTIVITY, Site};
use super::ids::CoarseClock;
use super::local::Local;
use super::snapshots::Snapshots;
use crate::encoder::Limits;
use crate::glob::matches;
use crate::id::{TaskId, WorkflowId};
use crate::level::Level;
use crate::record::{ActivityName, NameKind, ProcessName, ThreadName};
use crate::sensor::Sensor;
use crate::settings;

/// The generation of the recording in force; 0 when nothing records.
static ACTIVE: AtomicU32 = AtomicU32::new(0);
static GENERATIONS: AtomicU32 = AtomicU32::new(0);
static CURRENT: Mutex<Option<&'static Recording>> = Mutex::new(None);

/// The generation of the recording in force; 0 when nothing records. One relaxed load.
#[inline]
pub(super) fn active_generation() -> u32 {
    ACTIVE.load(Ordering::Relaxed)
}

/// The recording in force.
pub fn active_recording() -> Option<&'static Recording> {
    match active_generation() {
        0 => None,
        _ => *lock(&CURRENT),
    }
}

/// What a recording is made of.
pub struct RecordingOptions {
    /// Where records go.
    pub journal: &'static Journal,
    /// What the name table says about the process.
    pub process: ProcessName,
    /// What is captured.
    pub settings: settings::Settings,
    /// Takes the snapshots; none when they are switched off.
    pub sensor: Option<Box<dyn Sensor>>,
    /// Who started this process, if a recorded task did.
    pub parent: Option<ProcessParent>,
}

/// The workflow and the task of another process that started this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessParent {
    /// Its workflow.
    pub workflow: Option<WorkflowId>,
    /// Its task.
    pub task: Option<TaskId>,
}

/// A recording: one journal and what is captured into it. Lives as long as the process, since threads
/// hold on to it.
#[derive(Debug)]
pub struct Recording {
    generation: u32,
    journal: &'static Journal,
    clock: CoarseClock,
    settings: settings::Settings,
    limits: Limits,
    snapshots: Option<Snapshots>,
    names: Mutex<HashMap<String, u32>>,
    workflows: Mutex<Vec<u128>>,
    /// Orders what is added to running tasks; one for all of them, since a task may be added to from
    /// several threads and its handles are copies.
    updates: AtomicU32,
    parent: Option<ProcessParent>,
}

impl Recording {
    /// Makes this the recording in force; an error where another one is.
    pub fn install(options: RecordingOptions) -> Result<&'static Self, AlreadyRecording> {
        let mut current = lock(&CURRENT);
        // In a forked child there is a current one that is not in force: its parent's.
        if current.is_some() && active_generation() != 0 {
            return Err(AlreadyRecording);
        }
        let recording = Self::new(options);
        *current = Some(recording);
        ACTIVE.store(recording.generation, Ordering::Release);
        Ok(recording)
    }

    fn new(options: RecordingOptions) -> &'static Self {
        let capture = &options.settings.capture;
        let limits = Limits {
            value_bytes_max: capture.value_bytes_max,
            record_bytes_max: capture.record_bytes_max,
            depth_max: capture.depth_max,
            items_max: capture.items_max,
            values: true,
        };
        let max_age_ms = options.settings.telemetry_capture.max_age_ms;
        let recording = Self {
            generation: GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1,
            journal: options.journal,
            clock: CoarseClock::new(options.journal.first_point()),
            limits,
            snapshots: options.sensor.map(|sensor| Snapshots::new(sensor, max_age_ms)),
            settings: options.settings,
            names: Mutex::new(HashMap::new()),
            workflows: Mutex::new(Vec::new()),
            updates: AtomicU32::new(0),
            parent: options.parent,
        };
        recording.add_name(NameKind::Process, &options.process);
        Box::leak(Box::new(recording))
    }

    /// Ends the recording: tasks that start from now on are not recorded. The calling thread gives its
    /// lane back.
    pub fn remove(&self) {
        let mut current = lock(&CURRENT);
        if current.is_some_and(|current| current.generation == self.generation) {
            ACTIVE.store(0, Ordering::Release);
            *current = None;
        }
        drop(current);
        if let Some(snapshots) = &self.snapshots {
            snapshots.close();
        }
        Local::with(Local::detach);
    }

    /// Forgets every recording without touching it: in a forked child, to which its parent's journal
    /// does not belong. Only stores to atomics, as a child after a fork must.
    pub fn forget_after_fork() {
        ACTIVE.store(0, Ordering::Release);
    }

    /// Records a snapshot now, however young the latest is; nothing when snapshots are switched off or
    /// another thread is taking one. It belongs to the oldest open workflow.
    ///
    /// Goes through the shared lane where the calling thread has none of its own: a thread that only
    /// takes snapshots claims none.
    pub fn sample(&self) {
        if let Some(snapshots) = &self.snapshots {
            Local::with(|local| snapshots.take(local, self, self.open_workflows().first().copied()));
        }
    }

    /// Whether snapshots are taken at all.
    pub fn has_snapshots(&self) -> bool {
        self.snapshots.is_some()
    }

    /// Where records go.
    pub fn journal(&self) -> &'static Journal {
        self.journal
    }

    /// The settings in force.
    pub fn settings(&self) -> &settings::Settings {
        &self.settings
    }

    #[inline]
    pub(super) fn generation(&self) -> u32 {
        self.generation
    }

    #[inline]
    pub(super) fn clock(&self) -> CoarseClock {
        self.clock
    }

    #[inline]
    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    #[inline]
    pub(super) fn snapshots(&self) -> Option<&Snapshots> {
        self.snapshots.as_ref()
    }

    /// How much an activity captures: a matching rule, else what the code says, else the default.
    pub(super) fn level_of(&self, path: &str, in_code: Option<Level>) -> Level {
        let capture = &self.settings.capture;
        let rule = capture.rules.iter().find(|rule| matches(&rule.activity, path));
        rule.and_then(|rule| rule.level).or(in_code).unwrap_or(capture.default_level)
    }

    /// The site of a task that is started by hand.
    pub(super) fn site_by_name(&self, activity_id: &str) -> Site {
        let level = self.level_of(activity_id, None);
        let name = || ActivityName {
            activity_id: activity_id.to_owned(),
            path: activity_id.to_owned(),
            ..ActivityName::default()
        };
        let activity = match level {
            Level::Off => NO_ACTIVITY,
            _ => self.activity(&name()).unwrap_or(NO_ACTIVITY),
        };
        Site { activity, level }
    }

    /// The number of an activity in the name table.
    pub(super) fn activity(&self, name: &ActivityName) -> Option<u32> {
        self.add_name(NameKind::Activity, name)
    }

    /// The number of the calling thread in the name table. Threads without a name are told apart by
    /// their lane, so that a million short-lived ones need no million names.
    pub(super) fn thread(&self, lane: Option<u32>) -> u32 {
        let thread = std::thread::current();
        let name = match (thread.name(), lane) {
            (Some(name), _) => name.to_owned(),
            (None, Some(lane)) => format!("thread-{lane}"),
            (None, None) => "thread-shared".to_owned(),
        };
        self.add_name(NameKind::Thread, &ThreadName { name }).unwrap_or(u32::MAX)
    }

    /// The number of this entry in the name table; adds it where it is new.
    fn add_name(&self, kind: NameKind, entry: &impl Serialize) -> Option<u32> {
        let text = serde_json::to_string(entry).ok()?;
        let mut names = lock(&self.names);
        if let Some(number) = names.get(&text) {
            return Some(*number);
        }
        let number = self.journal.add_name(Name { kind: kind.code(), bytes: text.clone().into_bytes() })?;
        names.insert(text, number);
        Some(number)
    }

    /// The place of the next update among all of them: for one key of a task, the highest wins.
    pub(super) fn next_update(&self) -> u32 {
        self.updates.fetch_add(1, Ordering::Relaxed)
    }

    /// Who started this process, if a recorded task did.
    pub(super) fn parent(&self) -> Option<ProcessParent> {
        self.parent
    }

    pub(super) fn open_workflow(&self, workflow: WorkflowId) {
        lock(&self.workflows).push(workflow.as_u128());
    }

    pub(super) fn close_workflow(&self, workflow: WorkflowId) {
        lock(&self.workflows).retain(|open| *open != workflow.as_u128());
    }

    /// The oldest open workflow: that of a task on a thread which has none of its own. Zero for none.
    pub(super) fn oldest_workflow(&self) -> u128 {
        lock(&self.workflows).first().copied().unwrap_or(0)
    }

    /// The workflows that are open now, oldest first.
    pub(super) fn open_workflows(&self) -> Vec<WorkflowId> {
        lock(&self.workflows).iter().map(|id| WorkflowId::from_u128(*id)).collect()
    }
}

/// There is a recording in force already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this process is recording already")]
pub struct AlreadyRecording;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
