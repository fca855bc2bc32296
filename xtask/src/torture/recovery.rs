//! Recovery by hand, by the host program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::Outcome;

/// The call that recovers what lies in a folder.
pub(super) fn recovery(host: &Path, folder: &Path) -> Command {
    let mut command = Command::new(host);
    command.arg("recover").arg(folder);
    command
}

/// Recovers; nothing may be left in the folder, and nothing may be strange.
pub(super) fn recover(host: &Path, folder: &Path) -> Outcome {
    let output = recovery(host, folder).output()?;
    if !output.status.success() {
        return Err(format!("recovery failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    if answer["left_alone"] != 0 || answer["warnings"] != json!([]) {
        return Err(format!("recovery says {answer}").into());
    }
    let left = files_left(&folder.join("journal"))?;
    if left.is_empty() { Ok(()) } else { Err(format!("recovery leaves {left:?}").into()) }
}

/// What is left of the journals; not the files that were about to become one, which a recovery cannot
/// tell from those of a program that starts.
fn files_left(folder: &Path) -> Outcome<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Outcome<Vec<_>>>()?;
    Ok(files.into_iter().filter(|path| path.extension().is_none_or(|extension| extension != "new")).collect())
}
