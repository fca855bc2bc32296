//! The database file: made for its owner only, moved aside when it is bad, watched while in use.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;

/// Makes the file and its folder, readable by their owner only, where they are missing. The database library gives
/// its side files the mode of the database.
pub(crate) fn prepare(path: &Path) -> Result<(), StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_folder(folder).map_err(|source| file_error(folder, source))?;
    }
    match create_file(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => refuse_link(path),
        Err(error) => Err(file_error(path, error)),
    }
}

/// A link may have been put there by somebody else, to have us write into another file. The database library opens its
/// side files only where they are none.
fn refuse_link(path: &Path) -> Result<(), StoreError> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(file_error(path, io::Error::other("it is a symbolic link")));
    }
    Ok(())
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn create_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Renames the database and its side files to `<name>.damaged-<unix seconds>`; nothing is deleted.
pub(crate) fn put_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let aside = free_name(path);
    for side in ["", "-wal", "-shm", "-journal"] {
        let (from, to) = (with_suffix(path, side), with_suffix(&aside, side));
        match fs::rename(&from, to) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(file_error(&from, error)),
            _ => {}
        }
    }
    Ok(aside)
}

fn free_name(path: &Path) -> PathBuf {
    let mut seconds = unix_seconds();
    loop {
        let name = with_suffix(path, &format!(".damaged-{seconds}"));
        if fs::symlink_metadata(&name).is_err() {
            return name;
        }
        seconds += 1;
    }
}

#[expect(clippy::disallowed_methods, reason = "a name for a file, not a time in the data")]
fn unix_seconds() -> u64 {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

pub(crate) fn file_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::File { path: path.to_owned(), source }
}

/// How an open file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The paths name the files that are open.
    Ours,
    /// The path of the database or of its log names another file, or none.
    Moved,
    /// A descriptor is closed or belongs to somebody else.
    Lost,
}

/// An open descriptor, as a path, and the device and file that it stands for.
type Descriptor = (PathBuf, (u64, u64));

/// The database, its log, and the log's index: what a connection keeps open.
const FILES: [&str; 3] = ["", "-wal", "-shm"];

/// Knows which files were opened and by which descriptors, so that a host which closes all descriptors
/// never finds our pages in its own files, and a file that is taken away is missed.
#[derive(Debug)]
pub(crate) struct Watch {
    path: PathBuf,
    /// Of each file, what was opened; none for one that is not used.
    identities: [Option<(u64, u64)>; FILES.len()],
    descriptors: Vec<Descriptor>,
}

impl Watch {
    /// Opens the file with `open`, and watches the descriptors that this opened: those of other
    /// connections of this process to the same file are closed when those end.
    pub(crate) fn around<T, E>(path: &Path, open: impl FnOnce() -> Result<T, E>) -> Result<(T, Self), E> {
        let _alone = alone();
        let before: HashSet<Descriptor> = descriptors().collect();
        let opened = open()?;
        let identities = FILES.map(|side| identity(&with_suffix(path, side)));
        let is_ours = |descriptor: &Descriptor| {
            identities.contains(&Some(descriptor.1)) && !before.contains(descriptor)
        };
        let descriptors = descriptors().filter(is_ours).collect();
        Ok((opened, Self { path: path.to_owned(), identities, descriptors }))
    }

    pub(crate) fn standing(&self) -> Standing {
        // The index is nobody's to keep: it is made anew from the log.
        let is_there = |(side, expected): (&&str, &Option<(u64, u64)>)| {
            expected.is_none() || is_still(&with_suffix(&self.path, side), *expected)
        };
        if self.descriptors.iter().any(|(link, expected)| identity(link) != Some(*expected)) {
            Standing::Lost
        } else if FILES.iter().zip(&self.identities).take(2).all(is_there) {
            Standing::Ours
        } else {
            Standing::Moved
        }
    }

    /// Removes the log and its index where they are those that were open with a database that has moved:
    /// they must not be taken for those of the file that the path names now.
    pub(crate) fn remove_side_files(&self) {
        for (side, expected) in FILES.iter().zip(&self.identities).skip(1) {
            let path = with_suffix(&self.path, side);
            if expected.is_some() && identity(&path) == *expected {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// How long the log is.
    pub(crate) fn log_bytes(&self) -> u64 {
        fs::metadata(with_suffix(&self.path, "-wal")).map_or(0, |metadata| metadata.len())
    }
}

/// Whether a path names this file. One that we may not look at any more, since the process has become another user,
/// is taken for it: its descriptor is good.
fn is_still(path: &Path, expected: Option<(u64, u64)>) -> bool {
    let is_hidden =
        || matches!(fs::metadata(path), Err(error) if error.kind() == ErrorKind::PermissionDenied);
    identity(path) == expected || is_hidden()
}

/// Held while a connection is opened, so that nobody takes another's descriptors for its own.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static OPENING: Mutex<()> = Mutex::new(());
    OPENING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// The open descriptors of this process, where the system lists them.
fn descriptors() -> impl Iterator<Item = Descriptor> {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), identity(&entry.path())?)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_link_in_place_of_the_database_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(prepare(&link), Err(StoreError::File { .. })));
        assert!(!target.exists());
    }

    #[test]
    fn a_file_is_ours_until_it_is_moved_or_its_descriptor_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let other = create_file(&path).unwrap();
        let (open, watch) = Watch::around(&path, || File::open(&path)).unwrap();
        drop(other);
        assert_eq!(watch.standing(), Standing::Ours);
        fs::rename(&path, folder.path().join("moved")).unwrap();
        assert_eq!(watch.standing(), Standing::Moved);
        fs::rename(folder.path().join("moved"), &path).unwrap();
        assert_eq!(watch.standing(), Standing::Ours);
        drop(open);
        assert_eq!(watch.standing(), Standing::Lost);
    }
}
