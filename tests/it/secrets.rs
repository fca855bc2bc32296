//! No secret reaches a file or the output, wherever it is planted; and few names that are none are hidden.

pub(crate) mod corpus;
mod positions;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use telemetry::{Recorder, Settings, Workflow};
use telemetry_core::record::ProcessName;
use telemetry_core::redaction::{Redactor, Rule};
use telemetry_core::runtime::{Recording, RecordingOptions, StartedWorkflow};
use telemetry_journal::{Batch, Config, Journal, OnFull, Source};

use crate::programs::Place;
use corpus::{Search, Secret, secrets};
use positions::POSITIONS;

const SECRETS: usize = 10_000;
/// Each secret is planted so many times; 62 and 7 share no factor, and so every rule comes to every position.
const TIMES: usize = 5;
/// So many are given to the process itself.
const OF_PROCESS: usize = 200;

/// Names the rule that a program goes without.
const WITHOUT: &str = "TELEMETRY_TEST_WITHOUT_RULE";

const SETTINGS: &str = "
capture: {default_level: data}
journal: {lane_bytes: 67108864, lanes_max: 2}
redaction: {email: true, environment_allow: ['*']}
experiment: {campaign: 'run with password=Zq7Xw2Vr9Tk4Mn6B'}
";

fn plant(secrets: &[Secret], times: usize) {
    std::panic::set_hook(Box::new(|_| {}));
    for (number, secret) in secrets.iter().enumerate() {
        for time in 0..times {
            let (_, position) = POSITIONS[(number * 7 + number / 20 + time * 13) % POSITIONS.len()];
            position(secret);
        }
    }
}

/// A program that plants secrets and dies without putting anything away.
pub(crate) fn program() {
    let recorder = Recorder::start_with_found_settings().expect("recording starts");
    let workflow = Workflow::start("secrets");
    plant(&secrets(SECRETS), TIMES);
    workflow.end();
    assert_eq!(recorder.flush(Duration::from_mins(1)).remaining, 0);
    std::process::abort();
}

/// A program whose records are all too long for their lane.
pub(crate) fn spilling_program() {
    let _recorder = Recorder::start_with_found_settings().expect("recording starts");
    let (_, large) = POSITIONS.iter().find(|(name, _)| *name == "large record").expect("there is one");
    secrets(400).iter().for_each(large);
    std::process::abort();
}

/// A program that goes without one rule and says what is in its journal then.
#[expect(clippy::disallowed_methods, reason = "the name of the rule is no setting")]
pub(crate) fn program_without_rule() {
    let name = std::env::var(WITHOUT).expect("a rule");
    let settings = Settings::from_yaml(SETTINGS, "x.yaml".as_ref()).expect("good settings").settings;
    let redactor = Redactor::new(&settings.redaction).expect("no patterns").expect("redaction is on");
    let redactor = match Rule::from_word(&name) {
        Some(rule) => redactor.without(rule),
        None => redactor,
    };
    let journal = Journal::in_memory(Config {
        id: 1,
        lane_bytes: 1 << 26,
        lanes_max: 2,
        on_full: OnFull::Drop,
        wait_max: Duration::ZERO,
    });
    let options = RecordingOptions {
        journal,
        process: ProcessName::default(),
        settings,
        sensor: None,
        parent: None,
        inherited: None,
        redactor: Some(redactor),
    };
    let recording = Recording::install(options).expect("nothing else records");
    let workflow = StartedWorkflow::start("secrets", |_| {}).expect("it records");
    let secrets = secrets(POSITIONS.len() * Rule::ALL.len() / 4);
    workflow.context().run(|| plant(&secrets, 2));
    recording.remove();
    let leaks = leaks(journal, &Search::new(&secrets));
    writeln!(std::io::stdout(), "leaks: {leaks:#?}").expect("somebody reads this");
}

/// What is found in a journal.
fn leaks(journal: &'static Journal, search: &Search) -> Vec<String> {
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    assert!(batch.frames().count() > 1000);
    let in_frames = batch.frames().flat_map(|frame| search.leaks(frame.bytes));
    let names = (0..10_000).map_while(|number| journal.name(number));
    in_frames.chain(names.flat_map(|name| search.leaks(&name.bytes))).take(20).collect()
}

/// The same program, with everybody allowed everything unless it says otherwise.
fn without_umask(program: &Command) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(program.get_program()).args(program.get_args());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(program.get_current_dir().expect("it has a folder"));
    command
}

/// All files below a folder, which are for their owner only, as the folder is.
fn files(folder: &Path) -> Vec<PathBuf> {
    assert_eq!(mode(folder), 0o700, "{}", folder.display());
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn check_files(place: &Place, search: &Search, wanted: &[&str]) {
    let files = files(&place.path(".telemetry"));
    for ending in wanted {
        let is_there = files.iter().any(|path| path.to_string_lossy().contains(ending));
        assert!(is_there, "no {ending} in {files:?}");
    }
    for path in files {
        let leaks = search.leaks(&fs::read(&path).expect("a file"));
        assert!(leaks.is_empty(), "{}: {leaks:#?}", path.display());
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn ten_thousand_secrets_are_found_nowhere() {
    let secrets = secrets(SECRETS);
    let search = Search::new(&secrets);
    assert!(POSITIONS.len() >= 40);
    let place = Place::new();
    fs::write(place.path("settings.yaml"), SETTINGS).expect("a file");
    let mut program = place.program("secrets");
    program.arg("--");
    for (number, secret) in secrets.iter().take(OF_PROCESS).enumerate() {
        program.arg(&secret.text).args(["--db-password", &secret.needle]);
        program
            .env(format!("NOTE_{number}"), &secret.text)
            .env(format!("KEY_{number}_TOKEN"), &secret.needle);
    }
    let output = program.output().expect("the program starts");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(complaints.is_empty(), "{complaints}");
    assert!(search.leaks(&output.stdout).is_empty());
    check_files(&place, &search, &["provenance.db", "-wal", "-shm", ".journal"]);
    let planted = SECRETS * TIMES;
    let count = place.table("select count(*) from tasks");
    assert!(count.trim().parse::<usize>().expect("a number") >= planted * 9 / 10, "{count}");
    place.recover();
    check_files(&place, &search, &["provenance.db"]);
    let hidden =
        place.table("select count(*) from tasks where used like '%redacted%' or generated like '%redacted%'");
    assert!(hidden.trim().parse::<usize>().expect("a number") > planted / 2, "{hidden}");
}

#[test]
fn records_that_are_too_long_for_a_lane_leak_nothing_either() {
    let place = Place::new();
    let settings =
        SETTINGS.replace("lane_bytes: 67108864", "drain: external, on_full: drop, lane_bytes: 4096");
    fs::write(place.path("settings.yaml"), settings).expect("a file");
    let output = without_umask(&place.program("secrets_spilled")).output().expect("the program starts");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    check_files(&place, &Search::new(&secrets(400)), &[".journal", "spill-"]);
}

#[test]
fn without_any_one_rule_secrets_are_found() {
    let leaks = |without: &str| {
        let place = Place::new();
        let output = place.program("secrets_without_rule").env(WITHOUT, without).output();
        let text = crate::programs::succeed(output);
        text.rsplit_once("leaks: ").expect("it says so").1.trim().to_owned()
    };
    assert_eq!(leaks("nothing"), "[]");
    for rule in Rule::ALL {
        assert_ne!(leaks(rule.as_str()), "[]", "without {rule}");
    }
}

/// Names of fields and arguments out of the sources of popular crates, each a line.
const IDENTIFIERS: &str = include_str!("secrets/identifiers.txt");

#[test]
fn at_most_one_name_in_a_hundred_is_hidden_for_nothing() {
    let redactor = Redactor::new(&Settings::default().redaction).expect("no patterns").expect("it is on");
    let names: Vec<&str> = IDENTIFIERS.lines().collect();
    assert_eq!(names.len(), 1000);
    let hidden: Vec<&&str> = names.iter().filter(|name| redactor.name(name).is_some()).collect();
    assert!(hidden.len() <= 10, "{hidden:?}");
}
