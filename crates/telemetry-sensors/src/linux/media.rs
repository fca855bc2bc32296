//! The disks that have a medium: the others, such as loop devices without a file, have no traffic until they get one.
//!
//! The kernel writes all of /proc/diskstats however few of its lines are of interest. Where most disks have no medium, a
//! file for each of those that have one costs less. Which these are is looked up by slow readings.

use std::fs;
use std::path::PathBuf;

use super::file::{Buffer, KeptFile};
use super::roots::Roots;

/// A disk's own file costs about as much as so many lines of /proc/diskstats.
const LINES_A_FILE: usize = 3;

/// The files of the disks with a medium; empty where /proc/diskstats is to be read instead.
#[derive(Debug)]
pub(crate) struct Media {
    class: PathBuf,
    disks: Vec<Medium>,
}

#[derive(Debug)]
struct Medium {
    /// Its place among all disks.
    index: usize,
    name: String,
    stat: KeptFile,
}

impl Media {
    pub(crate) fn new(roots: &Roots) -> Self {
        Self { class: roots.sys.join("class/block"), disks: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.disks.is_empty()
    }

    /// From now on all lines are read.
    pub(crate) fn forget(&mut self) {
        self.disks.clear();
    }

    /// Looks which of these disks, in their order, have a medium.
    pub(crate) fn find<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let mut count = 0;
        let mut found = Vec::new();
        for name in names {
            if self.has_medium(name) {
                found.push((count, name));
            }
            count += 1;
        }
        let is_worth_it = found.len() * LINES_A_FILE <= count;
        if !is_worth_it {
            self.forget();
        } else if !self.is_same(&found) {
            self.disks = found.iter().map(|(index, name)| self.open(*index, name)).collect();
            if !self.disks.iter().all(|disk| disk.stat.is_open()) {
                self.forget();
            }
        }
    }

    /// The counters of every disk with a medium, by place and name, one after the other; false where one of them could
    /// not be read.
    pub(crate) fn read(&self, buffer: &mut Buffer, mut take: impl FnMut(usize, &str, &[u8]) -> bool) -> bool {
        self.disks
            .iter()
            .all(|disk| disk.stat.read(buffer).is_some_and(|counters| take(disk.index, &disk.name, counters)))
    }

    fn is_same(&self, found: &[(usize, &str)]) -> bool {
        let known = self.disks.iter().map(|disk| (disk.index, disk.name.as_str()));
        known.eq(found.iter().copied())
    }

    fn open(&self, index: usize, name: &str) -> Medium {
        Medium { index, name: name.to_owned(), stat: KeptFile::open(self.folder(name).join("stat")) }
    }

    /// A disk without one has no sectors. What does not tell may have one.
    fn has_medium(&self, name: &str) -> bool {
        fs::read(self.folder(name).join("size")).ok().is_none_or(|size| size != b"0\n")
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.class.join(name.replace('/', "!"))
    }
}
