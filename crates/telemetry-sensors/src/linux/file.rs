//! A file that is kept open and read from its start each time, into one reused buffer.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

const FIRST_BYTES: usize = 32 * 1024;

/// Grows without end only if a pseudo file does; none is near this.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The kernel fills at least a page of 4096 bytes before it ends a read early, and no line of the files
/// read here is longer than the rest: a shorter answer is the end of the file.
const SHORT_BYTES: usize = 3 * 1024;

/// Memory that all files are read into.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
}

impl Default for Buffer {
    fn default() -> Self {
        Self { bytes: vec![0; FIRST_BYTES] }
    }
}

/// A file that is kept open; one that cannot be opened reads as nothing.
#[derive(Debug)]
pub(crate) struct KeptFile {
    file: Option<File>,
    /// The device and the file that were opened.
    identity: Option<(u64, u64)>,
}

impl KeptFile {
    pub(crate) fn open(path: impl AsRef<Path>) -> Self {
        let file = File::open(path).ok();
        let identity = file.as_ref().and_then(identity);
        Self { file, identity }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// How many names the file has now; none if it is another by now.
    pub(crate) fn links(&self) -> Option<u64> {
        let metadata = self.file.as_ref()?.metadata().ok()?;
        (Some((metadata.dev(), metadata.ino())) == self.identity).then(|| metadata.nlink())
    }

    /// The content of the file now; none if it cannot be read.
    pub(crate) fn read<'b>(&self, buffer: &'b mut Buffer) -> Option<&'b [u8]> {
        let file = self.file.as_ref()?;
        let bytes = &mut buffer.bytes;
        let mut len = 0;
        loop {
            let count = read_at(file, &mut bytes[len..], len).ok()?;
            let filled = len + count == bytes.len();
            len += count;
            if count == 0 || (count < SHORT_BYTES && !filled) {
                return Some(&bytes[..len]);
            }
            if filled && !grow(bytes) {
                return None;
            }
        }
    }
}

impl Drop for KeptFile {
    /// A host that closes all descriptors may have given our number to a file of its own, which is not ours to
    /// close.
    fn drop(&mut self) {
        if let Some(file) = self.file.take()
            && identity(&file) != self.identity
        {
            std::mem::forget(file);
        }
    }
}

fn identity(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

fn read_at(file: &File, into: &mut [u8], offset: usize) -> io::Result<usize> {
    loop {
        match file.read_at(into, offset as u64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn grow(bytes: &mut Vec<u8>) -> bool {
    let can_grow = bytes.len() < BYTES_MAX;
    if can_grow {
        bytes.resize(bytes.len() * 2, 0);
    }
    can_grow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_length_are_read_whole_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut buffer = Buffer::default();
        for len in [0, 1, SHORT_BYTES, FIRST_BYTES - 1, FIRST_BYTES, FIRST_BYTES + 1, 5 * FIRST_BYTES] {
            let content = vec![b'x'; len];
            std::fs::write(&path, &content).unwrap();
            let file = KeptFile::open(&path);
            assert_eq!(file.read(&mut buffer), Some(content.as_slice()));
            assert_eq!(file.read(&mut buffer), Some(content.as_slice()));
        }
    }

    #[test]
    fn what_cannot_be_opened_or_read_is_nothing() {
        assert_eq!(KeptFile::open("/nowhere/at/all").read(&mut Buffer::default()), None);
        assert_eq!(KeptFile::open("/").read(&mut Buffer::default()), None);
    }
}
