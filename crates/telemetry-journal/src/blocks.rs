//! The blocks of another process's journal, as far as its directory names them by now.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::clock::{Clock, Point};
use crate::error::JournalError;
use crate::header::{self, Header};
use crate::lane::Ring;
use crate::layout::{self, Block, BlockKind, HEADER_WORDS};
use crate::memory::Words;
use crate::names::read_entries;
use crate::source::Name;

/// How the blocks are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Mapped, to look at.
    Look,
    /// Mapped, to move the drain's marks.
    Drain,
    /// Copied as they are now, because the file may be anything and nobody writes to it.
    Copy,
}

/// A journal of another process.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub(crate) path: PathBuf,
    pub(crate) header: Header,
    file: File,
    access: Access,
    words: Words,
    /// How many entries of the directory were met.
    met: usize,
    pub(crate) lanes: Vec<Words>,
    pub(crate) tallies: Vec<Words>,
    names: Vec<(Words, usize)>,
    entries: Vec<Name>,
}

impl Blocks {
    /// Opens a journal and meets its blocks. To look at one whose process is gone is to copy it.
    pub(crate) fn open(path: &Path, access: Access) -> Result<Self, JournalError> {
        let mut options = OpenOptions::new();
        options.read(true).write(access == Access::Drain).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(path).map_err(JournalError::io(path))?;
        let not_a_journal = || JournalError::NotAJournal { path: path.to_owned() };
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(not_a_journal());
        }
        let words = Words::copy(&file, 0, HEADER_WORDS).map_err(|_| not_a_journal())?;
        let header = Header::read(&words, path)?;
        let is_living = header.owner.is_on_this_host() && header.owner.is_alive();
        let access = if access == Access::Look && !is_living { Access::Copy } else { access };
        let words = if access == Access::Copy { words } else { reach(&file, 0, HEADER_WORDS, access, path)? };
        let mut blocks = Self {
            path: path.to_owned(),
            header,
            file,
            access,
            words,
            met: 0,
            lanes: Vec::new(),
            tallies: Vec::new(),
            names: Vec::new(),
            entries: Vec::new(),
        };
        blocks.refresh()?;
        Ok(blocks)
    }

    /// Meets the blocks and names that were added.
    pub(crate) fn refresh(&mut self) -> Result<(), JournalError> {
        let directory = header::read_directory(&self.words);
        for block in directory.get(self.met..).unwrap_or_default() {
            self.meet(*block)?;
            self.met += 1;
        }
        for (words, read) in &mut self.names {
            *read += read_entries(&words[*read..], &mut self.entries);
        }
        Ok(())
    }

    fn meet(&mut self, block: Block) -> Result<(), JournalError> {
        let end = block.offset_bytes().saturating_add(block.words() as u64 * 8);
        if !self.file.metadata().is_ok_and(|metadata| metadata.len() >= end) {
            return Err(JournalError::Truncated { path: self.path.clone() });
        }
        let expected = layout::lane_pages(self.header.ring_words, self.header.slack_words);
        let is_lane = block.kind == BlockKind::Lane;
        if block.pages == 0 || is_lane && block.pages as usize != expected {
            return Err(JournalError::NotAJournal { path: self.path.clone() });
        }
        let words = reach(&self.file, block.offset_bytes(), block.words(), self.access, &self.path)?;
        match block.kind {
            BlockKind::Lane => self.lanes.push(words),
            BlockKind::Names => self.names.push((words, 0)),
            BlockKind::Tallies => self.tallies.push(words),
        }
        Ok(())
    }

    pub(crate) fn ring(&self, lane: usize) -> Option<Ring<'_>> {
        Ring::new(self.lanes.get(lane)?, self.header.ring_words)
    }

    pub(crate) fn rings(&self) -> impl Iterator<Item = (u32, Ring<'_>)> {
        (0..self.lanes.len()).filter_map(|lane| Some((lane as u32, self.ring(lane)?)))
    }

    pub(crate) fn name(&self, number: u32) -> Option<&Name> {
        self.entries.get(number as usize)
    }

    pub(crate) fn clock(&self) -> Clock {
        header::read_clock(&self.words)
    }

    /// Writes the points of its clock; of a journal that is drained.
    pub(crate) fn write_points(&self, points: &[Point]) {
        if self.access == Access::Drain {
            header::write_points(&self.words, points);
        }
    }

    /// Whether it was copied, because nobody writes to it.
    pub(crate) fn is_copy(&self) -> bool {
        self.access == Access::Copy
    }

    /// Whether nothing can come any more: the process is gone, or has closed its journal.
    pub(crate) fn is_over(&self) -> bool {
        let is_removed = self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0);
        self.is_copy() || is_removed || !self.header.owner.is_alive()
    }
}

fn reach(file: &File, offset: u64, words: usize, access: Access, path: &Path) -> Result<Words, JournalError> {
    let reached = match access {
        Access::Look => Words::map_for_reading(file, offset, words),
        Access::Drain => Words::map_for_writing(file, offset, words),
        Access::Copy => Words::copy(file, offset, words),
    };
    reached.map_err(JournalError::io(path))
}
