//! Files that a command was asked to write.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::text;

/// Writes a file, and says so.
pub(crate) fn write(path: &Path, content: &str, printer: &mut Printer) -> Result<(), Failure> {
    fs::write(path, content).map_err(|source| Failure::File {
        path: path.to_owned(),
        doing: "written",
        source,
    })?;
    let size = text::bytes(content.len() as u64);
    printer.talk_quietly(&format!("{} is written, {size}.", path.display()));
    Ok(())
}
