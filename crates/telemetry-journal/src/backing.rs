//! The file behind a live journal, through a descriptor that the host may close.
//!
//! A program that becomes a daemon closes all descriptors, and the next file that it opens gets a number that
//! was ours. To grow the journal through such a number would lengthen and map that file. So the descriptor is
//! looked at before each use, and the journal is opened again by its path where it is another file by now.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::bell::lock;

/// A journal's file and where it lies. Never dropped: its journal lives as long as the process.
#[derive(Debug)]
pub(crate) struct Backing {
    file: Mutex<File>,
    path: PathBuf,
    identity: (u64, u64),
}

impl Backing {
    pub(crate) fn new(file: File, path: PathBuf) -> io::Result<Self> {
        let identity = identity(&file.metadata()?);
        Ok(Self { file: Mutex::new(file), path, identity })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path names the file, as far as this process may look.
    pub(crate) fn is_findable(&self) -> bool {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) => identity(&metadata) == self.identity,
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        }
    }

    /// Does something with the file.
    pub(crate) fn with_file<T>(&self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let mut file = lock(&self.file);
        if !self.is_ours(&file) {
            // Whatever has the number now is not ours to close.
            std::mem::forget(std::mem::replace(&mut *file, self.open_again()?));
        }
        work(&file)
    }

    /// In a forked child: closes its copy of the descriptor. Where a thread of the parent was at it just then, the
    /// child keeps it.
    pub(crate) fn close_after_fork(&self) {
        let Ok(file) = self.file.try_lock() else { return };
        if self.is_ours(&file) {
            // SAFETY: the file is never dropped, so nothing else will close the descriptor; and in a child
            // nothing uses it again.
            unsafe { libc::close(file.as_raw_fd()) };
        }
    }

    fn is_ours(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|metadata| identity(&metadata) == self.identity)
    }

    /// Takes the lock again, too, which went with the last descriptor.
    fn open_again(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&self.path)?;
        if !self.is_ours(&file) {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        file.try_lock().map_err(io::Error::from)?;
        Ok(file)
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    fn backing(folder: &Path) -> Backing {
        let path = folder.join("a.journal");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
        Backing::new(file, path).unwrap()
    }

    /// Puts another file under the descriptor's number, as a host does that closes everything.
    fn replace_descriptor(backing: &Backing, by: &File) {
        let number = lock(&backing.file).as_raw_fd();
        // SAFETY: both numbers are open descriptors of this test.
        assert_eq!(unsafe { libc::dup2(by.as_fd().as_raw_fd(), number) }, number);
    }

    #[test]
    fn a_descriptor_that_is_another_file_by_now_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let backing = backing(folder.path());
        let theirs = File::create(folder.path().join("theirs")).unwrap();
        replace_descriptor(&backing, &theirs);
        backing.with_file(|file| file.set_len(4096)).unwrap();
        assert_eq!(theirs.metadata().unwrap().len(), 0);
        assert_eq!(fs::metadata(backing.path()).unwrap().len(), 4096);
        // The number is theirs and stays open.
        assert!(backing.is_findable());
    }

    #[test]
    fn a_journal_that_is_gone_is_an_error_and_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let backing = backing(folder.path());
        let theirs = File::create(folder.path().join("theirs")).unwrap();
        fs::rename(folder.path().join("theirs"), backing.path()).unwrap();
        assert!(!backing.is_findable());
        replace_descriptor(&backing, &theirs);
        assert!(backing.with_file(|file| file.set_len(4096)).is_err());
        assert_eq!(theirs.metadata().unwrap().len(), 0);
    }
}
