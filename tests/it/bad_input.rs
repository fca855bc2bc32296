//! What a program finds in its way: it warns once, and the host's output and exit code stay the same.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::programs::{Place, succeed};

/// Runs the small program here and compares it with the one that does without us. Answers the warnings.
fn run_like_bare(place: &Place, variables: &[(&str, &str)]) -> String {
    compare_with_bare(place, place.program("small").envs(variables.iter().copied()))
}

fn compare_with_bare(place: &Place, program: &mut Command) -> String {
    let Output { status, stdout, stderr } = program.output().expect("the program starts");
    let bare = place.program("small_bare").output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&stdout), text(&bare.stdout));
    assert_eq!(status.code(), bare.status.code());
    assert_eq!(status.code(), Some(7));
    text(&stderr)
}

/// The small program must warn once, with these words.
fn check(place: &Place, variables: &[(&str, &str)], words: &[&str]) {
    let warnings = run_like_bare(place, variables);
    let count = warnings.lines().filter(|line| line.starts_with("telemetry: ")).count();
    assert_eq!(count, 1, "{warnings}");
    for word in words {
        assert!(warnings.contains(word), "{word:?} is missing in: {warnings}");
    }
}

/// The small program's tasks are in the database.
fn check_recorded(place: &Place) {
    assert_eq!(place.table("select count(*) from tasks where status = 'FINISHED'"), "4\n");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("the folder is there");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A database of somebody else, or one that sqlite3 changes.
fn write_database(place: &Place, sql: &str) {
    fs::create_dir_all(place.path(".telemetry")).expect("a folder");
    succeed(std::process::Command::new("sqlite3").arg(place.database()).arg(sql).output());
}

#[test]
fn nothing_in_the_way_means_no_warning() {
    let place = Place::new();
    assert_eq!(run_like_bare(&place, &[]), "");
    check_recorded(&place);
}

#[test]
fn a_damaged_database_is_put_aside() {
    let place = Place::new();
    let noise = b"this is no database at all ".repeat(1_000);
    fs::create_dir_all(place.path(".telemetry")).expect("a folder");
    fs::write(place.database(), &noise).expect("a file");
    check(&place, &[], &["provenance.db", "damaged"]);
    check_recorded(&place);
    let kept = names(&place.path(".telemetry")).into_iter().find(|name| name.contains(".damaged-"));
    let kept = place.path(".telemetry").join(kept.expect("the file is kept"));
    assert_eq!(fs::read(kept).expect("a file"), noise);
}

#[test]
fn a_foreign_database_is_refused_and_left_alone() {
    let place = Place::new();
    write_database(&place, "create table customers (name text); insert into customers values ('Ada')");
    let before = fs::read(place.database()).expect("a file");
    check(&place, &[], &["provenance.db", "not a telemetry store", "nothing is recorded"]);
    assert_eq!(fs::read(place.database()).expect("a file"), before);
}

#[test]
fn a_newer_database_is_refused() {
    let place = Place::new();
    run_like_bare(&place, &[]);
    write_database(&place, "pragma user_version = 4711");
    check(&place, &[], &["provenance.db", "4711", "nothing is recorded"]);
    check_recorded(&place);
}

#[test]
fn a_folder_in_place_of_the_database_is_refused() {
    let place = Place::new();
    fs::create_dir_all(place.database().join("precious")).expect("a folder");
    check(&place, &[], &["provenance.db", "nothing is recorded"]);
    assert!(place.database().join("precious").is_dir());
}

#[test]
fn a_folder_that_cannot_be_made_costs_the_recording_only() {
    let place = Place::new();
    fs::write(place.path(".telemetry"), "not a folder").expect("a file");
    check(&place, &[], &[".telemetry", "nothing is recorded", "exists"]);
    assert_eq!(fs::read_to_string(place.path(".telemetry")).expect("a file"), "not a folder");
    let nowhere = [("TELEMETRY_STORE__PATH", "/proc/nowhere/provenance.db")];
    check(&Place::new(), &nowhere, &["/proc/nowhere", "nothing is recorded"]);
    let no_journal = [("TELEMETRY_JOURNAL__DIR", "/proc/nowhere")];
    check(&Place::new(), &no_journal, &["/proc/nowhere", "nothing is recorded"]);
}

/// The small program, none of whose files may be longer than this.
fn limited(place: &Place, bytes: u64) -> Command {
    let program = place.program("small");
    let mut command = Command::new("prlimit");
    command.arg(format!("--fsize={bytes}")).arg(program.get_program()).args(program.get_args());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(place.path("."));
    command
}

#[test]
fn a_limit_on_the_length_of_files_never_ends_the_program() {
    for kibibytes in [4, 16, 64, 200, 300, 500, 800, 1_000, 1_200, 2_000] {
        let place = Place::new();
        let warnings = compare_with_bare(&place, &mut limited(&place, kibibytes * 1024));
        assert!(kibibytes > 1_000 || warnings.starts_with("telemetry: "), "{kibibytes} KiB: {warnings}");
    }
    // Room for a database, and for small lanes only.
    let place = Place::new();
    let mut limited_lanes = limited(&place, 4 << 20);
    limited_lanes.env("TELEMETRY_JOURNAL__LANE_BYTES", "8388608");
    let warnings = compare_with_bare(&place, &mut limited_lanes);
    assert!(warnings.contains("recording with lanes of 65536 bytes"), "{warnings}");
    check_recorded(&place);
    let place = Place::new();
    assert_eq!(compare_with_bare(&place, &mut limited(&place, 16 << 20)), "");
    check_recorded(&place);
}

#[test]
fn a_foreign_journal_is_put_aside() {
    let place = Place::new();
    fs::create_dir_all(place.path(".telemetry/journal")).expect("a folder");
    fs::write(place.path(".telemetry/journal/0123.journal"), "no journal").expect("a file");
    check(&place, &[], &["0123.journal", "damaged-1"]);
    check_recorded(&place);
    assert_eq!(names(&place.path(".telemetry/journal")), ["0123.journal.damaged-1"]);
}

/// The journal of a program that was killed with a task in flight, and its place.
fn killed() -> (Place, std::path::PathBuf) {
    let place = Place::new();
    place.start("one_is_open").kill();
    let folder = place.path(".telemetry/journal");
    let journal = folder.join(&names(&folder)[0]);
    (place, journal)
}

#[test]
fn a_newer_journal_is_left_for_a_newer_program() {
    let (place, journal) = killed();
    let mut bytes = fs::read(&journal).expect("a journal");
    bytes[8] = 99;
    fs::write(&journal, &bytes).expect("a journal");
    check(&place, &[], &["99", "journal"]);
    assert_eq!(fs::read(&journal).expect("it is still there"), bytes);
}

#[test]
fn a_journal_that_is_cut_short_harms_nobody() {
    for length in [0, 100, 16_384, 20_000, 500_000] {
        let (place, journal) = killed();
        fs::File::options().write(true).open(&journal).and_then(|file| file.set_len(length)).expect("cut");
        run_like_bare(&place, &[]);
        let finished = "select count(*) from tasks t join workflows w using (workflow_id)
            where w.name = 'small' and t.status = 'FINISHED'";
        assert_eq!(place.table(finished), "4\n", "cut to {length}");
        assert_eq!(place.table("pragma integrity_check"), "ok\n");
    }
}

#[test]
fn a_journal_with_flipped_bits_harms_nobody() {
    let (place, journal) = killed();
    let sound = fs::read(&journal).expect("a journal");
    fs::remove_file(&journal).expect("it is ours");
    for step in 0..12 {
        let mut bytes = sound.clone();
        for at in (step * 37..bytes.len()).step_by(4_099 * (step + 1)) {
            bytes[at] ^= 1 << (at % 8);
        }
        fs::write(&journal, bytes).expect("a journal");
        run_like_bare(&place, &[]);
        let _ = fs::remove_file(&journal);
    }
    assert_eq!(
        place.table("select count(*) from workflows where name = 'small' and status = 'FINISHED'"),
        "12\n"
    );
    assert_eq!(place.table("pragma integrity_check"), "ok\n");
}

#[test]
fn bad_settings_cost_the_values_and_say_where_they_are_bad() {
    let place = Place::new();
    fs::write(place.path("settings.yaml"), "capture:\n  defualt_level: full\n").expect("a file");
    check(&place, &[], &["settings.yaml", "2", "defualt_level", "default_level", "lightweight"]);
    check_recorded(&place);
    let captured = "select group_concat(distinct level), count(used), count(telemetry_at_start) from tasks";
    assert_eq!(place.table(captured), "lightweight|0|0\n");
}

#[test]
fn bad_variables_cost_the_values_too() {
    let place = Place::new();
    let bad = [("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "everything")];
    check(&place, &bad, &["TELEMETRY_CAPTURE__DEFAULT_LEVEL", "everything", "lightweight"]);
    check_recorded(&place);
}
