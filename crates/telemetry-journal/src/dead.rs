//! The journal of a process that is gone: read into memory, never mapped, because it may be anything.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::batch::Batch;
use crate::clock::Clock;
use crate::error::JournalError;
use crate::file;
use crate::header::{self, Header};
use crate::journal::resolve_spills;
use crate::lane::Ring;
use crate::layout::{self, Block, BlockKind, HEADER_WORDS};
use crate::leftovers;
use crate::memory::read_words;
use crate::names::read_entries;
use crate::place;
use crate::process::Owner;
use crate::source::{Counters, Name, Source};
use crate::tally::{Tally, read_table};

/// The journals of a folder, of the living and the dead, oldest first; those too that this host keeps elsewhere,
/// since the folder is on a network file system.
pub fn find_journals(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let mut journals = file::find(folder).map_err(JournalError::io(folder))?;
    for elsewhere in place::elsewhere(folder) {
        journals.extend(file::find(&elsewhere).unwrap_or_default());
    }
    journals.sort_by(|left, right| left.file_name().cmp(&right.file_name()));
    Ok(journals)
}

/// Makes a journal of another host one of this host, for tests with files that were recorded elsewhere.
#[doc(hidden)]
pub fn adopt(path: &Path) -> Result<(), JournalError> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(JournalError::io(path))?;
    let words = read_words(&file, 0, HEADER_WORDS).map_err(JournalError::io(path))?;
    let mut header = Header::read(&words, path)?;
    header.owner.host = Owner::current().host;
    header.write(&words);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
    file.write_all_at(&bytes, 0).map_err(JournalError::io(path))
}

/// The journal of a process that is gone. While it is open, nobody else can open it.
#[derive(Debug)]
pub struct DeadJournal {
    header: Header,
    path: PathBuf,
    clock: Clock,
    names: Vec<Name>,
    lanes: Vec<Box<[AtomicU64]>>,
    tallies: Vec<Tally>,
    torn: u64,
    /// Holds the lock.
    _file: File,
}

impl DeadJournal {
    /// Takes over a journal whose owner is gone.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(path).map_err(JournalError::io(path))?;
        // Between opening and locking, another recovery may have finished with it and removed it.
        let is_there = |file: &File| file.metadata().is_ok_and(|metadata| metadata.nlink() > 0);
        let is_locked = file.try_lock().is_ok() && is_there(&file);
        let words = read_words(&file, 0, HEADER_WORDS)
            .map_err(|_| JournalError::NotAJournal { path: path.to_owned() })?;
        let header = Header::read(&words, path)?;
        if !header.owner.is_on_this_host() {
            return Err(JournalError::OtherHost { path: path.to_owned() });
        }
        if !is_locked || header.owner.is_alive() {
            return Err(JournalError::InUse { path: path.to_owned(), pid: header.owner.pid });
        }
        Ok(Self::read(header, &words, path, file))
    }

    fn read(header: Header, words: &[AtomicU64], path: &Path, file: File) -> Self {
        let mut names = Vec::new();
        let mut lanes = Vec::new();
        let mut tallies = Vec::new();
        for block in header::read_directory(words) {
            let Some(words) = read_block(&file, block, header.ring_words) else { continue };
            match block.kind {
                BlockKind::Lane => lanes.push(words),
                BlockKind::Names => {
                    read_entries(&words, &mut names);
                }
                BlockKind::Tallies => tallies.extend(read_table(&words)),
            }
        }
        let mut journal = Self {
            header,
            path: path.to_owned(),
            clock: header::read_clock(words),
            names,
            lanes,
            tallies,
            torn: 0,
            _file: file,
        };
        journal.settle_counters();
        journal
    }

    /// Settles what the dead producers left between two stores: a frame that was counted and not yet
    /// published, a mark that was counted and not yet moved, a record that was offered and has no
    /// verdict.
    fn settle_counters(&mut self) {
        let mut torn = 0;
        for (index, ring) in self.rings() {
            let mut frames = Batch::new();
            ring.collect(index, &mut frames, usize::MAX);
            let damaged: u64 = frames.marks.iter().map(|mark| mark.damaged).sum();
            if damaged <= 1 {
                let first = (!frames.is_empty()).then(|| frames.frame(0).sequence);
                ring.repair_published(frames.len() as u64, first);
            }
            torn += ring.unfinished();
        }
        self.torn = torn;
    }

    fn rings(&self) -> impl Iterator<Item = (u32, Ring<'_>)> {
        let rings = self.lanes.iter().map(|words| Ring::new(words, self.header.ring_words));
        rings.enumerate().filter_map(|(index, ring)| Some((index as u32, ring?)))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether another process drained it.
    pub fn is_drained_from_outside(&self) -> bool {
        self.header.is_drained_from_outside
    }

    /// When the journal was made, unix nanoseconds.
    pub fn created_unix_ns(&self) -> i64 {
        self.header.created_unix_ns
    }

    /// Removes the file, once everything in it is committed, and then its spill files: as long as there
    /// is a journal, somebody may read them again.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        leftovers::remove_spills(&self.path);
        Ok(())
    }

    fn count(&self, batch: Option<&Batch>) -> Counters {
        let mut sum = Counters::default();
        for (index, ring) in self.rings() {
            let mark = batch.and_then(|batch| batch.marks.iter().rfind(|mark| mark.lane == index));
            ring.count(&mut sum, mark);
        }
        sum.offered += self.torn;
        sum.torn += self.torn;
        sum
    }
}

impl Source for DeadJournal {
    fn id(&self) -> u128 {
        self.header.id
    }

    fn pid(&self) -> u32 {
        self.header.owner.pid
    }

    fn name(&self, number: u32) -> Option<Name> {
        self.names.get(number as usize).cloned()
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }

    fn collect(&self, batch: &mut Batch) {
        for (index, ring) in self.rings() {
            ring.collect(index, batch, usize::MAX);
        }
        self.tallies.iter().for_each(|tally| batch.push_tally(*tally));
        resolve_spills(batch, Some(&self.path));
    }

    /// Moves the marks in memory only: a recovery that is interrupted begins anew, to the same end. So
    /// the spill files stay, too, until the journal is removed.
    fn release(&self, batch: &Batch) {
        for (index, ring) in self.rings() {
            batch.marks.iter().filter(|mark| mark.lane == index).for_each(|mark| ring.release(*mark));
        }
    }

    fn counters(&self) -> Counters {
        self.count(None)
    }

    fn counters_after(&self, batch: &Batch) -> Counters {
        self.count(Some(batch))
    }
}

/// Gives a file that cannot be read another name, `….damaged-N`, so that it is out of the way and
/// nothing is lost.
pub fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        PathBuf::from(name)
    };
    let aside = (1..1_000).map(name).find(|aside| !aside.exists()).unwrap_or_else(|| name(1_000));
    fs::rename(path, &aside)?;
    Ok(aside)
}

fn read_block(file: &File, block: Block, ring_words: usize) -> Option<Box<[AtomicU64]>> {
    let end = block.offset_bytes().checked_add(block.words() as u64 * 8)?;
    if end > file.metadata().ok()?.len() {
        return None;
    }
    let expected = layout::lane_pages(ring_words, layout::slack_words(ring_words));
    if block.kind == BlockKind::Lane && block.pages as usize != expected {
        return None;
    }
    read_words(file, block.offset_bytes(), block.words()).ok()
}
