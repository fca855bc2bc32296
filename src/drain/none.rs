//! In a build without SQLite, another process drains.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use telemetry_core::settings::Settings;
use telemetry_journal::Journal;

use crate::error::Error;

/// There is no such thread in this build.
#[derive(Debug)]
pub(crate) struct DrainThread(Infallible);

/// There is no such database in this build.
pub(crate) type Store = Infallible;

pub(crate) fn open_store(_: &Settings) -> Result<Store, Error> {
    Err(Error::NoSqlite)
}

impl DrainThread {
    pub(crate) fn start(
        store: Store,
        _: &'static Journal,
        _: PathBuf,
        _: &'static Settings,
    ) -> Result<Self, Error> {
        match store {}
    }

    pub(crate) fn flush(&self, _: Duration) {
        match self.0 {}
    }

    pub(crate) fn stop(&self, _: Duration) {
        match self.0 {}
    }
}
