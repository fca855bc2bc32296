//! Journal files: where they lie, how one is made, and which belong to the dead.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
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
    if !is_safe(fs::metadata(folder)?.uid(), file.metadata()?.uid()) {
        let _ = fs::remove_file(&path);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the folder belongs to somebody else"));
    }
    file.try_lock().map_err(io::Error::from)?;
    Ok((file, path))
}

/// Whether what we write into a folder is ours alone: somebody else may have made the folder, or a link to it, before
/// us, and could put other files in place of ours. The superuser writes where it is told to.
const fn is_safe(owner_of_folder: u32, owner_of_file: u32) -> bool {
    owner_of_file == 0 || owner_of_folder == owner_of_file
}

/// How much of the name of a recorder goes into that of its file.
const NAME_BYTES_MAX: usize = 64;

/// The path at which others find the journal with this id; begins with the name of its recorder, if that
/// has one. A dot would end what the files that belong to a journal have in common.
pub(crate) fn named(folder: &Path, name: Option<&str>, id: u128) -> PathBuf {
    let suits = |character: &char| character.is_ascii_alphanumeric() || "-_".contains(*character);
    let name: String = name.unwrap_or_default().chars().filter(suits).take(NAME_BYTES_MAX).collect();
    let separator = if name.is_empty() { "" } else { "-" };
    folder.join(format!("{name}{separator}{id:032x}.{EXTENSION}"))
}

/// All journals in a folder, oldest first: ids begin with the time. Links are none of ours.
pub(crate) fn find(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
        .collect();
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_in_place_of_a_journal_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, "mine").unwrap();
        symlink(&target, folder.path().join(format!(".{:032x}.new", 7))).unwrap();
        assert!(create_unnamed(folder.path(), 7).is_err());
        symlink(&target, named(folder.path(), None, 8)).unwrap();
        assert_eq!(find(folder.path()).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(fs::read_to_string(target).unwrap(), "mine");
    }

    #[test]
    fn folders_and_files_are_for_their_owner() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        create_folder(&below).unwrap();
        let (_file, path) = create_unnamed(&below, 1).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&below), mode(below.parent().unwrap()), mode(&path)), (0o700, 0o700, 0o600));
    }

    #[test]
    fn a_journal_is_named_after_its_recorder_as_far_as_that_suits_a_file() {
        let name = |name| named(Path::new("f"), name, 0xAB);
        assert_eq!(name(None), Path::new("f/000000000000000000000000000000ab.journal"));
        assert_eq!(
            name(Some("agent.1/../x y")),
            Path::new("f/agent1xy-000000000000000000000000000000ab.journal")
        );
        assert_eq!(name(Some("ä.")), name(None));
    }

    #[test]
    fn the_folder_of_somebody_else_is_refused() {
        for (folder, file, expected) in
            [(1000, 1000, true), (1000, 0, true), (0, 0, true), (1001, 1000, false)]
        {
            assert_eq!(is_safe(folder, file), expected, "{folder} {file}");
        }
    }
}
