//! A small database, the program, and masks for what differs from run to run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use telemetry::{Recorder, Settings, Task, Workflow};

/// Two workflows: a plain one, then one with nested, repeated and failing tasks.
pub(crate) fn database() -> &'static Path {
    static DATABASE: OnceLock<PathBuf> = OnceLock::new();
    DATABASE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
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
    settings.store.path = database.to_owned();
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

/// Replaces what differs from run to run.
pub(crate) fn mask(text: &str) -> String {
    let folder = database().parent().unwrap().parent().unwrap().to_str().unwrap();
    let text = text.replace(folder, "DIR").replace(database().to_str().unwrap(), "DIR/.telemetry/provenance.db");
    let lines: Vec<String> = text.split('\n').map(mask_line).collect();
    lines.join("\n")
}

fn mask_line(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, replacement) = recognize(rest, masked.chars().next_back());
        masked.push_str(&replacement.unwrap_or_else(|| first.to_string()));
        rest = &rest[length.max(first.len_utf8())..];
    }
    masked
}

/// What stands at the beginning of a text, if it differs from run to run.
fn recognize(text: &str, before: Option<char>) -> (usize, Option<String>) {
    let is_inside = before.is_some_and(|before| before.is_alphanumeric() || before == '.');
    let id_length = text.bytes().take_while(|byte| byte.is_ascii_hexdigit() || *byte == b'-').count();
    if !is_inside && [13, 18, 36].contains(&id_length) && text.get(8..9) == Some("-") {
        return (id_length, Some("ID".to_owned()));
    }
    let moment = "0000-00-00 00:00:00";
    let is_moment = text.get(..moment.len()).is_some_and(|text| {
        text.chars().map(|character| if character.is_ascii_digit() { '0' } else { character }).eq(moment.chars())
    });
    if !is_inside && is_moment {
        return (moment.len(), Some("MOMENT".to_owned()));
    }
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    if is_inside || digits == 0 {
        return (0, None);
    }
    let after = &text[digits..];
    for (unit, word) in [
        (" ns", "TIME"), (" µs", "TIME"), (" ms", "TIME"), (" s ago", "AGO"), (" s", "TIME"),
        (" KiB", "SIZE"), (" MiB", "SIZE"), (" GiB", "SIZE"), (" TiB", "SIZE"),
    ] {
        if let Some(rest) = after.strip_prefix(unit)
            && !rest.starts_with(char::is_alphanumeric)
        {
            return (digits + unit.len(), Some(word.to_owned()));
        }
    }
    // Unix seconds and nanoseconds.
    if digits >= 12 || text[..digits].contains('.') && digits >= 10 {
        return (digits, Some("NUMBER".to_owned()));
    }
    (digits, Some(text[..digits].to_owned()))
}
