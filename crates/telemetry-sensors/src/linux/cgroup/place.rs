//! Finds the folder of this process's control group.

use std::fs;
use std::path::{Path, PathBuf};

use crate::linux::file::KeptFile;
use crate::linux::roots::Roots;

/// The two versions of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// The folder of a control group under its mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) version: Version,
    mount: PathBuf,
    group: PathBuf,
    file: &'static str,
}

impl Place {
    /// The place and its file, kept open.
    pub(super) fn kept(self) -> (Self, KeptFile) {
        let file = KeptFile::open(self.group.join(self.file));
        (self, file)
    }

    /// The group and all above it that can be seen.
    pub(super) fn groups(&self) -> impl Iterator<Item = PathBuf> {
        self.group.ancestors().take_while(|group| group.starts_with(&self.mount)).map(Path::to_path_buf)
    }
}

/// What the kernel tells of the groups of this process and of the file systems that show them.
#[derive(Debug)]
pub(super) struct Texts {
    groups: String,
    mounts: String,
}

impl Texts {
    pub(super) fn read(roots: &Roots) -> Option<Self> {
        let groups = fs::read_to_string(roots.proc.join("self/cgroup")).ok()?;
        let mounts = fs::read_to_string(roots.proc.join("self/mountinfo")).ok()?;
        Some(Self { groups, mounts })
    }

    /// The group in which `controller` rules this process: that of version 1 if it has `file_one`, else that
    /// of version 2 if it has `file_two`.
    pub(super) fn find(
        &self,
        controller: &str,
        file_two: &'static str,
        file_one: &'static str,
    ) -> Option<Place> {
        let Self { groups, mounts } = self;
        let two = || locate(groups, mounts, Version::Two, "", file_two);
        // In a hybrid set-up the controllers stay with version 1 and version 2 is an empty tree.
        locate(groups, mounts, Version::One, controller, file_one).or_else(two)
    }
}

fn locate(
    groups: &str,
    mounts: &str,
    version: Version,
    controller: &str,
    file: &'static str,
) -> Option<Place> {
    let path = groups.lines().find_map(|line| group_path(line, controller))?;
    let (root, mount) = mounts.lines().find_map(|line| mount_of(line, version, controller))?;
    let group = match Path::new(path).strip_prefix(root) {
        Ok(below) => Path::new(mount).join(below),
        Err(_) => PathBuf::from(mount),
    };
    let place = Place { version, mount: mount.into(), group, file };
    place.group.join(file).exists().then_some(place)
}

/// The path in a line `number:controllers:path` that names `controller`; version 2 has none.
fn group_path<'a>(line: &'a str, controller: &str) -> Option<&'a str> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    controllers.split(',').any(|name| name == controller).then_some(path)
}

/// The root and the mount point in a line of mountinfo.
fn mount_of<'a>(line: &'a str, version: Version, controller: &str) -> Option<(&'a str, &'a str)> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount_words = mount.split(' ').skip(3);
    let (root, point) = (mount_words.next()?, mount_words.next()?);
    let mut system_words = system.split(' ');
    let (kind, _, options) = (system_words.next()?, system_words.next()?, system_words.next()?);
    let matches = match version {
        Version::Two => kind == "cgroup2",
        Version::One => kind == "cgroup" && options.split(',').any(|option| option == controller),
    };
    matches.then_some((root, point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_versions() {
        assert_eq!(group_path("0::/a:b", ""), Some("/a:b"));
        assert_eq!(group_path("5:cpu,cpuacct:/x", "cpu"), Some("/x"));
        assert_eq!(group_path("5:cpuset:/x", "cpu"), None);
        assert_eq!(group_path("odd", ""), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(groups in ".{0,60}", mounts in ".{0,60} - .{0,60}") {
            locate(&groups, &mounts, Version::Two, "", "memory.current");
            locate(&groups, &mounts, Version::One, "cpu", "cpu.stat");
        }
    }
}
