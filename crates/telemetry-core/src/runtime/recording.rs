//! The recording that is in force in this process: where records go and what is known of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use telemetry_journal::{Journal, Name};

use super::ids::CoarseClock;
use super::local::Local;
use super::policy::Policy;
use super::snapshots::Snapshots;
use crate::encoder::keep_caught_panics_quiet;
use crate::id::{TaskId, WorkflowId};
use crate::record::{ActivityName, NameKind, ProcessName, SeriesName, ThreadName};
use crate::redaction::Redactor;
use crate::sensor::Sensor;
use crate::settings;

/// With more names than this, labels of events are not told apart any more, so that activities find room.
const LABELLED_NAMES_MAX: usize = 1 << 15;

/// The generation of the policy in force; 0 when nothing records.
static ACTIVE: AtomicU32 = AtomicU32::new(0);
static GENERATIONS: AtomicU32 = AtomicU32::new(0);
static CURRENT: Mutex<Option<&'static Policy>> = Mutex::new(None);
/// What [`ACTIVE`] says in a forked child of a process that records, until its first task.
const FORKED: u32 = u32::MAX;
/// Starts a recording in a forked child.
static RESTART: OnceLock<fn()> = OnceLock::new();

/// The generation of the policy in force; 0 when nothing records. One relaxed load.
#[inline]
pub(super) fn active_generation() -> u32 {
    ACTIVE.load(Ordering::Relaxed)
}

/// Whether anything records. One relaxed load.
#[inline]
pub fn is_recording() -> bool {
    active_generation() != 0
}

/// The recording in force.
pub fn active_recording() -> Option<&'static Recording> {
    active_policy().map(Policy::recording)
}

/// A number that no recording and no policy has had.
pub(super) fn next_generation() -> u32 {
    GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1
}

/// The policy in force.
pub(super) fn active_policy() -> Option<&'static Policy> {
    match active_generation() {
        0 => None,
        FORKED => restart(),
        _ => *lock(&CURRENT),
    }
}

/// In a forked child: starts a recording of its own. One thread does it; until it is done, the tasks of
/// others are not recorded.
#[cold]
fn restart() -> Option<&'static Policy> {
    ACTIVE.compare_exchange(FORKED, 0, Ordering::AcqRel, Ordering::Relaxed).ok()?;
    RESTART.get()?();
    lock(&CURRENT).filter(|policy| policy.generation() == active_generation())
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
    /// In a forked child, the workflow that the parent was in: that of tasks which have no other.
    pub inherited: Option<WorkflowId>,
    /// Hides what is secret; none where redaction is switched off.
    pub redactor: Option<Redactor>,
}

/// The workflow and the task of another process that started this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessParent {
    /// Its workflow.
    pub workflow: Option<WorkflowId>,
    /// Its task.
    pub task: Option<TaskId>,
    /// Whether sampling left that task out, and so what is below it.
    pub is_left_out: bool,
}

/// A recording: one journal and what is captured into it. Lives as long as the process, since threads
/// hold on to it.
#[derive(Debug)]
pub struct Recording {
    generation: u32,
    journal: &'static Journal,
    clock: CoarseClock,
    settings: settings::Settings,
    snapshots: Option<Snapshots>,
    names: Mutex<HashMap<String, u32>>,
    workflows: Mutex<Vec<u128>>,
    /// Orders what is added to running tasks; one for all of them, since a task may be added to from
    /// several threads and its handles are copies.
    updates: AtomicU32,
    parent: Option<ProcessParent>,
    inherited: u128,
    /// Lives as long as the recording.
    redactor: Option<&'static Redactor>,
    /// Held while tasks that were left out are written after all.
    bringing_back: Mutex<()>,
}

impl Recording {
    /// Makes this the recording in force; an error where another one is.
    pub fn install(options: RecordingOptions) -> Result<&'static Self, AlreadyRecording> {
        let mut current = lock(&CURRENT);
        // In a forked child there is a current one that is not in force: its parent's.
        if current.is_some() && ![0, FORKED].contains(&active_generation()) {
            return Err(AlreadyRecording);
        }
        keep_caught_panics_quiet();
        let recording = Self::new(options);
        let policy = Policy::new(recording, &recording.settings.capture);
        *current = Some(policy);
        ACTIVE.store(policy.generation(), Ordering::Release);
        Ok(recording)
    }

    /// Captures by other settings from now on: the default level, rules, limits and sampling. Tasks that
    /// are open end as they began. Nothing if the recording is over.
    ///
    /// The settings before stay in memory, since tasks that are open may need them.
    pub fn reload(&'static self, capture: &settings::Capture) {
        let mut current = lock(&CURRENT);
        if [0, FORKED].contains(&active_generation())
            || !current.is_some_and(|policy| self.is(policy.recording()))
        {
            return;
        }
        let policy = Policy::new(self, capture);
        *current = Some(policy);
        ACTIVE.store(policy.generation(), Ordering::Release);
    }

    fn is(&self, other: &Self) -> bool {
        self.generation == other.generation
    }

    fn new(options: RecordingOptions) -> &'static Self {
        let redactor = options.redactor.map(|redactor| &*Box::leak(Box::new(redactor)));
        let process = match redactor {
            Some(redactor) => redactor.process(options.process),
            None => options.process,
        };
        let max_age_ms = options.settings.telemetry_capture.max_age_ms;
        let recording = Self {
            generation: next_generation(),
            journal: options.journal,
            clock: CoarseClock::new(options.journal.first_point()),
            snapshots: options.sensor.map(|sensor| Snapshots::new(sensor, max_age_ms)),
            settings: options.settings,
            names: Mutex::new(HashMap::new()),
            workflows: Mutex::new(Vec::new()),
            updates: AtomicU32::new(0),
            parent: options.parent,
            inherited: options.inherited.map_or(0, WorkflowId::as_u128),
            redactor,
            bringing_back: Mutex::new(()),
        };
        recording.add_name(NameKind::Process, &process);
        Box::leak(Box::new(recording))
    }

    /// Ends the recording: tasks that start from now on are not recorded. The calling thread gives its
    /// lane back.
    pub fn remove(&self) {
        let mut current = lock(&CURRENT);
        if current.is_some_and(|policy| self.is(policy.recording())) {
            ACTIVE.store(0, Ordering::Release);
            *current = None;
        }
        drop(current);
        if let Some(snapshots) = &self.snapshots {
            snapshots.close();
        }
        Local::with(Local::detach);
    }

    /// Holds on to what says which recording is in force, so that a fork finds it in order; none while
    /// another thread does. To be kept by the thread that forks, and dropped on both sides.
    pub fn hold_for_fork() -> Option<HeldForFork> {
        CURRENT.try_lock().ok().map(|current| HeldForFork { _current: current })
    }

    /// In a forked child: forgets the recording, which is the parent's, without touching it. The first
    /// task of the child calls `restart`, if there is one, to install another; without one the child records
    /// nothing until somebody does. Only stores to atomics and cells, as a child after a fork must.
    pub fn forget_after_fork(restart: Option<fn()>) {
        if active_generation() != 0 {
            let next = restart.map_or(0, |restart| {
                RESTART.get_or_init(|| restart);
                FORKED
            });
            ACTIVE.store(next, Ordering::Release);
        }
        Local::with(Local::forget);
    }

    /// The workflow that a forked child inherits; none while another thread opens or closes one.
    pub fn workflow_to_inherit(&self) -> Option<WorkflowId> {
        let open = self.workflows.try_lock().ok()?.first().copied();
        open.or((self.inherited != 0).then_some(self.inherited)).map(WorkflowId::from_u128)
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

    /// The settings that it was started with.
    pub fn settings(&self) -> &settings::Settings {
        &self.settings
    }

    /// Hides what is secret; none where redaction is switched off.
    #[inline]
    pub fn redactor(&self) -> Option<&'static Redactor> {
        self.redactor
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
    pub(super) fn snapshots(&self) -> Option<&Snapshots> {
        self.snapshots.as_ref()
    }

    /// The number of an activity in the name table.
    pub(super) fn activity(&self, name: &ActivityName) -> Option<u32> {
        self.add_name(NameKind::Activity, name)
    }

    /// The number of a series of events in the name table; none where the table has no room for more labels.
    pub(super) fn series(&self, name: &SeriesName) -> Option<u32> {
        if !name.labels.is_empty() && lock(&self.names).len() >= LABELLED_NAMES_MAX {
            return None;
        }
        self.series_at_any_rate(name)
    }

    /// The same, as long as the name table has room for anything.
    pub(super) fn series_at_any_rate(&self, name: &SeriesName) -> Option<u32> {
        self.add_name(NameKind::Series, name)
    }

    /// The number of the calling thread in the name table. Threads without a name are told apart by
    /// their lane, so that a million short-lived ones need no million names.
    pub(super) fn thread(&self, lane: Option<u32>) -> u32 {
        let thread = std::thread::current();
        let name = match (thread.name(), lane) {
            (Some(name), _) => self.without_secrets(name).into_owned(),
            (None, Some(lane)) => format!("thread-{lane}"),
            (None, None) => "thread-shared".to_owned(),
        };
        self.add_name(NameKind::Thread, &ThreadName { name }).unwrap_or(u32::MAX)
    }

    pub(super) fn without_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactor.map_or(Cow::Borrowed(text), |redactor| redactor.text(text))
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

    pub(super) fn bringing_back(&self) -> &Mutex<()> {
        &self.bringing_back
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
        lock(&self.workflows).first().copied().unwrap_or(self.inherited)
    }

    /// The workflows that are open now, oldest first.
    pub(super) fn open_workflows(&self) -> Vec<WorkflowId> {
        lock(&self.workflows).iter().map(|id| WorkflowId::from_u128(*id)).collect()
    }
}

/// While this lives, no thread starts or ends a recording.
#[derive(Debug)]
pub struct HeldForFork {
    _current: MutexGuard<'static, Option<&'static Policy>>,
}

/// There is a recording in force already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this process is recording already")]
pub struct AlreadyRecording;

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
