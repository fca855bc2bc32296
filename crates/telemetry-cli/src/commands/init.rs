//! `telemetry init`: a commented settings file.

use std::fs;
use std::path::Path;

use similar::{ChangeTag, TextDiff};
use telemetry_core::settings::DEFAULT_FILE;

use crate::arguments::{Init, Profile};
use crate::failure::{Failure, Outcome};
use crate::ink::Ink;
use crate::printer::Printer;
use crate::text;

const MINIMAL: &str = include_str!("../profiles/minimal.yaml");
const HPC: &str = include_str!("../profiles/hpc.yaml");
/// Lines that are the same, around those that are not.
const CONTEXT_LINES: usize = 2;

pub(super) fn run(command: &Init, printer: &mut Printer) -> Result<Outcome, Failure> {
    let wanted = content(command.profile);
    let file = &command.file;
    let failure = |doing| move |source| Failure::File { path: file.clone(), doing, source };
    match fs::read_to_string(file) {
        Ok(there) if there == wanted => {
            printer.talk_quietly(&format!("{} is like this already.", file.display()));
            return Ok(Outcome::Done);
        }
        Ok(there) => {
            printer.data(&difference(&there, wanted, printer.ink))?;
            if !command.yes && !printer.ask(&format!("{} is there already. Replace it?", file.display()))? {
                return Err(Failure::Declined);
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failure("read")(error)),
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failure("written"))?;
    }
    write(file, wanted).map_err(failure("written"))?;
    printer.talk_quietly(&format!("{} written; telemetry config show says what holds.", file.display()));
    Ok(Outcome::Done)
}

/// In one step, so that a program which starts at this moment finds the old file or the new one.
fn write(file: &Path, content: &str) -> std::io::Result<()> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(format!(".partial-{}", std::process::id()));
    fs::write(&partial, content)?;
    fs::rename(&partial, file)
}

fn content(profile: Profile) -> &'static str {
    match profile {
        Profile::Minimal => MINIMAL,
        Profile::Full => DEFAULT_FILE,
        Profile::Hpc => HPC,
    }
}

/// What would change, as `diff -u` shows it.
fn difference(there: &str, wanted: &str, ink: Ink) -> String {
    let diff = TextDiff::from_lines(there, wanted);
    let mut lines = String::new();
    for group in diff.grouped_ops(CONTEXT_LINES) {
        for change in group.iter().flat_map(|part| diff.iter_changes(part)) {
            let line = text::visible(change.value().trim_end_matches('\n'));
            let line = match change.tag() {
                ChangeTag::Delete => ink.bad(&format!("-{line}")),
                ChangeTag::Insert => ink.good(&format!("+{line}")),
                ChangeTag::Equal => format!(" {line}"),
            };
            lines.extend([&*line, "\n"]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use telemetry_core::settings::Settings;

    use super::*;

    #[test]
    fn every_profile_is_right() {
        for profile in [Profile::Minimal, Profile::Full, Profile::Hpc] {
            let loaded = Settings::from_yaml(content(profile), Path::new("settings.yaml"));
            assert!(loaded.is_ok(), "{profile:?}: {loaded:?}");
        }
    }

    #[test]
    fn a_difference_shows_what_goes_and_what_comes() {
        let shown = difference("a: 1\nb: 2\n", "a: 1\nb: 3\n", Ink::new(false));
        assert_eq!(shown, " a: 1\n-b: 2\n+b: 3\n");
    }
}
