//! A recorder with default settings over a database in a temporary folder.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use telemetry::{Recorder, Settings, Workflow};
use tempfile::TempDir;

use crate::cores;

const TIMEOUT: Duration = Duration::from_mins(1);

/// A recorder, a workflow that the calling thread is within, and the folder that both write to.
pub(crate) struct Recording {
    workflow: Workflow,
    recorder: Recorder,
    folder: TempDir,
}

impl Recording {
    /// The caller on one core, the threads of the recorder on another.
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        cores::apart(Self::start_anywhere)
    }

    /// Threads run where the system puts them.
    pub(crate) fn start_anywhere() -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let mut settings = Settings::default();
        settings.store.path = folder.path().join("provenance.db");
        let recorder = Recorder::start(settings)?;
        let workflow = Workflow::start("bench");
        Ok(Self { workflow, recorder, folder })
    }

    /// Waits until all records are in the database, and sees to it that none was dropped.
    pub(crate) fn flush(&self) {
        let flushed = self.recorder.flush(TIMEOUT);
        let counters = self.recorder.counters();
        assert_eq!((flushed.remaining, counters.dropped), (0, [0; 4]), "records were lost or are late");
    }

    /// Ends all; the folder stays until it is dropped.
    pub(crate) fn stop(self) -> TempDir {
        self.workflow.end();
        let flushed = self.recorder.stop(TIMEOUT);
        assert_eq!(flushed.remaining, 0, "records are late");
        self.folder
    }

    pub(crate) fn counters(&self) -> telemetry::Counters {
        self.recorder.counters()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("provenance.db")
    }
}
