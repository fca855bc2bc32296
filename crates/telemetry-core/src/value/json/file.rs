//! Files as JSON.

use super::text::{write_hex, write_quoted};
use super::write_number;
use crate::value::{EncodedFile, FileState};

const NANOS_A_SECOND: f64 = 1e9;

/// Appends the file that these bytes, without tag and length, describe.
pub(super) fn write(out: &mut Vec<u8>, payload: &[u8]) -> Option<()> {
    let file = EncodedFile::read(payload)?;
    out.extend_from_slice(br#"{"$file":{"path":"#);
    write_quoted(out, file.path);
    if std::str::from_utf8(file.path).is_err() {
        out.extend_from_slice(br#","hex":"#);
        write_hex(out, file.path);
    }
    write_state(out, file.state);
    out.extend_from_slice(b"}}");
    Some(())
}

fn write_state(out: &mut Vec<u8>, state: FileState) {
    match state {
        FileState::Missing => out.extend_from_slice(br#","state":"missing""#),
        FileState::NoFile => out.extend_from_slice(br#","state":"no file""#),
        FileState::Unreadable => out.extend_from_slice(br#","state":"unreadable""#),
        FileState::Found { bytes, modified_ns, sha256 } => {
            out.extend_from_slice(br#","bytes":"#);
            write_number(out, bytes);
            out.extend_from_slice(br#","modified":"#);
            write_number(out, modified_ns as f64 / NANOS_A_SECOND);
            if let Some(sha256) = sha256 {
                out.extend_from_slice(br#","sha256":"#);
                write_hex(out, &sha256);
            }
        }
    }
}
