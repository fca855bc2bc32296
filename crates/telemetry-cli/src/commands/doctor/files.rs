//! Who may read the files, and how much room is left for them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::check::Check;
use crate::place::Place;
use crate::text::bytes;

const FREE_BYTES_LOW: u64 = 1 << 30;
/// Less than this and a journal of a few threads does not fit.
const FREE_BYTES_MIN: u64 = 1 << 26;

pub(super) fn checks(place: &Place) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(folder) = existing(place) {
        checks.push(permissions(place, &folder));
        checks.extend(room(&folder));
    }
    checks
}

/// The folder of the database, if it is there.
fn existing(place: &Place) -> Option<PathBuf> {
    let folder = place.database.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).to_owned();
    folder.is_dir().then_some(folder)
}

/// What was recorded may be secret: it is for its owner only.
fn permissions(place: &Place, folder: &Path) -> Check {
    let beside = |suffix: &str| {
        let mut name = place.database.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut open: Vec<PathBuf> = vec![place.database.clone(), beside("-wal"), beside("-shm")];
    // Whoever put the database into a folder of their own decides who may enter that.
    let is_ours = folder.file_name().is_some_and(|name| name == ".telemetry");
    open.extend(is_ours.then(|| folder.to_owned()));
    open.push(place.journals.clone());
    open.extend(fs::read_dir(&place.journals).into_iter().flatten().flatten().map(|entry| entry.path()));
    open.retain(|path| is_open_to_others(path));
    match &*open {
        [] => Check::ok("permissions", "for the owner only"),
        open => {
            let names: Vec<String> = open.iter().map(|path| path.display().to_string()).collect();
            let detail = format!("others may enter or read\n{}", names.join("\n"));
            Check::fail("permissions", detail, format!("chmod go= {}", names.join(" ")))
        }
    }
}

fn is_open_to_others(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|metadata| !metadata.is_symlink() && metadata.permissions().mode() & 0o077 != 0)
}

fn room(folder: &Path) -> Option<Check> {
    let system = statvfs(folder).ok()?;
    let free = system.blocks_available() * system.fragment_size();
    let detail = format!("{} free", bytes(free));
    let remedy = format!("make room on the file system of {}", folder.display());
    Some(match free {
        ..FREE_BYTES_MIN => Check::fail("space", detail, remedy),
        FREE_BYTES_MIN..FREE_BYTES_LOW => Check::warn("space", detail, remedy),
        _ => Check::ok("space", detail),
    })
}
