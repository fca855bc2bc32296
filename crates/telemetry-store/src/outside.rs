//! Draining from outside: writes what programs record that leave the writing to others.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use telemetry_journal::{Batch, DrainLock, OutsideJournal, Source, find_journals};

use crate::error::StoreError;
use crate::recovery::{Recovery, recover_as};
use crate::store::Store;

/// How often the folder is searched for what dead processes left.
const RECOVER_EVERY: Duration = Duration::from_secs(2);

/// The one drain of a folder.
#[derive(Debug)]
pub struct OutsideDrain {
    store: Store,
    lock: DrainLock,
    journals: Vec<OutsideJournal>,
    /// Journals that are none of our business while they are there.
    passed_over: HashSet<PathBuf>,
    batch: Batch,
    recovered_at: Option<Instant>,
}

/// What one pass moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutsidePass {
    /// Records that are committed now.
    pub records: usize,
    /// Programs whose journals were met for the first time.
    pub programs: usize,
    /// Programs that ended.
    pub ended: usize,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl OutsideDrain {
    /// The drain of a folder, for whoever holds its lock.
    pub fn new(store: Store, lock: DrainLock) -> Self {
        Self {
            store,
            lock,
            journals: Vec::new(),
            passed_over: HashSet::new(),
            batch: Batch::new(),
            recovered_at: None,
        }
    }

    /// Takes what all programs of the folder have recorded, commits it, and gives the space back; brings in
    /// what those left that are gone. After an error nothing is given back, and the next pass tries again.
    pub fn pass(&mut self) -> Result<OutsidePass, StoreError> {
        let mut pass = OutsidePass::default();
        self.meet(&mut pass);
        // To be asked before the last look: what came after it is for the recovery.
        let is_over: Vec<bool> = self.journals.iter().map(OutsideJournal::is_over).collect();
        for journal in &self.journals {
            pass.records += drain(&mut self.store, journal, &mut self.batch)?;
        }
        pass.ended = is_over.iter().filter(|is_over| **is_over).count();
        let mut is_over = is_over.into_iter();
        self.journals.retain(|_| !is_over.next().unwrap_or(false));
        let is_due = self.recovered_at.is_none_or(|at| at.elapsed() >= RECOVER_EVERY);
        if pass.ended > 0 || is_due {
            self.recover(&mut pass)?;
        }
        pass.warnings.extend(self.store.take_warnings());
        Ok(pass)
    }

    /// Opens the journals that are new.
    fn meet(&mut self, pass: &mut OutsidePass) {
        let found = match find_journals(self.lock.folder()) {
            Ok(found) => found,
            Err(error) => return pass.warnings.push(error.to_string()),
        };
        self.passed_over.retain(|path| found.contains(path));
        for path in found {
            if self.passed_over.contains(&path) || self.journals.iter().any(|journal| journal.path() == path)
            {
                continue;
            }
            match OutsideJournal::open(&path, &self.lock) {
                Ok(Some(journal)) => {
                    self.journals.push(journal);
                    pass.programs += 1;
                }
                // A recovery will say what is wrong with it, if it is of the dead.
                Ok(None) | Err(_) => {
                    self.passed_over.insert(path);
                }
            }
        }
    }

    fn recover(&mut self, pass: &mut OutsidePass) -> Result<(), StoreError> {
        self.recovered_at = Some(Instant::now());
        let Recovery { records, warnings, .. } = recover_as(&mut self.store, self.lock.folder(), true)?;
        pass.records += records;
        pass.warnings.extend(warnings);
        Ok(())
    }

    /// The programs that are drained now.
    pub fn programs(&self) -> usize {
        self.journals.len()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.lock.folder()
    }
}

fn drain(store: &mut Store, journal: &OutsideJournal, batch: &mut Batch) -> Result<usize, StoreError> {
    batch.clear();
    journal.collect(batch);
    let applied = store.apply(journal, batch)?;
    journal.release(batch);
    Ok(applied.records)
}
