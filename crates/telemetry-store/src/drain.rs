//! The drain: takes what a journal has accepted, commits it, and only then gives the space back.

use std::sync::Arc;

use telemetry_journal::{Batch, Source, failpoint};

use crate::error::StoreError;
use crate::merge::{Applied, Origin};
use crate::store::Store;

/// Moves records from one journal into one store.
pub struct Drain {
    store: Store,
    source: Arc<dyn Source>,
    origin: Origin,
    batch: Batch,
}

/// What one pass moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// Records that are committed now.
    pub records: usize,
    /// Their size in the journal.
    pub bytes: usize,
    /// Of these, the ones that this version could not read and kept as they are.
    pub unreadable: usize,
}

impl Drain {
    /// A drain for the journal of this process.
    pub fn new(store: Store, source: Arc<dyn Source>) -> Self {
        Self { store, source, origin: Origin::Live, batch: Batch::new() }
    }

    /// A drain for the journal of a process that is dead: what it moves counts as recovered.
    pub fn recovery(store: Store, source: Arc<dyn Source>) -> Self {
        Self { store, source, origin: Origin::Recovered, batch: Batch::new() }
    }

    /// Collects, commits and releases once. After an error nothing is released, and the next pass
    /// tries the same records again.
    pub fn pass(&mut self) -> Result<Pass, StoreError> {
        self.batch.clear();
        self.source.collect(&mut self.batch);
        failpoint::reach();
        let applied = self.store.apply_from(self.origin, &*self.source, &self.batch)?;
        failpoint::reach();
        self.source.release(&self.batch);
        failpoint::reach();
        Ok(Pass::of(applied))
    }

    /// Passes until the journal is empty.
    pub fn finish(&mut self) -> Result<Pass, StoreError> {
        let mut total = Pass::default();
        loop {
            let pass = self.pass()?;
            total.add(pass);
            if pass.records == 0 {
                return Ok(total);
            }
        }
    }

    /// The store that it fills.
    pub fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    /// The store, for the next journal.
    pub fn into_store(self) -> Store {
        self.store
    }
}

impl std::fmt::Debug for Drain {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Drain").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Pass {
    fn of(applied: Applied) -> Self {
        Self { records: applied.records, bytes: applied.bytes, unreadable: applied.unreadable }
    }

    fn add(&mut self, other: Self) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.unreadable += other.unreadable;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drain_may_run_on_a_thread_of_its_own() {
        fn is_send<T: Send>() {}
        is_send::<Drain>();
    }
}
