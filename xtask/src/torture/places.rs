//! Where the parts of a campaign lie: most in memory, where no disk is waited for, and some on the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

use super::empty_folder;
use crate::Outcome;

/// A file system in memory.
const MEMORY: &str = "/dev/shm";
/// What must be free there: containers often have 64 MB.
const FREE_BYTES_MIN: u64 = 2 << 30;
/// One part in so many lies on the disk.
const ON_DISK_EVERY: usize = 4;

/// The folders of a campaign.
#[derive(Debug)]
pub(super) struct Places {
    /// On the disk; evidence is kept here.
    pub(super) disk: PathBuf,
    memory: Option<TempDir>,
}

impl Places {
    pub(super) fn new(campaign: &str) -> Outcome<Self> {
        let has_room =
            statvfs(MEMORY).is_ok_and(|it| it.blocks_available() * it.fragment_size() >= FREE_BYTES_MIN);
        let builder =
            || tempfile::Builder::new().prefix(&format!("telemetry-torture-{campaign}-")).tempdir_in(MEMORY);
        Ok(Self { disk: empty_folder(campaign)?, memory: has_room.then(builder).transpose()? })
    }

    /// Whether the part with this number lies on the disk.
    pub(super) fn is_on_disk(&self, number: usize) -> bool {
        self.memory.is_none() || number.is_multiple_of(ON_DISK_EVERY)
    }

    /// Does a part in a folder of its own, which stays as evidence if it fails.
    pub(super) fn within<T>(
        &self,
        number: usize,
        name: &str,
        part: impl FnOnce(&Path) -> Outcome<T>,
    ) -> Outcome<T> {
        let folder = self.root(number).join(name);
        fs::create_dir_all(&folder)?;
        let answer = part(&folder).map_err(|error| {
            let kept = self.keep(&folder).unwrap_or(folder.clone());
            format!("{error}\nthe evidence is in {}", kept.display())
        })?;
        fs::remove_dir_all(folder)?;
        Ok(answer)
    }

    fn root(&self, number: usize) -> &Path {
        match &self.memory {
            Some(memory) if !self.is_on_disk(number) => memory.path(),
            _ => &self.disk,
        }
    }

    /// Copies a folder from memory to the disk: memory is given back when the campaign ends.
    fn keep(&self, folder: &Path) -> Option<PathBuf> {
        let kept = self.disk.join(folder.file_name()?);
        let is_copied = kept == folder
            || Command::new("cp")
                .arg("-a")
                .arg(folder)
                .arg(&kept)
                .status()
                .is_ok_and(|status| status.success());
        is_copied.then_some(kept)
    }
}
