//! A live journal: this process fills it and, by its own thread or another process, drains it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::backing::Backing;
use crate::batch::Batch;
use crate::bell::{lock, try_lock};
use crate::clock::{Calibration, Clock, Point};
use crate::error::JournalError;
use crate::failpoint;
use crate::file;
use crate::frame::SPILL_KIND;
use crate::header::{self, Header};
use crate::lane::{Outgoing, Ring};
use crate::layout::{self, Block, BlockKind, HEADER_WORDS, PAGE_WORDS};
use crate::memory;
use crate::names::{NAME_BYTES_MAX, entry_words, write_entry};
use crate::process::Owner;
use crate::producer::{Common, Lane, OnFull};
use crate::source::{Counters, DropReason, Name, Source};
use crate::spill::{self, Spill};

/// The pages of an ordinary block of names.
const NAMES_PAGES: usize = 16;
/// What one pass of the drain takes out of a lane at the most.
const COLLECT_WORDS_MAX: usize = 1 << 20;
/// How many names there may be; more distinct ones share the last activity's fate of having no name.
const NAMES_MAX: usize = 1 << 16;

/// How a journal is laid out and what it does when it is full.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The id of the journal.
    pub id: u128,
    /// The bytes of a lane's ring; rounded up to a power of two of at least 4 KiB.
    pub lane_bytes: u64,
    /// How many threads have a lane of their own; the others share one.
    pub lanes_max: u32,
    /// What happens to a record when its lane is full.
    pub on_full: OnFull,
    /// How long [`OnFull::Wait`] waits.
    pub wait_max: Duration,
}

/// What sets a journal apart from others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing<'a> {
    /// What the name of its file begins with; characters that do not suit one are left out.
    pub name: Option<&'a str>,
    /// Whether another process drains it.
    pub is_drained_from_outside: bool,
}

/// A journal that this process fills.
#[derive(Debug)]
pub struct Journal {
    header: Header,
    words: &'static [AtomicU64],
    backing: Option<Backing>,
    common: &'static Common,
    lanes_max: usize,
    blocks: Mutex<Blocks>,
    names: Mutex<Names>,
    calibration: Mutex<Calibration>,
    shared: Mutex<Option<&'static Lane>>,
    /// Records that were refused when there was no lane to count them in, by [`DropReason`].
    refused: [AtomicU64; DropReason::ALL.len()],
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct Blocks {
    next_page: usize,
    lanes: Vec<&'static Lane>,
}

#[derive(Debug)]
struct Names {
    entries: Vec<Name>,
    free: &'static [AtomicU64],
}

impl Journal {
    /// Makes a journal in this folder, with one lane ready. Lives as long as the process.
    pub fn create(folder: &Path, config: Config) -> Result<&'static Self, JournalError> {
        Self::create_as(folder, config, Standing::default())
    }

    /// The same for a journal that is not as most are.
    pub fn create_as(
        folder: &Path,
        config: Config,
        standing: Standing<'_>,
    ) -> Result<&'static Self, JournalError> {
        file::create_folder(folder).map_err(JournalError::io(folder))?;
        let (file, unnamed) = file::create_unnamed(folder, config.id).map_err(JournalError::io(folder))?;
        let path = file::named(folder, standing.name, config.id);
        let made = Self::create_in(file, path.clone(), config, standing)
            .and_then(|journal| fs::rename(&unnamed, &path).map(|()| journal))
            .map_err(JournalError::io(&path));
        if made.is_err() {
            let _ = fs::remove_file(&unnamed);
        }
        made
    }

    fn create_in(
        file: File,
        path: PathBuf,
        config: Config,
        standing: Standing<'_>,
    ) -> std::io::Result<&'static Self> {
        memory::allocate(&file, 0, HEADER_WORDS as u64 * 8)?;
        let words = memory::map(&file, 0, HEADER_WORDS)?;
        let journal = Self::over(words, Some(Backing::new(file, path)?), config, standing);
        lock(&journal.calibration).guess();
        header::write_points(words, lock(&journal.calibration).points());
        journal.add_lane(&mut lock(&journal.blocks), false)?;
        Ok(journal)
    }

    /// A journal on the heap, which does not survive the process: for tests and for recording into
    /// memory.
    pub fn in_memory(config: Config) -> &'static Self {
        let journal = Self::over(memory::heap(HEADER_WORDS), None, config, Standing::default());
        lock(&journal.calibration).guess();
        header::write_points(journal.words, lock(&journal.calibration).points());
        journal
    }

    fn over(
        words: &'static [AtomicU64],
        backing: Option<Backing>,
        config: Config,
        standing: Standing<'_>,
    ) -> &'static Self {
        let ring_words = (config.lane_bytes.clamp(4096, 1 << 30) as usize / 8).next_power_of_two();
        let calibration = Calibration::new();
        let header = Header {
            id: config.id,
            owner: Owner::current(),
            ring_words,
            slack_words: layout::slack_words(ring_words),
            created_unix_ns: calibration.anchor_unix_ns(),
            is_drained_from_outside: standing.is_drained_from_outside,
        };
        header.write(words);
        let path = backing.as_ref().map(|backing| backing.path().to_owned());
        let common = Box::leak(Box::new(Common::new(
            config.on_full,
            config.wait_max,
            path,
            standing.is_drained_from_outside,
        )));
        Box::leak(Box::new(Self {
            header,
            words,
            backing,
            common,
            lanes_max: config.lanes_max.max(1) as usize,
            blocks: Mutex::new(Blocks { next_page: HEADER_WORDS / PAGE_WORDS, lanes: Vec::new() }),
            names: Mutex::new(Names { entries: Vec::new(), free: &[] }),
            calibration: Mutex::new(calibration),
            shared: Mutex::new(None),
            refused: Default::default(),
            is_closed: AtomicBool::new(false),
        }))
    }

    /// In a forked child: closes the child's copy of the file, so that the lock on it is the parent's alone
    /// and the journal can be recovered when the parent dies. Of the child's mappings nothing may be
    /// used any more.
    pub fn forget_after_fork(&self) {
        if let Some(backing) = &self.backing {
            backing.close_after_fork();
        }
    }

    /// The file, unless the journal is in memory.
    pub fn path(&self) -> Option<&Path> {
        self.backing.as_ref().map(Backing::path)
    }

    /// Whether the file is still where others look for it; one in memory has nowhere to be. A journal that
    /// was deleted works on, but does not survive the process any more.
    pub fn is_findable(&self) -> bool {
        self.backing.as_ref().is_none_or(Backing::is_findable)
    }

    /// A lane for this thread alone, until it gives it back; none when all are taken or the journal is
    /// closed, and then [`offer_shared`](Self::offer_shared) is the way.
    pub fn claim(&self) -> Option<&'static Lane> {
        failpoint::reach();
        let mut blocks = lock(&self.blocks);
        if self.is_closed.load(Ordering::Relaxed) {
            return None;
        }
        let free = blocks.lanes.iter().find(|lane| !lane.is_owned.swap(true, Ordering::Acquire));
        if let Some(lane) = free {
            return Some(lane);
        }
        if blocks.lanes.len() >= self.lanes_max {
            return None;
        }
        self.add_lane(&mut blocks, true).ok()
    }

    /// Offers a record through the lane that all threads without one share, behind a lock.
    pub fn offer_shared(&self, record: Outgoing<'_>) -> bool {
        match self.shared_lane(&mut lock(&self.shared)) {
            Some(lane) => lane.offer(record),
            None => self.refuse(DropReason::Full),
        }
    }

    /// Counts a record that cannot be offered, from a thread without a lane.
    pub fn refuse(&self, reason: DropReason) -> bool {
        self.refused[reason as usize].fetch_add(1, Ordering::Relaxed);
        false
    }

    /// Counts once for a key: through the caller's lane, or the shared one. The count survives the process
    /// as a record does. False where there is no memory to count in.
    #[inline]
    pub fn tally(&self, lane: Option<&Lane>, key: [u64; 3]) -> bool {
        match lane {
            Some(lane) => lane.tallies.add(key, || self.next_tenure()) || self.tally_slowly(lane, key),
            None => self.tally_shared(key),
        }
    }

    #[cold]
    fn tally_shared(&self, key: [u64; 3]) -> bool {
        let mut shared = lock(&self.shared);
        self.shared_lane(&mut shared).is_some_and(|lane| self.tally(Some(lane), key))
    }

    /// Makes the lane's next table; what finds no place even then is counted without its key.
    #[cold]
    fn tally_slowly(&self, lane: &Lane, key: [u64; 3]) -> bool {
        while let Some(pages) = lane.tallies.next_pages() {
            let Ok(words) = self.add_block(&mut lock(&self.blocks), BlockKind::Tallies, pages) else { break };
            lane.tallies.grow(words);
            if lane.tallies.add(key, || self.next_tenure()) {
                return true;
            }
        }
        lane.tallies.add_without_place(|| self.next_tenure())
    }

    fn next_tenure(&self) -> u64 {
        self.common.tenures.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn shared_lane(&self, shared: &mut Option<&'static Lane>) -> Option<&'static Lane> {
        if self.is_closed.load(Ordering::Relaxed) {
            return None;
        }
        if shared.is_none() {
            *shared = self.add_lane(&mut lock(&self.blocks), true).ok();
        }
        *shared
    }

    /// Makes the shared lane and a spare one and touches the pages of new lanes, so that nobody waits
    /// for it: on some file systems that takes milliseconds. The drain calls it after each pass.
    pub fn prepare(&self) {
        failpoint::reach();
        // Whoever holds it may be waiting for the drain to make room, and so for us.
        if let Some(mut shared) = try_lock(&self.shared) {
            self.shared_lane(&mut shared);
        }
        let mut blocks = lock(&self.blocks);
        let has_spare = blocks.lanes.iter().any(|lane| !lane.is_owned.load(Ordering::Relaxed));
        let may_grow = blocks.lanes.len() < self.lanes_max && !self.is_closed.load(Ordering::Relaxed);
        if !has_spare && may_grow {
            let _ = self.add_lane(&mut blocks, false);
        }
        drop(blocks);
        self.lanes().into_iter().for_each(Lane::touch_once);
    }

    fn add_lane(&self, blocks: &mut Blocks, is_owned: bool) -> std::io::Result<&'static Lane> {
        let pages = layout::lane_pages(self.header.ring_words, self.header.slack_words);
        let words = self.add_block(blocks, BlockKind::Lane, pages)?;
        let ring = Ring::new(words, self.header.ring_words)
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        let lane = Box::leak(Box::new(Lane::new(ring, blocks.lanes.len() as u32, is_owned, self.common)));
        blocks.lanes.push(lane);
        self.common.work.ring();
        Ok(lane)
    }

    fn add_block(
        &self,
        blocks: &mut Blocks,
        kind: BlockKind,
        pages: usize,
    ) -> std::io::Result<&'static [AtomicU64]> {
        let block = Block { kind, first_page: blocks.next_page as u32, pages: pages as u32 };
        let words = match &self.backing {
            Some(backing) => backing.with_file(|file| {
                memory::allocate(file, block.offset_bytes(), block.words() as u64 * 8)?;
                memory::map(file, block.offset_bytes(), block.words())
            })?,
            None => memory::heap(block.words()),
        };
        if !header::add_block(self.words, block) {
            return Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
        }
        blocks.next_page += pages;
        Ok(words)
    }

    /// Adds an entry to the name table and answers its number; none when the table cannot grow.
    pub fn add_name(&self, name: Name) -> Option<u32> {
        failpoint::reach();
        let mut names = lock(&self.names);
        let length = entry_words(name.bytes.len());
        if names.entries.len() >= NAMES_MAX || name.bytes.len() > NAME_BYTES_MAX {
            return None;
        }
        if names.free.len() < length {
            let pages = NAMES_PAGES.max(length.div_ceil(PAGE_WORDS));
            names.free = self.add_block(&mut lock(&self.blocks), BlockKind::Names, pages).ok()?;
        }
        write_entry(names.free, &name);
        names.free = &names.free[length..];
        names.entries.push(name);
        Some(names.entries.len() as u32 - 1)
    }

    /// A rough clock, good from the start.
    pub fn first_point(&self) -> Point {
        lock(&self.calibration).points().first().copied().unwrap_or_default()
    }

    /// Sleeps until a producer needs the drain or the time is over.
    pub fn wait_for_work(&self, timeout: Duration) {
        self.common.work.wait(timeout);
    }

    /// Wakes the drain.
    pub fn ask_for_drain(&self) {
        self.common.work.ring();
    }

    /// Closes the journal: no lane is handed out from now on. Removes the file if everything is
    /// committed and no thread holds a lane, so that nothing can be added unseen; otherwise it stays
    /// for the next recovery, and this answers false.
    pub fn close(&self) -> bool {
        self.is_closed.store(true, Ordering::Relaxed);
        // Whoever holds it is offering a record, and may be waiting for the drain, and so for us.
        let Some(shared) = try_lock(&self.shared) else { return false };
        let blocks = lock(&self.blocks);
        let is_quiet = |lane: &&&'static Lane| {
            let is_shared = shared.is_some_and(|shared| shared.index == lane.index);
            is_shared || !lane.is_owned.load(Ordering::Acquire)
        };
        let is_counted = |lane: &Lane| {
            let mut taken = Vec::new();
            lane.tallies.collect(lane.index, &mut taken);
            taken.is_empty()
        };
        let is_empty = |lane: &Lane| lane.ring.head() == lane.ring.tail() && is_counted(lane);
        let is_done = blocks.lanes.iter().all(|lane| is_quiet(&lane) && is_empty(lane));
        if let (true, Some(backing)) = (is_done, &self.backing) {
            let _ = fs::remove_file(backing.path());
        }
        is_done
    }

    fn lanes(&self) -> Vec<&'static Lane> {
        lock(&self.blocks).lanes.clone()
    }

    fn count(&self, batch: Option<&Batch>) -> Counters {
        let mut sum = Counters::default();
        for lane in self.lanes() {
            let mark = batch.and_then(|batch| batch.marks.iter().rfind(|mark| mark.lane == lane.index));
            lane.ring.count(&mut sum, mark);
        }
        for (total, refused) in sum.dropped.iter_mut().zip(&self.refused) {
            let count = refused.load(Ordering::Relaxed);
            *total += count;
            sum.offered += count;
        }
        sum
    }
}

impl Source for Journal {
    fn id(&self) -> u128 {
        self.header.id
    }

    fn pid(&self) -> u32 {
        self.header.owner.pid
    }

    fn name(&self, number: u32) -> Option<Name> {
        lock(&self.names).entries.get(number as usize).cloned()
    }

    fn clock(&self) -> Clock {
        let mut calibration = lock(&self.calibration);
        if calibration.look() {
            header::write_points(self.words, calibration.points());
        }
        Clock::new(calibration.points().to_vec())
    }

    fn collect(&self, batch: &mut Batch) {
        for lane in self.lanes() {
            lane.ring.collect(lane.index, batch, COLLECT_WORDS_MAX);
            lane.tallies.collect(lane.index, &mut batch.taken);
        }
        batch.push_taken();
        resolve_spills(batch, self.path());
    }

    fn release(&self, batch: &Batch) {
        let lanes = self.lanes();
        for mark in &batch.marks {
            if let Some(lane) = lanes.get(mark.lane as usize) {
                lane.ring.release(*mark);
            }
        }
        for taken in &batch.taken {
            if let Some(lane) = lanes.get(taken.lane as usize) {
                lane.tallies.release(taken);
            }
        }
        if let Some(path) = self.path() {
            batch.spills.iter().for_each(|number| spill::remove(path, *number));
        }
        self.common.progress.advance();
    }

    fn counters(&self) -> Counters {
        self.count(None)
    }

    fn counters_after(&self, batch: &Batch) -> Counters {
        self.count(Some(batch))
    }
}

/// Puts the records of spill files in the place of the frames that name them. A spill that cannot be
/// read stays as it is, for the store to keep among what it could not read.
pub(crate) fn resolve_spills(batch: &mut Batch, journal: Option<&Path>) {
    let Some(journal) = journal else { return };
    for index in 0..batch.len() {
        let frame = batch.frame(index);
        if frame.kind != SPILL_KIND {
            continue;
        }
        let Some(spill) = Spill::from_frame(&frame) else { continue };
        if let Some(words) = spill.read(journal) {
            batch.replace(index, spill.kind, &words);
            batch.spills.push(spill.number);
        }
    }
}
