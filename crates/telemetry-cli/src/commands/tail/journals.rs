//! Which journals are watched.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use telemetry_core::tap::Tap;
use telemetry_journal::{JournalError, find_journals};

use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;
use crate::text::{count, from_here};

/// Where to look for journals.
#[derive(Debug)]
pub(super) struct Journals {
    place: Where,
    met: HashSet<PathBuf>,
    is_found: bool,
}

#[derive(Debug)]
enum Where {
    File(PathBuf),
    /// Those of this folder whose recorder is called so; all of them for none.
    Folder(PathBuf, Option<String>),
}

/// A journal that is watched.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) tap: Tap,
    missed: u64,
}

impl Journals {
    pub(super) fn find(wanted: Option<&Path>, place: &Place) -> Result<Self, Failure> {
        let place = match wanted {
            None => Where::Folder(place.journals.clone(), None),
            Some(path) if path.is_dir() => Where::Folder(within(path), None),
            Some(path) if path.exists() => Where::File(path.to_owned()),
            Some(path) if path.components().count() > 1 => {
                return Err(Failure::NoJournal { what: format!("there is no {}", path.display()) });
            }
            Some(id) => Where::Folder(place.journals.clone(), Some(id.to_string_lossy().into_owned())),
        };
        Ok(Self { place, met: HashSet::new(), is_found: false })
    }

    pub(super) fn folder(&self) -> &Path {
        match &self.place {
            Where::File(path) | Where::Folder(path, _) => path,
        }
    }

    /// Whether there may be more of them later. A recorder that was named is one, and may be still to come.
    pub(super) fn may_grow(&self) -> bool {
        match &self.place {
            Where::File(_) => false,
            Where::Folder(_, name) => name.is_none() || !self.is_found,
        }
    }

    /// What is waited for.
    pub(super) fn awaited(&self) -> String {
        match &self.place {
            Where::Folder(folder, Some(id)) => {
                format!("a recorder in {} that is called {id}", from_here(folder))
            }
            _ => format!("a program that records in {}", from_here(self.folder())),
        }
    }

    pub(super) fn none_found(&self) -> Failure {
        let what = match &self.place {
            Where::Folder(folder, Some(id)) => format!("no recorder in {} is called {id}", from_here(folder)),
            _ => format!("no program records in {}", from_here(self.folder())),
        };
        Failure::NoJournal { what }
    }

    /// Opens the journals that were not met before. Of a folder, what cannot be read is passed over with a
    /// warning; a file that was named must be readable.
    pub(super) fn open_new(&mut self, printer: &mut Printer) -> Result<Vec<Watched>, Failure> {
        let (folder, id) = match &self.place {
            Where::File(path) => {
                let is_new = self.met.insert(path.clone());
                return if is_new { Ok(vec![Watched::open(path)?]) } else { Ok(Vec::new()) };
            }
            Where::Folder(folder, id) => (folder, id.as_deref()),
        };
        let mut opened = Vec::new();
        for path in find_journals(folder)? {
            if self.met.contains(&path) {
                continue;
            }
            match Watched::open(&path) {
                Ok(watched) if is_wanted(&watched.tap, id) => opened.push(watched),
                Ok(_) => {}
                // Its process has just ended well.
                Err(JournalError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => printer.warn(&error.to_string()),
            }
            self.met.insert(path);
        }
        self.is_found |= !opened.is_empty();
        Ok(opened)
    }
}

impl Watched {
    fn open(path: &Path) -> Result<Self, JournalError> {
        Ok(Self { tap: Tap::open(path)?, missed: 0 })
    }

    /// Says how much was missed since it was last said, and that the program ended.
    pub(super) fn report(&mut self, is_over: bool, printer: &mut Printer) {
        let missed = self.tap.sightings().missed;
        if missed > self.missed {
            let records = count(missed - self.missed, "record");
            printer.warn(&format!("missed {records} of process {}, which was faster", self.tap.pid()));
            self.missed = missed;
        }
        if is_over && self.tap.is_over() {
            printer.talk_quietly(&format!("Process {} has ended.", self.tap.pid()));
        }
    }
}

/// The folder with the journals: the one that was named, or the one in it.
fn within(folder: &Path) -> PathBuf {
    let within = folder.join("journal");
    if within.is_dir() { within } else { folder.to_owned() }
}

/// Whether this is the recorder that is meant: by name, by process, or by the beginning of its id. Where none
/// is named, the programs that are still running.
fn is_wanted(tap: &Tap, id: Option<&str>) -> bool {
    let Some(id) = id else { return !tap.is_over() };
    let name = tap.process().and_then(|process| process.name);
    name.as_deref() == Some(id) || tap.pid().to_string() == id || tap.id().to_string().starts_with(id)
}
