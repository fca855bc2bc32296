//! `telemetry snapshot`: the database as it is now, while programs write.

use std::path::Path;

use telemetry_store::Reader;

use crate::arguments::SnapshotArguments;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::text;

pub(super) fn run(
    command: &SnapshotArguments,
    place: &Place,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let file = &command.file;
    // The library would make it, for its owner only; here it is a mistake in writing.
    if let Some(folder) = file.parent().filter(|folder| *folder != Path::new("") && !folder.exists()) {
        let source = nix::errno::Errno::ENOENT.into();
        return Err(Failure::File { path: folder.to_owned(), doing: "written to", source });
    }
    if file.exists() && !command.yes {
        let question = format!("{} is there already. Replace it?", file.display());
        if !printer.ask(&question)? {
            return Err(Failure::Declined);
        }
    }
    watched(printer, "Copying", || reader.copy_to(file))?;
    let size = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    printer.talk_quietly(&format!("{} written, {}.", file.display(), text::bytes(size)));
    Ok(Outcome::Done)
}
