//! Recovery: brings in what processes that are gone had accepted and not committed.

use std::io::ErrorKind;
use std::path::Path;

use telemetry_journal::{
    Batch, DeadJournal, DrainLock, JournalError, Source, clock, failpoint, find_journals, put_aside,
    remove_leftovers,
};

use crate::error::StoreError;
use crate::merge::Origin;
use crate::store::Store;

/// What a recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Recovery {
    /// Journals of dead processes that are in the database now, and removed.
    pub journals: usize,
    /// Records that came out of them.
    pub records: usize,
    /// Journals of living processes, or of another host, which were left alone.
    pub left_alone: usize,
    /// What a person should know: journals that were put aside or cannot be read by this version.
    pub warnings: Vec<String>,
}

/// Brings the journals of dead processes in `folder` into the store. May be interrupted and repeated at
/// any time, and by several processes at once: the outcome is the same.
///
/// A journal that was drained from outside is left to whoever drains the folder, while there is one.
pub fn recover(store: &mut Store, folder: &Path) -> Result<Recovery, StoreError> {
    let is_drain = !DrainLock::is_held(folder);
    recover_as(store, folder, is_drain)
}

/// The same, for who is known to be the drain of the folder, or not.
pub(crate) fn recover_as(store: &mut Store, folder: &Path, is_drain: bool) -> Result<Recovery, StoreError> {
    failpoint::reach();
    let mut recovery = Recovery::default();
    let journals = match find_journals(folder) {
        Ok(journals) => journals,
        Err(error) => {
            recovery.warnings.push(error.to_string());
            return Ok(recovery);
        }
    };
    for path in journals {
        match DeadJournal::open(&path) {
            Ok(journal) if journal.is_drained_from_outside() && !is_drain => recovery.left_alone += 1,
            Ok(journal) => recovery.add(store, journal)?,
            Err(error) => recovery.refuse(&path, &error),
        }
    }
    remove_leftovers(folder);
    Ok(recovery)
}

impl Recovery {
    fn add(&mut self, store: &mut Store, journal: DeadJournal) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        journal.collect(&mut batch);
        failpoint::reach();
        store.apply_from(Origin::Recovered, &journal, &batch)?;
        store.interrupt(journal.id(), clock::unix_ms() as i64 * 1_000_000)?;
        failpoint::reach();
        journal.release(&batch);
        self.journals += 1;
        self.records += batch.len();
        let path = journal.path().to_owned();
        failpoint::reach();
        if let Err(error) = journal.remove() {
            self.warnings.push(format!("{} is recovered but cannot be removed: {error}", path.display()));
        }
        Ok(())
    }

    fn refuse(&mut self, path: &Path, error: &JournalError) {
        match error {
            JournalError::InUse { .. } | JournalError::OtherHost { .. } => self.left_alone += 1,
            // Its owner ended well, or another recovery was faster.
            JournalError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {}
            JournalError::NotAJournal { .. } => self.warnings.push(match put_aside(path) {
                Ok(aside) => format!("{error}; it is kept as {}", aside.display()),
                Err(failure) => format!("{error}; it cannot be renamed: {failure}"),
            }),
            other => self.warnings.push(other.to_string()),
        }
    }
}
