//! Where the lanes of a journal lie: in their folder, or on this host where that is on a network file system.
//!
//! Shared memory over a network is slow at best and wrong at worst, so there the lanes lie below `$TMPDIR` or
//! `/dev/shm`. A pointer in the folder, one a host and user, says where, so that a recovery on the same host finds
//! them; other hosts could not read them, nor tell whether their owners live.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::JournalError;
use crate::file;
use crate::process::host_hash;

/// How the name of a pointer ends.
const EXTENSION: &str = "elsewhere";

/// Where lanes may lie, beside what `$TMPDIR` says.
const LOCAL: &[&str] = &["/dev/shm", "/tmp"];

/// File systems that other hosts may see, by the number that the kernel has for them: NFS, SMB and CIFS, Lustre, GPFS,
/// FUSE (which most others come through), 9P, Ceph, AFS, Coda, `BeeGFS`, PanFS, OCFS2, GFS2, OrangeFS, NCP, and
/// the shared folders of virtual machines.
#[cfg(target_os = "linux")]
const NETWORK: &[u32] = &[
    0x6969,
    0x517B,
    0xFE53_4D42,
    0xFF53_4D42,
    0x0BD0_0BD0,
    0x4750_4653,
    0x6573_5546,
    0x0102_1997,
    0x00C3_6400,
    0x5346_414F,
    0x7375_7245,
    0x1983_0326,
    0xAAD7_AAEA,
    0x7461_636F,
    0x0116_1970,
    0x2003_0528,
    0x564C,
    0x786F_4256,
];

/// Whether a path is on a network file system, or will be once its folders are made.
pub fn is_on_network(path: &Path) -> bool {
    path.ancestors().find_map(file_system).is_some_and(is_network)
}

/// The kernel's number for the file system of a path; none where there is no such path, or the system has none.
#[cfg(target_os = "linux")]
fn file_system(path: &Path) -> Option<u32> {
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut answer = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the path ends with a zero and the kernel fills the structure, which is read only if it says so.
    unsafe {
        let code = libc::statfs(path.as_ptr(), answer.as_mut_ptr());
        (code == 0).then(|| answer.assume_init().f_type as u32)
    }
}

#[cfg(not(target_os = "linux"))]
fn file_system(_path: &Path) -> Option<u32> {
    None
}

#[cfg(target_os = "linux")]
fn is_network(kind: u32) -> bool {
    NETWORK.contains(&kind)
}

#[cfg(not(target_os = "linux"))]
fn is_network(_kind: u32) -> bool {
    false
}

/// Where to make the journals of a folder: there, or, where it is on a network file system, in a folder of this
/// host that a pointer in it names.
pub fn lanes_folder(folder: &Path) -> Result<PathBuf, JournalError> {
    if !is_on_network(folder) {
        return Ok(folder.to_owned());
    }
    let user = fs::metadata("/proc/self").map_err(JournalError::io(folder))?.uid();
    let local = local_folder(folder, user).map_err(JournalError::io(folder))?;
    file::create_folder(folder)
        .and_then(|()| point(folder, user, &local))
        .map_err(JournalError::io(folder))?;
    Ok(local)
}

fn local_folder(folder: &Path, user: u32) -> io::Result<PathBuf> {
    let named = Some(std::env::temp_dir()).filter(|path| path != Path::new("/tmp"));
    let places = named.into_iter().chain(LOCAL.iter().map(PathBuf::from));
    let name = format!("telemetry-{user}/{:016x}", hash(folder.as_os_str().as_bytes()));
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for place in places.filter(|place| place.is_dir() && !is_on_network(place)) {
        let local = place.join(&name);
        match file::create_folder(&local) {
            Ok(()) => return Ok(local),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Writes the pointer, unless it is there.
fn point(folder: &Path, user: u32, local: &Path) -> io::Result<()> {
    let path = folder.join(format!(
        "{:016x}-{user}-{:08x}.{EXTENSION}",
        host_hash(),
        hash(local.as_os_str().as_bytes()) as u32
    ));
    if fs::read(&path).is_ok_and(|bytes| bytes == local.as_os_str().as_bytes()) {
        return Ok(());
    }
    let unnamed = path.with_extension(format!("{EXTENSION}-{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(&unnamed)?.write_all(local.as_os_str().as_bytes())?;
    fs::rename(unnamed, path)
}

/// The folders of this host that pointers in `folder` name.
pub(crate) fn elsewhere(folder: &Path) -> Vec<PathBuf> {
    let host = format!("{:016x}-", host_hash());
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_ours = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == EXTENSION)
            && path.file_name().is_some_and(|name| name.as_bytes().starts_with(host.as_bytes()))
    };
    let pointers = entries.map(|entry| entry.path()).filter(is_ours);
    let targets = pointers
        .filter_map(|path| fs::read(path).ok())
        .map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes)));
    targets.filter(|path| path.is_absolute()).collect()
}

fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_of_this_host_is_followed_and_anothers_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let local = tempfile::tempdir().unwrap();
        point(folder.path(), 7, local.path()).unwrap();
        point(folder.path(), 7, local.path()).unwrap();
        fs::write(folder.path().join("0000000000000000-7-00000000.elsewhere"), "/nowhere").unwrap();
        assert_eq!(elsewhere(folder.path()), [local.path()]);
        fs::write(local.path().join("1.journal"), "").unwrap();
        fs::write(folder.path().join("0.journal"), "").unwrap();
        let found = crate::find_journals(folder.path()).unwrap();
        assert_eq!(found, [folder.path().join("0.journal"), local.path().join("1.journal")]);
    }

    #[test]
    fn temporary_folders_are_local_even_where_they_do_not_exist_yet() {
        assert!(!is_on_network(&std::env::temp_dir().join("a/b/c")));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_numbers_of_network_file_systems_are_the_kernels() {
        // Three that a header of the C library names, too.
        for kind in [libc::NFS_SUPER_MAGIC, libc::FUSE_SUPER_MAGIC, libc::SMB_SUPER_MAGIC] {
            assert!(is_network(kind as u32));
        }
        for kind in
            [libc::EXT4_SUPER_MAGIC, libc::TMPFS_MAGIC, libc::XFS_SUPER_MAGIC, libc::BTRFS_SUPER_MAGIC]
        {
            assert!(!is_network(kind as u32));
        }
    }
}
