//! The only start-up code: settings → journal → sensors → drain → sampler → reload → exit hook.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use telemetry_core::id::{RecorderId, WorkflowId};
use telemetry_core::level::Level;
use telemetry_core::redaction::Redactor;
use telemetry_core::runtime::{Recording, RecordingOptions, active_recording};
use telemetry_core::settings::{DrainMode, Loaded, Lookup, OnFull, Settings};
use telemetry_journal::{
    Config, Counters, Journal, Source, Standing, failpoint, lanes_folder, process, without_size_signal,
};

use crate::drain::{DrainThread, open_store};
use crate::error::Error;
use crate::reload::{self, SettingsFile};
use crate::ticker::Ticker;
use crate::warning::{explained, warn};
use crate::{facts, fork, sampler, sensors};

/// The lanes of a journal for which there is little room.
const LANE_BYTES_SMALL: u64 = 1 << 16;
/// How long the end of the process waits for the drain.
const EXIT_WAIT: Duration = Duration::from_secs(2);

/// How often a flush looks whether a drain in another process is done.
const OUTSIDE_LOOK: Duration = Duration::from_millis(1);

/// The recorder in force; in a forked child, its parent's until the child has one.
static RUNNING: Mutex<Option<Arc<Running>>> = Mutex::new(None);

/// This process's capturing. While one is started, tasks are recorded.
///
/// Dropping the last handle stops it: what was accepted is written, for two seconds at most, and what
/// is left then is recovered by the next start in the same folder.
///
/// ```
/// # fn main() -> Result<(), telemetry::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// use telemetry::{Recorder, Settings, Task, Workflow};
///
/// let mut settings = Settings::default();
/// settings.store.path = folder.path().join("provenance.db");
/// let recorder = Recorder::start(settings)?;
/// let workflow = Workflow::start("by hand");
/// Task::start("step").used("x", 21).generated("y", 42).end();
/// workflow.end();
/// let flushed = recorder.flush(std::time::Duration::from_secs(5));
/// assert_eq!(flushed.remaining, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "recording stops when the last recorder is dropped"]
pub struct Recorder {
    running: Option<Arc<Running>>,
}

/// What a flush achieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flushed {
    /// Records that are in the database.
    pub persisted: u64,
    /// Records that are accepted and still on their way: safe from the death of the process.
    pub remaining: u64,
}

/// What a recorder is told beside its settings.
#[derive(Debug, Default)]
struct Surroundings {
    /// The file that the settings come from.
    file: Option<SettingsFile>,
    /// In a forked child, the workflow of the parent.
    inherited: Option<WorkflowId>,
}

#[derive(Debug)]
pub(crate) struct Running {
    /// The process that started it: to a forked child it is of no use.
    process: u32,
    recording: &'static Recording,
    /// What its settings come from; none where the program made them.
    file: Option<SettingsFile>,
    /// None where nobody asked for a series.
    sampler: Option<Ticker>,
    /// None where nobody asked for it.
    reload: Option<Ticker>,
    /// None where another process drains.
    drain: Option<DrainThread>,
}

impl Recorder {
    /// Starts recording with these settings. Where this process is recording already, answers another
    /// handle on that, whatever the settings say; with `instrumentation.enabled: false`, one that does
    /// nothing.
    ///
    /// `capture.reload` needs a file to watch: see [`start_with_found_settings`](Self::start_with_found_settings).
    pub fn start(settings: Settings) -> Result<Self, Error> {
        Self::start_within(settings, Surroundings::default())
    }

    fn start_within(settings: Settings, surroundings: Surroundings) -> Result<Self, Error> {
        let mut running = lock();
        if let Some(current) = current(running.as_ref()) {
            return Ok(Self { running: Some(current) });
        }
        if !settings.instrumentation.enabled {
            return Ok(Self { running: None });
        }
        let start = || without_size_signal(|| Running::start(settings, surroundings));
        let started =
            Arc::new(catch_unwind(AssertUnwindSafe(start)).unwrap_or_else(|fault| Err(failed(&*fault)))?);
        *running = Some(Arc::clone(&started));
        Ok(Self { running: Some(started) })
    }

    /// Starts recording with the settings that are found: see [`Settings::load`]. With `capture.reload`,
    /// the file that they come from is watched.
    pub fn start_with_found_settings() -> Result<Self, Error> {
        let lookup = Lookup::from_process();
        let Loaded { settings, origin, warnings, .. } = Settings::load_from(&lookup)?;
        for warning in &warnings {
            warn(warning);
        }
        let file = SettingsFile::of(&origin, lookup);
        Self::start_within(settings, Surroundings { file, inherited: None })
    }

    /// Waits until everything that was accepted before the call is in the database, or the time is over.
    pub fn flush(&self, timeout: Duration) -> Flushed {
        let Some(running) = self.running() else { return Flushed { persisted: 0, remaining: 0 } };
        match &running.drain {
            Some(drain) => drain.flush(timeout),
            None => wait_for_drain(running.recording.journal(), timeout),
        }
        let counters = running.recording.journal().counters();
        Flushed { persisted: counters.persisted, remaining: counters.pending }
    }

    /// What became of the records so far: `offered == persisted + pending + dropped + torn`.
    pub fn counters(&self) -> Counters {
        self.running().map_or_else(Counters::default, |running| running.recording.journal().counters())
    }

    /// The figures of a workflow so far, with everything that was accepted before the call, or as much of it
    /// as is written when the time is over. None where it has no task that has ended.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// use std::time::Duration;
    /// use telemetry::{Recorder, Settings, Workflow, task};
    ///
    /// #[task(metadata(device = "igpu", layer_idx = *layer))]
    /// fn attention(layer: u32) {}
    ///
    /// # let mut settings = Settings::default();
    /// # settings.store.path = folder.path().join("provenance.db");
    /// let recorder = Recorder::start(settings)?;
    /// let workflow = Workflow::start("inference");
    /// attention(0);
    /// let summary = recorder.summary(workflow.id().unwrap(), Duration::from_secs(5))?.unwrap();
    /// assert_eq!((summary.igpu_packets, summary.failed_packets), (1, 0));
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "sqlite")]
    pub fn summary(
        &self,
        workflow: WorkflowId,
        timeout: Duration,
    ) -> Result<Option<telemetry_store::SessionSummaryRow>, Error> {
        let Some(database) = self.database() else { return Ok(None) };
        self.flush(timeout);
        let reader = telemetry_store::Reader::open(&database)?;
        Ok(reader.session_summary(&workflow.to_string())?)
    }

    /// The database.
    pub fn database(&self) -> Option<PathBuf> {
        self.running().map(|running| running.recording.settings().store.path.clone())
    }

    /// Stops recording: tasks that start from now on are not recorded. Writes what was accepted, for as
    /// long as `timeout`.
    pub fn stop(self, timeout: Duration) -> Flushed {
        let Some(running) = self.running() else { return Flushed { persisted: 0, remaining: 0 } };
        *lock() = None;
        running.stop(timeout);
        self.flush(Duration::ZERO)
    }

    /// What this is a handle on; in a forked child, the child's own recorder.
    fn running(&self) -> Option<Arc<Running>> {
        let running = self.running.as_ref()?;
        if running.is_of_this_process() { Some(Arc::clone(running)) } else { current(lock().as_ref()) }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let Some(handle) = self.running.take() else { return };
        let mut running = lock();
        // One is ours and one is the one in RUNNING: nobody else has a handle.
        if Arc::strong_count(&handle) == 2
            && current(running.as_ref()).is_some_and(|current| Arc::ptr_eq(&current, &handle))
        {
            *running = None;
            drop(running);
            // This may be part of the host's unwinding.
            let _ = catch_unwind(AssertUnwindSafe(|| handle.stop(EXIT_WAIT)));
        }
    }
}

impl Running {
    /// What it records.
    pub(crate) fn recording(&self) -> &'static Recording {
        self.recording
    }

    fn start(mut settings: Settings, surroundings: Surroundings) -> Result<Self, Error> {
        let Surroundings { file, inherited } = surroundings;
        make_absolute(&mut settings);
        let redactor = Redactor::new(&settings.redaction)?;
        let folder = journal_folder(&settings);
        let store = match settings.journal.drain {
            DrainMode::External => None,
            _ => Some(open_store(&settings)?),
        };
        failpoint::reach();
        let journal = create_journal(&folder, &settings)?;
        failpoint::reach();
        let started = Self::install(journal, settings, redactor, inherited).and_then(|recording| {
            let settings = recording.settings();
            let drain = store.map(|store| DrainThread::start(store, journal, folder, settings)).transpose();
            let drain = drain.inspect_err(|_| recording.remove())?;
            failpoint::reach();
            let process = std::process::id();
            let (sampler, reload) = (sampler::start(recording), reload::start(recording, file.clone()));
            Ok(Self { process, recording, file, sampler, reload, drain })
        });
        // A journal that nobody will drain must not be filled, nor stay behind.
        started.inspect(|_| hook_once()).inspect_err(|_| {
            journal.close();
        })
    }

    fn install(
        journal: &'static Journal,
        settings: Settings,
        redactor: Option<Redactor>,
        inherited: Option<WorkflowId>,
    ) -> Result<&'static Recording, Error> {
        let options = RecordingOptions {
            journal,
            process: facts::process(&settings),
            sensor: sensors::sensor(&settings),
            settings,
            parent: facts::parent(),
            redactor,
            inherited,
        };
        Ok(Recording::install(options)?)
    }

    fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Ends the series, the watch, the recording and the drain.
    fn stop(&self, timeout: Duration) {
        for ticker in [&self.sampler, &self.reload].into_iter().flatten() {
            ticker.stop(timeout);
        }
        failpoint::reach();
        self.recording.end_open_workflows();
        failpoint::reach();
        self.recording.remove();
        if let Some(drain) = &self.drain {
            drain.stop(timeout);
        }
    }
}

/// Starts recording for a function with `#[workflow]`, unless this process is recording. Never fails:
/// where the settings are wrong it warns and records at `lightweight`, never more than they may have
/// meant to allow; where nothing can be recorded it warns, and the program runs on.
pub(crate) fn start_automatically() {
    /// The process that tried: a forked child tries for itself, and nobody tries twice.
    static TRIED_IN: AtomicU32 = AtomicU32::new(0);

    let process = std::process::id();
    if current(lock().as_ref()).is_some() || TRIED_IN.swap(process, Ordering::Relaxed) == process {
        return;
    }
    match catch_unwind(start_as_far_as_settings_allow).unwrap_or_else(|fault| Err(failed(&*fault))) {
        // The recorder lives until the process ends.
        Ok(recorder) => std::mem::forget(recorder),
        Err(error) => warn(&format!("nothing is recorded: {}", explained(&error))),
    }
}

fn start_as_far_as_settings_allow() -> Result<Recorder, Error> {
    match Recorder::start_with_found_settings() {
        Err(Error::Settings(error)) => {
            warn(&format!("{error}\nrecording at level lightweight until this is mended"));
            Recorder::start(lightweight())
        }
        started => started,
    }
}

/// What is known of a panic of ours; what it left in force is not.
fn failed(fault: &(dyn Any + Send)) -> Error {
    if let Some(recording) = active_recording() {
        recording.remove();
    }
    let text = fault.downcast_ref::<&str>().copied().map(str::to_owned);
    Error::Fault(text.or_else(|| fault.downcast_ref::<String>().cloned()).unwrap_or_default())
}

/// In a forked child of a process that records: starts a recorder with the settings of the parent.
pub(crate) fn restart_in_child() {
    let Some(parents) = lock().clone() else { return };
    let recording = parents.recording;
    let surroundings =
        Surroundings { file: parents.file.clone(), inherited: recording.workflow_to_inherit() };
    match Recorder::start_within(recording.settings().clone(), surroundings) {
        // The recorder lives until the process ends.
        Ok(recorder) => std::mem::forget(recorder),
        Err(error) => warn(&format!("nothing is recorded after a fork: {}", explained(&error))),
    }
}

fn lightweight() -> Settings {
    let mut settings = Settings::default();
    settings.capture.default_level = Level::Lightweight;
    // The modes of models and loops would record more.
    let model = &mut settings.instrumentation.model;
    (model.what, model.epoch_loop, model.batch_loop) = (None, None, None);
    settings
}

/// Makes the journal, with smaller lanes where there is no room for those that the settings ask for, and in memory
/// where there is room for none.
fn create_journal(folder: &Path, settings: &Settings) -> Result<&'static Journal, Error> {
    let config = journal_config(settings);
    let folder = &*lanes_folder(folder)?;
    let standing = Standing {
        name: settings.journal.name.as_deref(),
        is_drained_from_outside: settings.journal.drain == DrainMode::External,
    };
    let small = Config { lane_bytes: LANE_BYTES_SMALL.min(config.lane_bytes), ..config };
    let error = match Journal::create_as(folder, config, standing) {
        Err(error) if error.is_no_room() => error,
        made => return Ok(made?),
    };
    match Journal::create_as(folder, small, standing) {
        Err(error) if error.is_no_room() && !standing.is_drained_from_outside => {
            warn(&format!("{error}: recording in memory, which does not survive the process"));
            Ok(Journal::in_memory(small))
        }
        made => {
            let journal = made?;
            warn(&format!("{error}: recording with lanes of {} bytes", small.lane_bytes));
            Ok(journal)
        }
    }
}

fn journal_config(settings: &Settings) -> Config {
    let journal = &settings.journal;
    Config {
        id: RecorderId::generate().as_u128(),
        lane_bytes: journal.lane_bytes,
        lanes_max: journal.lanes_max,
        on_full: match journal.on_full {
            OnFull::Degrade => telemetry_journal::OnFull::Degrade,
            OnFull::Drop => telemetry_journal::OnFull::Drop,
            _ => telemetry_journal::OnFull::Wait,
        },
        wait_max: Duration::from_millis(journal.wait_ms_max),
    }
}

/// Waits until another process has drained the journal, or the time is over.
fn wait_for_drain(journal: &Journal, timeout: Duration) {
    let begun = Instant::now();
    while journal.counters().pending > 0 {
        let left = timeout.saturating_sub(begun.elapsed());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(OUTSIDE_LOOK));
    }
}

/// A relative path would name another file once the program changes its folder.
fn make_absolute(settings: &mut Settings) {
    let paths = [
        Some(&mut settings.store.path),
        settings.journal.dir.as_mut(),
        Some(&mut settings.session.output_dir),
    ];
    for path in paths.into_iter().flatten() {
        if let Ok(absolute) = std::path::absolute(&*path) {
            *path = absolute;
        }
    }
}

fn journal_folder(settings: &Settings) -> PathBuf {
    let beside_store = || settings.store.path.parent().unwrap_or(Path::new(".")).join("journal");
    settings.journal.dir.clone().unwrap_or_else(beside_store)
}

/// Hooks into the end of the process and into its forks, once a process.
fn hook_once() {
    static HOOKED: std::sync::Once = std::sync::Once::new();
    HOOKED.call_once(|| {
        let exit = process::at_exit(at_exit);
        if let Err(error) = exit.and(fork::hook()) {
            warn(&format!("cannot hook into the process: {error}"));
        }
    });
}

extern "C" fn at_exit() {
    // A panic must not leave this function: it would end the host with another exit code.
    let _ = catch_unwind(|| {
        failpoint::reach();
        let running = lock().take();
        if let Some(running) = running.filter(|running| running.is_of_this_process()) {
            running.stop(EXIT_WAIT);
        }
    });
}

fn lock() -> MutexGuard<'static, Option<Arc<Running>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds on to the recorder in force for a fork; none while another thread starts or stops one.
pub(crate) fn hold_for_fork() -> Option<MutexGuard<'static, Option<Arc<Running>>>> {
    fork::try_lock(&RUNNING)
}

fn current(running: Option<&Arc<Running>>) -> Option<Arc<Running>> {
    running.filter(|running| running.is_of_this_process()).cloned()
}
