//! Files that a killed process leaves beside its journal and that nothing refers to any more.
//!
//! A spill file is written before the frame that names it and removed after its record is committed; a
//! journal has another name until its header is complete. A kill in between leaves a file without use.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::place;

/// How long the making of a journal may take: a younger file may be one that is not locked yet.
const NEW_AGE_MIN: Duration = Duration::from_mins(10);

/// Removes what dead processes left in a journal folder and nothing refers to. Whatever belongs to a
/// journal, also to one that was put aside, stays.
pub fn remove_leftovers(folder: &Path) {
    place::elsewhere(folder).iter().for_each(|elsewhere| remove_from(elsewhere));
    remove_from(folder);
}

fn remove_from(folder: &Path) {
    let files = files(folder);
    let journals: Vec<&OsStr> =
        files.iter().filter(|path| is_journal(path)).filter_map(|path| stem(path)).collect();
    for path in &files {
        let is_orphan = is_spill(path)
            && stem(path).is_some_and(|stem| !journals.contains(&stem))
            // A journal that was made while we looked: it is there before its first spill file.
            && !path.with_extension("journal").exists();
        if is_orphan || is_abandoned(path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the spill files of a journal.
pub(crate) fn remove_spills(journal: &Path) {
    let files = journal.parent().map(files).unwrap_or_default();
    for path in files.iter().filter(|path| is_spill(path) && stem(path) == stem(journal)) {
        let _ = fs::remove_file(path);
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).collect()
}

/// The part of the name before the first dot: the journal's id.
fn stem(path: &Path) -> Option<&OsStr> {
    path.file_prefix()
}

/// A journal, under its own name or one that it was given when it was put aside.
fn is_journal(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.contains(".journal"))
}

fn is_spill(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| extension.starts_with("spill-"))
}

/// Whether this is a journal that never got its name, of a process that is gone.
fn is_abandoned(path: &Path) -> bool {
    let is_new = path.extension().is_some_and(|extension| extension == "new");
    let is_old = |file: &File| {
        let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
        modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > NEW_AGE_MIN)
    };
    is_new && File::open(path).is_ok_and(|file| is_old(&file) && file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_refers_to_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::UNIX_EPOCH;
        for name in [
            "1.journal",
            "1.spill-1",
            "2.spill-1",
            "3.journal.damaged-1",
            "3.spill-9",
            ".4.new",
            ".5.new",
            ".6.new",
            "notes",
        ] {
            let file = File::create(folder.path().join(name)).unwrap();
            if name != ".5.new" {
                file.set_modified(old).unwrap();
            }
        }
        let being_made = File::open(folder.path().join(".6.new")).unwrap();
        being_made.lock().unwrap();
        remove_leftovers(folder.path());
        let mut left: Vec<_> =
            files(folder.path()).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        left.sort();
        let kept =
            [".5.new", ".6.new", "1.journal", "1.spill-1", "3.journal.damaged-1", "3.spill-9", "notes"];
        assert_eq!(left, kept);
        remove_spills(&folder.path().join("1.journal"));
        assert!(!folder.path().join("1.spill-1").exists() && folder.path().join("3.spill-9").exists());
    }
}
