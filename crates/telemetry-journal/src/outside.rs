//! Draining the journal of another process, which does nothing but fill it.
//!
//! Exactly one process does so at a time: whoever holds the lock of the folder. The marks lie in the journal,
//! so that the next one goes on where the last one was, and what was written twice in between is merged.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use crate::batch::Batch;
use crate::bell::lock;
use crate::blocks::{Access, Blocks};
use crate::clock::{Calibration, Clock};
use crate::error::JournalError;
use crate::journal::resolve_spills;
use crate::source::{Counters, Name, Source};
use crate::spill;
use crate::tally::TalliesAt;

/// The file whose lock the drain of a folder holds.
const LOCK_FILE: &str = "drain.lock";
/// What one pass takes out of a lane at the most.
const COLLECT_WORDS_MAX: usize = 1 << 20;

/// The right to drain the journals of a folder from outside; ends with the process at the latest.
#[derive(Debug)]
pub struct DrainLock {
    folder: PathBuf,
    _file: File,
}

impl DrainLock {
    /// Takes the lock; none while another process has it.
    pub fn try_take(folder: &Path) -> Result<Option<Self>, JournalError> {
        let path = folder.join(LOCK_FILE);
        let take = || {
            crate::file::create_folder(folder)?;
            let mut file = open_lock(&path, true)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Only a courtesy for those who wait.
            let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            Ok(Some(Self { folder: folder.to_owned(), _file: file }))
        };
        take().map_err(JournalError::io(&path))
    }

    /// Whether another process, or another part of this one, drains the folder.
    pub fn is_held(folder: &Path) -> bool {
        let file = open_lock(&folder.join(LOCK_FILE), false);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The process that has the lock, as far as it said so.
    pub fn holder(folder: &Path) -> Option<u32> {
        let mut text = String::new();
        let mut file = open_lock(&folder.join(LOCK_FILE), false).ok()?;
        file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
        text.trim().parse().ok()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn open_lock(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(create).create(create).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(path)
}

/// The journal of a running process that leaves the draining to others.
#[derive(Debug)]
pub struct OutsideJournal {
    blocks: Mutex<Blocks>,
    calibration: Mutex<Calibration>,
    id: u128,
    pid: u32,
    path: PathBuf,
}

impl OutsideJournal {
    /// Opens the journal of a running process, if it is to be drained from outside; none if it is not, or its
    /// process is gone. Whoever calls it holds the lock of the folder.
    pub fn open(path: &Path, _lock: &DrainLock) -> Result<Option<Self>, JournalError> {
        let blocks = Blocks::open(path, Access::Drain)?;
        if !blocks.header.is_drained_from_outside
            || !blocks.header.owner.is_on_this_host()
            || blocks.is_over()
        {
            return Ok(None);
        }
        Ok(Some(Self {
            calibration: Mutex::new(Calibration::adopt(blocks.clock().points().to_vec())),
            id: blocks.header.id,
            pid: blocks.header.owner.pid,
            path: path.to_owned(),
            blocks: Mutex::new(blocks),
        }))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its process is gone: what is left then is for a recovery.
    pub fn is_over(&self) -> bool {
        self.blocks().is_over()
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        lock(&self.blocks)
    }

    fn count(&self, batch: Option<&Batch>) -> Counters {
        let mut sum = Counters::default();
        for (index, ring) in self.blocks().rings() {
            let mark = batch.and_then(|batch| batch.marks.iter().rfind(|mark| mark.lane == index));
            ring.count(&mut sum, mark);
        }
        sum
    }
}

impl Source for OutsideJournal {
    fn id(&self) -> u128 {
        self.id
    }

    fn pid(&self) -> u32 {
        self.pid
    }

    fn name(&self, number: u32) -> Option<Name> {
        let mut blocks = self.blocks();
        if blocks.name(number).is_none() {
            // What cannot be read now is tried again with the next record that needs it.
            let _ = blocks.refresh();
        }
        blocks.name(number).cloned()
    }

    fn clock(&self) -> Clock {
        let mut calibration = lock(&self.calibration);
        if calibration.look() {
            self.blocks().write_points(calibration.points());
        }
        Clock::new(calibration.points().to_vec())
    }

    fn collect(&self, batch: &mut Batch) {
        let mut blocks = self.blocks();
        let _ = blocks.refresh();
        for (index, ring) in blocks.rings() {
            ring.collect(index, batch, COLLECT_WORDS_MAX);
        }
        for (index, words) in blocks.tallies.iter().enumerate() {
            TalliesAt(words).collect(index as u32, &mut batch.taken);
        }
        batch.push_taken();
        resolve_spills(batch, Some(&self.path));
    }

    fn release(&self, batch: &Batch) {
        let blocks = self.blocks();
        for mark in &batch.marks {
            if let Some(ring) = blocks.ring(mark.lane as usize) {
                ring.release(*mark);
            }
        }
        for taken in &batch.taken {
            if let Some(words) = blocks.tallies.get(taken.lane as usize) {
                TalliesAt(words).release(taken);
            }
        }
        batch.spills.iter().for_each(|number| spill::remove(&self.path, *number));
    }

    fn counters(&self) -> Counters {
        self.count(None)
    }

    fn counters_after(&self, batch: &Batch) -> Counters {
        self.count(Some(batch))
    }
}
