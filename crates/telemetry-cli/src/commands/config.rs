//! `telemetry config`: the settings that hold, where each comes from, and whether a file is right.

use serde_json::{Value, json};
use telemetry_core::settings::{Loaded, Lookup, Origin, Place, Settings, SettingsError};

use crate::arguments::{Config, ConfigCheck, ConfigCommand, ConfigShow, Format};
use crate::failure::{Failure, Outcome};
use crate::grid::{Grid, plain};
use crate::place::is_passed_over;
use crate::printer::Printer;
use crate::table::{self, Side};
use crate::text;

pub(super) fn run(command: &Config, printer: &mut Printer) -> Result<Outcome, Failure> {
    match &command.command {
        ConfigCommand::Show(command) => show(command, printer),
        ConfigCommand::Check(command) => check(command, printer),
    }
}

/// A key, its value, and where that comes from.
struct Entry {
    key: &'static str,
    value: Value,
    origin: String,
}

fn show(command: &ConfigShow, printer: &mut Printer) -> Result<Outcome, Failure> {
    let loaded = Settings::load()?;
    let entries = entries(&loaded);
    match command.format.format(printer.is_terminal()) {
        Format::Table => printer.data(&drawn(&entries, command.origin, printer))?,
        format => printer.data(&grid(&entries, command.origin).write(format))?,
    }
    warn_if_passed_over(&loaded.origin, printer);
    if !command.origin {
        printer.talk_quietly(&format!("From {}; --origin says more.", loaded.origin));
    }
    Ok(Outcome::Done)
}

fn entries(loaded: &Loaded) -> Vec<Entry> {
    let values = loaded.settings.to_json();
    let entry = |key: &'static String| Entry {
        key,
        value: key.split('.').fold(&values, |value, part| &value[part]).clone(),
        origin: loaded.places.get(key).map_or_else(|| "default".to_owned(), described),
    };
    Settings::keys().iter().map(entry).collect()
}

fn described(place: &Place) -> String {
    match place {
        Place::File { path, line: Some(line) } => format!("{}:{line}", path.display()),
        Place::File { path, line: None } => path.display().to_string(),
        Place::Variable { name } => format!("${name}"),
    }
}

fn grid(entries: &[Entry], with_origin: bool) -> Grid {
    let names = ["key", "value", "origin"];
    let row = |entry: &Entry| {
        let mut row = vec![json!(entry.key), entry.value.clone()];
        row.extend(with_origin.then(|| json!(entry.origin)));
        row
    };
    Grid::new(names.into_iter().take(2 + usize::from(with_origin)), entries.iter().map(row).collect())
}

fn drawn(entries: &[Entry], with_origin: bool, printer: &Printer) -> String {
    let ink = printer.ink;
    let here = std::env::current_dir().map(|folder| format!("{}/", folder.display())).unwrap_or_default();
    let mut columns = vec![(ink.dim("key"), Side::Left), (ink.dim("value"), Side::Left)];
    columns.extend(with_origin.then(|| (ink.dim("origin"), Side::Left)));
    let row = |entry: &Entry| {
        let value = if entry.value.is_null() { "~".to_owned() } else { plain(&entry.value) };
        let is_default = entry.origin == "default";
        let mut row = vec![entry.key.to_owned(), text::visible(&value)];
        row.extend(with_origin.then(|| {
            if is_default {
                ink.dim(&entry.origin)
            } else {
                ink.live(&text::visible(near(&entry.origin, &here)))
            }
        }));
        row
    };
    table::plain(&columns, entries.iter().map(row).collect(), printer.width())
}

/// A file of this folder without the folder, which a person knows.
fn near<'a>(origin: &'a str, here: &str) -> &'a str {
    origin.strip_prefix(here).unwrap_or(origin)
}

fn warn_if_passed_over(origin: &Origin, printer: &mut Printer) {
    if is_passed_over(origin) {
        printer.warn(
            "settings.yaml is passed over: it has none of our sections; telemetry config check settings.yaml says more",
        );
    }
}

/// Answers no where the file is wrong; that it cannot be read is another matter.
fn check(command: &ConfigCheck, printer: &mut Printer) -> Result<Outcome, Failure> {
    let lookup = Lookup::from_process();
    let loaded = match &command.file {
        Some(file) if !file.exists() => {
            let source = nix::errno::Errno::ENOENT.into();
            return Err(Failure::File { path: file.clone(), doing: "read", source });
        }
        Some(file) => Settings::load_file(file, &lookup),
        None => Settings::load_from(&lookup),
    };
    let loaded = match loaded {
        Err(error @ SettingsError::Invalid { .. }) => {
            printer.data(&format!("{error}\n"))?;
            return Ok(Outcome::CheckFailed);
        }
        other => other?,
    };
    warn_if_passed_over(&loaded.origin, printer);
    let what = match &loaded.origin {
        Origin::File(path) => path.display().to_string(),
        Origin::BuiltIn => "the built-in defaults (no file with our sections was found)".to_owned(),
    };
    let given = text::count(loaded.places.len(), "key");
    printer.data(&format!("{} {what}: {given} given, all right\n", printer.ink.good("✓")))?;
    for (key, variable) in &loaded.overrides {
        printer.data(&format!("  {key} is overridden by ${variable}\n"))?;
    }
    if !loaded.ignored.is_empty() {
        printer.data(&format!("  without a meaning here: {}\n", loaded.ignored.join(", ")))?;
    }
    Ok(Outcome::Done)
}
