//! The database file: there, ours, sound.

use std::fs;
use std::path::Path;

use telemetry_store::{SCHEMA_VERSION, StoreError, inspect, sqlite_version};

use super::check::Check;
use crate::text::bytes;

/// A log beyond this is not being written back.
const LOG_BYTES_MAX: u64 = 1 << 28;

pub(super) fn check(path: &Path, checks: &mut Vec<Check>) {
    let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let found = format!("{}, {}", path.display(), bytes(size));
    match inspect(path) {
        Ok(inspection) => {
            checks.push(Check::ok("database", found));
            checks.push(schema(inspection.schema_version));
            checks.push(integrity(&inspection.problems));
        }
        Err(error) => checks.push(unusable(&error)),
    }
    checks.push(log(path));
    checks.push(Check::ok("sqlite", sqlite_version()));
}

fn schema(version: i32) -> Check {
    if version == SCHEMA_VERSION {
        return Check::ok("schema", format!("version {version}"));
    }
    let detail = format!("version {version}; this program writes version {SCHEMA_VERSION}");
    Check::warn("schema", detail, "the next program that records brings it up to date")
}

fn integrity(problems: &[String]) -> Check {
    match problems {
        [] => Check::ok("integrity", "every page is sound"),
        problems => Check::fail(
            "integrity",
            problems.join("\n"),
            "copy the file away, then save what is readable with the sqlite3 program: .recover",
        ),
    }
}

fn unusable(error: &StoreError) -> Check {
    let remedy = match error {
        StoreError::Missing { .. } => {
            "go to the folder in which the program ran, or name the file with --database PATH"
        }
        StoreError::Empty { .. } => {
            return Check::warn("database", error.to_string(), "run a program that records");
        }
        StoreError::Newer { .. } => "update telemetry: the file was written by a newer version",
        StoreError::Foreign { .. } => "name a database that telemetry made with --database PATH",
        _ => "copy the file away, then save what is readable with the sqlite3 program: .recover",
    };
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Check::fail("database", format!("{error}{cause}"), remedy)
}

/// Commits that are not yet in the database itself.
fn log(path: &Path) -> Check {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    match fs::metadata(name).map_or(0, |metadata| metadata.len()) {
        0 => Check::ok("log", "empty"),
        size if size <= LOG_BYTES_MAX => Check::ok("log", bytes(size)),
        size => Check::warn(
            "log",
            format!("{}, which slows reading down", bytes(size)),
            "end programs that keep reading the database; the next writer then empties the log",
        ),
    }
}
