//! Journal files: where they lie, how one is made, and which belong to the dead.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How the name of a journal ends.
pub(crate) const EXTENSION: &str = "journal";

/// Makes the folder, for its owner only.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A file that has no name yet by which others look for it, and is locked by us.
pub(crate) fn create_unnamed(folder: &Path, id: u128) -> io::Result<(File, PathBuf)> {
    let path = folder.join(format!(".{id:032x}.new"));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(&path)?;
    file.try_lock().map_err(io::Error::from)?;
    Ok((file, path))
}

/// The name by which others find the journal with this id.
pub(crate) fn named(folder: &Path, id: u128) -> PathBuf {
    folder.join(format!("{id:032x}.{EXTENSION}"))
}

/// All journals in a folder, oldest first: ids begin with the time.
pub(crate) fn find(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
        .collect();
    found.sort();
    Ok(found)
}
