//! The journals beside the database: whose process is alive, dead, or what is none.

use std::fs;
use std::path::{Path, PathBuf};

use telemetry_journal::{DeadJournal, JournalError, Source, find_journals};

use super::check::Check;
use crate::text::count;

/// What was found in the folder of the journals.
#[derive(Debug, Default)]
pub(super) struct Journals {
    folder: PathBuf,
    /// In use: of living processes, or being recovered at this moment.
    alive: usize,
    other_host: usize,
    dead: usize,
    /// Records in them.
    waiting: u64,
    /// What cannot be read, with the reason.
    damaged: Vec<String>,
    put_aside: usize,
    /// The ids of all recorders that have a journal.
    recorders: Vec<String>,
}

impl Journals {
    pub(super) fn find(folder: &Path) -> Self {
        let mut journals = Self { folder: folder.to_owned(), ..Self::default() };
        match find_journals(folder) {
            Ok(paths) => paths.iter().for_each(|path| journals.add(path)),
            Err(error) => journals.damaged.push(error.to_string()),
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_aside = |name: &str| name.contains(".journal.damaged-");
        journals.put_aside = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_aside)).count();
        journals
    }

    /// Whether a recorder's journal is here.
    pub(super) fn has(&self, recorder: &str) -> bool {
        let digits: String = recorder.chars().filter(char::is_ascii_hexdigit).collect();
        self.recorders.contains(&digits)
    }

    fn add(&mut self, path: &Path) {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        self.recorders.push(name.to_ascii_lowercase());
        match DeadJournal::open(path) {
            Ok(journal) => {
                self.dead += 1;
                self.waiting += journal.counters().pending;
            }
            Err(JournalError::InUse { .. }) => self.alive += 1,
            Err(JournalError::OtherHost { .. }) => self.other_host += 1,
            Err(error) => self.damaged.push(error.to_string()),
        }
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        let folder = self.folder.display();
        let mut checks = Vec::new();
        if self.dead > 0 {
            let (journals, records) = (count(self.dead, "dead process"), count(self.waiting, "record"));
            let detail = format!("{journals} left {records} in {folder}").replace("processs", "processes");
            checks.push(Check::fail("journals", detail, "telemetry recover brings them in"));
        }
        if !self.damaged.is_empty() {
            let remedy = "telemetry recover puts what is no journal aside, and loses nothing";
            checks.push(Check::fail("journals", self.damaged.join("\n"), remedy));
        }
        if self.put_aside > 0 {
            let detail = format!("{} put aside in {folder}", count(self.put_aside, "damaged journal"));
            checks.push(Check::warn("journals", detail, "keep them for a look, or delete them"));
        }
        if self.other_host > 0 {
            let detail = format!("{} of another host in {folder}", count(self.other_host, "journal"));
            checks.push(Check::warn("journals", detail, "run telemetry recover on that host"));
        }
        if checks.is_empty() {
            checks.push(Check::ok("journals", format!("{} in use, none left behind", self.alive)));
        }
        checks
    }
}
