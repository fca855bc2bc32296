//! Files as values: [`file()`] and what it records.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::encoder::file_payload;
use crate::value::FileState;

/// The content of larger files is not read unless [`File::hash_up_to`] says so.
const HASH_BYTES_MAX: u64 = 64 << 20;
const CHUNK_BYTES: usize = 64 << 10;

/// A file as a value: recorded with its path, size, time of change and SHA-256, so that lineage knows
/// who wrote what others read.
///
/// The file is looked at when the value is recorded: before the body of a task for an argument, after it
/// for a result, and never where nothing is recorded. A file that is missing is recorded as such.
///
/// ```
/// let data = telemetry_core::file::file("data/a.csv");
/// assert_eq!(data.path(), std::path::Path::new("data/a.csv"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct File {
    path: PathBuf,
    hash_bytes_max: u64,
}

/// A file as a value: see [`File`].
pub fn file(path: impl Into<PathBuf>) -> File {
    File { path: path.into(), hash_bytes_max: HASH_BYTES_MAX }
}

impl File {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the content for its SHA-256 if the file is at most this long. The default is 64 MiB, which
    /// take some tens of milliseconds; 0 reads nothing, `u64::MAX` everything.
    pub fn hash_up_to(mut self, bytes: u64) -> Self {
        self.hash_bytes_max = bytes;
        self
    }

    /// Looks at the file.
    pub fn look(&self) -> FileState {
        match fs::metadata(&self.path) {
            Ok(metadata) if metadata.is_file() => self.found(&metadata),
            Ok(_) => FileState::NoFile,
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileState::Missing,
            Err(_) => FileState::Unreadable,
        }
    }

    fn found(&self, metadata: &fs::Metadata) -> FileState {
        let bytes = metadata.len();
        let modified_ns = modified_ns(metadata);
        if bytes > self.hash_bytes_max || self.hash_bytes_max == 0 {
            return FileState::Found { bytes, modified_ns, sha256: None };
        }
        match sum(&self.path, self.hash_bytes_max) {
            Ok(Some((bytes, sha256))) => FileState::Found { bytes, modified_ns, sha256: Some(sha256) },
            Ok(None) | Err(_) => FileState::Found { bytes, modified_ns, sha256: None },
        }
    }
}

impl AsRef<Path> for File {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// Unix nanoseconds, also before 1970; 0 where the system does not know.
fn modified_ns(metadata: &fs::Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

/// The length and SHA-256 of a file; none if it has become longer than what may be read.
fn sum(path: &Path, bytes_max: u64) -> io::Result<Option<(u64, [u8; 32])>> {
    let mut content = fs::File::open(path)?.take(bytes_max.saturating_add(1));
    let mut sum = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut bytes = 0;
    loop {
        match content.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => {
                sum.update(&chunk[..length]);
                bytes += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((bytes <= bytes_max).then(|| (bytes, sum.finalize().into())))
}

/// By this name our encoder knows a file among other newtypes; others see what is in it.
pub(crate) const NEWTYPE: &str = "$telemetry::File";

impl Serialize for File {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NEWTYPE, &Looked { path: &self.path, state: self.look() })
    }
}

/// What was found, on its way through serde.
struct Looked<'a> {
    path: &'a Path,
    state: FileState,
}

impl Serialize for Looked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            // What our encoder asks for, and what another binary form may keep.
            let path = self.path.as_os_str().as_encoded_bytes();
            return serializer.serialize_bytes(&file_payload(path, self.state));
        }
        let mut fields = serializer.serialize_struct("File", 4)?;
        fields.serialize_field("path", &self.path.to_string_lossy())?;
        match self.state {
            FileState::Found { bytes, modified_ns, sha256 } => {
                fields.serialize_field("bytes", &bytes)?;
                fields.serialize_field("modified_ns", &modified_ns)?;
                fields.serialize_field(
                    "sha256",
                    &sha256.map(|sum| sum.map(|byte| format!("{byte:02x}")).concat()),
                )?;
            }
            FileState::Missing => fields.serialize_field("state", "missing")?,
            FileState::NoFile => fields.serialize_field("state", "no file")?,
            FileState::Unreadable => fields.serialize_field("state", "unreadable")?,
        }
        fields.end()
    }
}

#[cfg(test)]
mod tests;
