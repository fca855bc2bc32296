//! Links under /proc: where a descriptor or an executable points.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where `link` points. The kernel appends a remark to what it takes for deleted, which is often wrong
/// and no part of the name.
pub(crate) fn target(link: &Path) -> Option<PathBuf> {
    let target = fs::read_link(link).ok()?;
    match target.as_os_str().as_bytes().strip_suffix(b" (deleted)") {
        Some(name) if !target.exists() => Some(PathBuf::from(OsStr::from_bytes(name))),
        _ => Some(target),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn remarks_are_no_part_of_the_name_unless_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        let odd = folder.path().join("odd (deleted)");
        symlink(&odd, &link).unwrap();
        assert_eq!(target(&link), Some(folder.path().join("odd")));
        fs::write(&odd, "").unwrap();
        assert_eq!(target(&link), Some(odd));
        assert_eq!(target(folder.path()), None);
    }
}
