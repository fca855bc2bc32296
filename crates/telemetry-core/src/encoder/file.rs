//! Files: their path and what was found there.

use super::append;
use super::budget::Writer;
use super::error::Error;
use super::value::ValueEncoder;
use super::within::TEXT_HEADER_MAX;
use crate::value::{EncodedFile, FileState, tag};
use std::path::Path;

impl ValueEncoder<'_> {
    /// A file, or its path alone where not everything fits or the path has a secret in it.
    pub fn file(&mut self, path: &Path, state: FileState) {
        let name = path.as_os_str().as_encoded_bytes();
        let payload = append::file_payload(name, state);
        let is_too_long = self.start + payload.len() + TEXT_HEADER_MAX > self.budget.end;
        if is_too_long || self.instead(name).is_some() {
            return self.path(path);
        }
        self.bytes.truncate(self.start);
        append::prefixed(self.bytes, tag::FILE, &payload);
    }
}

impl Writer<'_> {
    /// The same inside of another value.
    pub(super) fn file(&mut self, payload: &[u8]) -> Result<(), Error> {
        let path = EncodedFile::read(payload).map_or(&[][..], |file| file.path);
        let has_secret = self.redactor().is_some_and(|redactor| redactor.replaced(path).is_some());
        if !has_secret && payload.len() + TEXT_HEADER_MAX <= self.bytes_left() {
            return self.number(|out| append::prefixed(out, tag::FILE, payload));
        }
        self.text(&String::from_utf8_lossy(path))
    }
}
