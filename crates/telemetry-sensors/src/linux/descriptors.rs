//! Counts the descriptors of this process by kind. Slow: one link a descriptor, and the socket tables of
//! the whole machine if there is a socket.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::link;
use super::roots::Roots;
use super::scan::words;

const TABLES: [&str; 4] = ["tcp", "tcp6", "udp", "udp6"];

/// The inode of a socket is this column of a socket table, from 0.
const INODE_COLUMN: usize = 9;

/// Descriptors of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) all: u64,
    pub(crate) files: u64,
    pub(crate) connections: Option<u64>,
}

/// Counts the descriptors of this process; none if they are hidden.
pub(crate) fn count(roots: &Roots) -> Option<Counts> {
    let targets = targets(&roots.proc.join("self/fd"))?;
    let sockets: HashSet<u64> = targets.iter().filter_map(|target| socket(target)).collect();
    Some(Counts {
        all: targets.len() as u64,
        files: targets.iter().filter(|target| is_file(target)).count() as u64,
        connections: connections(roots, &sockets),
    })
}

/// What the descriptors point at. The one that lists the folder is closed by the time they are followed,
/// so it does not count.
fn targets(folder: &Path) -> Option<Vec<PathBuf>> {
    let links: Vec<_> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    Some(links.into_iter().filter_map(|link| link::target(&link)).collect())
}

fn is_file(target: &Path) -> bool {
    target.is_absolute() && target.is_file()
}

fn socket(target: &Path) -> Option<u64> {
    let name = target.as_os_str().as_bytes().strip_prefix(b"socket:[")?;
    words(name).number()
}

/// How many lines of the socket tables belong to `sockets`; none if all tables are hidden.
fn connections(roots: &Roots, sockets: &HashSet<u64>) -> Option<u64> {
    if sockets.is_empty() {
        return Some(0);
    }
    let count = |table| count_in(&roots.proc.join("net").join(table), sockets);
    TABLES.into_iter().filter_map(count).reduce(|sum, count| sum + count)
}

fn count_in(table: &Path, sockets: &HashSet<u64>) -> Option<u64> {
    let mut reader = BufReader::new(File::open(table).ok()?);
    let mut line = Vec::new();
    let mut count = 0;
    while reader.read_until(b'\n', &mut line).is_ok_and(|len| len > 0) {
        count += u64::from(inode(&line).is_some_and(|inode| sockets.contains(&inode)));
        line.clear();
    }
    Some(count)
}

fn inode(line: &[u8]) -> Option<u64> {
    let mut columns = words(line);
    columns.skip_words(INODE_COLUMN);
    columns.number()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
        \x20  0: 0100007F:0277 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 x 100 0\n\
        \x20  1: 0100007F:0278 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 78 1 x 100 0\n";

    fn recorded() -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().into() };
        fs::create_dir_all(roots.proc.join("self/fd")).unwrap();
        fs::create_dir_all(roots.proc.join("net")).unwrap();
        (folder, roots)
    }

    #[test]
    fn kinds_of_descriptors() {
        let (folder, roots) = recorded();
        let regular = folder.path().join("regular");
        fs::write(&regular, "").unwrap();
        let link =
            |number: &str, target: &Path| symlink(target, roots.proc.join("self/fd").join(number)).unwrap();
        link("0", &regular);
        link("1", Path::new("/dev/null"));
        link("2", Path::new("pipe:[5]"));
        link("3", Path::new("socket:[77]"));
        link("4", Path::new("/gone (deleted)"));
        fs::write(roots.proc.join("net/tcp"), TCP).unwrap();
        assert_eq!(count(&roots), Some(Counts { all: 5, files: 1, connections: Some(1) }));
        fs::remove_file(roots.proc.join("net/tcp")).unwrap();
        assert_eq!(count(&roots), Some(Counts { all: 5, files: 1, connections: None }));
    }

    #[test]
    fn nothing_to_see() {
        let (_folder, roots) = recorded();
        assert_eq!(count(&roots), Some(Counts { all: 0, files: 0, connections: Some(0) }));
        fs::remove_dir(roots.proc.join("self/fd")).unwrap();
        assert_eq!(count(&roots), None);
    }
}
