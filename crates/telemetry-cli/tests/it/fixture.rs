//! A small database, the program, and masks for what differs from run to run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use telemetry::{Recorder, Settings, Task, Workflow};

/// Two workflows: a plain one, then one with nested, repeated and failing tasks.
pub(crate) fn database() -> &'static Path {
    static DATABASE: OnceLock<PathBuf> = OnceLock::new();
    DATABASE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
        let _ = fs::remove_dir_all(&folder);
        let database = folder.join(".telemetry/provenance.db");
        let recorder = record_into(&database);
        record_plain();
        record_nested();
        assert_eq!(recorder.stop(Duration::from_secs(10)).remaining, 0);
        database
    })
}

pub(crate) fn record_into(database: &Path) -> Recorder {
    let mut settings = Settings::default();
    database.clone_into(&mut settings.store.path);
    Recorder::start(settings).unwrap()
}

fn record_plain() {
    let workflow = Workflow::start("plain");
    Task::start("step").used("x", 21).generated("y", 42).end();
    workflow.end();
}

fn record_nested() {
    let workflow = Workflow::start("nightly");
    let load = Task::start("load").used("path", "input.csv");
    let loaded = load.id().unwrap();
    load.generated("rows", 3).end();
    let train = Task::start("train").used("seed", 7).depends_on(loaded);
    train.run(|| {
        for number in 0..3 {
            let epoch = Task::start("epoch").used("number", number);
            epoch.run(|| {
                Task::start("batch").end();
                let batch = Task::start("batch").used("note", "a\tb\n\u{1b}[31mc");
                if number == 2 { batch.fail("loss is not a number\nat batch 2") } else { batch.end() }
            });
            if number == 2 { epoch.fail("a batch failed") } else { epoch.end() }
        }
    });
    train.fail("an epoch failed");
    workflow.fail("training failed");
}

/// The program on the database, in a pipe.
pub(crate) fn telemetry(arguments: &[&str]) -> Output {
    telemetry_on(database(), arguments)
}

pub(crate) fn telemetry_on(database: &Path, arguments: &[&str]) -> Output {
    command(arguments).arg("--database").arg(database).output().unwrap()
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_telemetry"));
    command.args(arguments).env_clear().env("TZ", "UTC").stdin(Stdio::null());
    command
}

/// Compares all that the program did: exit code, stdout, stderr.
pub(crate) fn check(output: &Output, expected: &str) {
    assert_eq!(masked(output), expected.trim_start_matches('\n'));
}

pub(crate) fn masked(output: &Output) -> String {
    let code = output.status.code().map_or("signal".to_owned(), |code| code.to_string());
    let part = |name: &str, bytes: &[u8]| match std::str::from_utf8(bytes).unwrap() {
        "" => String::new(),
        text => format!("-- {name}\n{}", mask(text)),
    };
    format!("{}{}-- exit {code}\n", part("stdout", &output.stdout), part("stderr", &output.stderr))
}

/// Replaces what differs from run to run, and gaps that depend on it by two spaces.
pub(crate) fn mask(text: &str) -> String {
    let folder = database().parent().unwrap().parent().unwrap().to_str().unwrap();
    let text = text.replace(folder, "DIR");
    let lines: Vec<String> = text.split('\n').map(mask_line).collect();
    lines.join("\n")
}

fn mask_line(line: &str) -> String {
    let content = line.trim_start();
    let indent = &line[..line.len() - content.len()];
    let parts: Vec<String> =
        content.split("  ").map(|part| mask_part(part.trim())).filter(|part| !part.is_empty()).collect();
    let mut masked = indent.to_owned() + &parts.join("  ");
    for (name, word) in FIELDS {
        if let Some(rest) = masked.strip_prefix(name).filter(|rest| !rest.is_empty()) {
            masked.truncate(masked.len() - rest.len());
            masked.push_str(word);
        }
    }
    masked
}

/// Fields whose values depend on the machine.
const FIELDS: [(&str, &str); 7] = [
    ("  command  ", "PROGRAM"),
    ("  code  ", "CODE"),
    ("  where  ", "HOST"),
    ("  telemetry  ", "TELEMETRY"),
    ("✓ schema  ", "VERSION"),
    ("✓ sqlite  ", "VERSION"),
    ("✓ gpu  ", "GPU"),
];

/// Fields of a line in a pipe, words of a line on a page.
fn mask_part(part: &str) -> String {
    let mut masked = String::new();
    let mut rest = part;
    while !rest.is_empty() {
        let (length, word) = recognize(rest);
        match word {
            Some(word) => masked.push_str(word),
            None => masked.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    masked
}

/// How long the word at the beginning of a text is, and what stands for it if it differs from run to run.
fn recognize(text: &str) -> (usize, Option<&'static str>) {
    let ages = [" s ago", " min ago"];
    let units = [" ns", " µs", " ms", " s", " KiB", " MiB", " GiB", " TiB"];
    let is_word = |character: char| character.is_alphanumeric() || "-.:_".contains(character);
    let word = text.find(|character| !is_word(character)).unwrap_or(text.len());
    let (first, after) = text.split_at(word);
    if text.starts_with("just now") {
        return ("just now".len(), Some("AGO"));
    }
    if [13, 18, 36].contains(&word) && first.get(8..9) == Some("-") && first.starts_with("01") {
        return (word, Some("ID"));
    }
    if word == 10 && first.starts_with("20") && first.matches('-').count() == 2 {
        return (word + 9, Some("MOMENT"));
    }
    if !first.starts_with(|character: char| character.is_ascii_digit()) || first.parse::<f64>().is_err() {
        let is_single = word == 0;
        return (if is_single { text.chars().next().map_or(0, char::len_utf8) } else { word }, None);
    }
    if let Some(unit) = ages.iter().find(|unit| after.starts_with(**unit)) {
        return (word + unit.len(), Some("AGO"));
    }
    let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    if let Some(unit) = units.iter().find(|unit| after.strip_prefix(**unit).is_some_and(ends)) {
        let mask = if unit.ends_with("iB") { "SIZE" } else { "TIME" };
        return (word + unit.len(), Some(mask));
    }
    // Unix seconds and nanoseconds.
    (word, (word >= 4).then_some("NUMBER"))
}
