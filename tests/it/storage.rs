//! Storage that fills up, goes away, is not what it seems, or cannot be written: the host goes on, and what was accepted
//! is kept or counted.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::hosts::{Host, Mount, check_own_files};
use crate::programs::{Place, sqlite3, succeed};

/// The host with small lanes and without snapshots: little to write, and little room for it.
fn program(place: &Place) -> Command {
    let mut command = place.program("obedient");
    command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data").env("TELEMETRY_JOURNAL__LANE_BYTES", "65536");
    command
}

/// The one warning, which holds these words.
#[track_caller]
fn check_warning(warnings: &[String], words: &[&str]) {
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    for word in words {
        assert!(warnings[0].contains(word), "{word:?} is missing in {warnings:?}");
    }
}

/// The database is sound, the law holds in it, and everything that was accepted is there.
#[track_caller]
fn check_law(place: &Place) -> [u64; 3] {
    assert_eq!(place.table("pragma integrity_check"), "ok\n");
    let law =
        "select sum(offered = persisted + pending + torn + dropped_full + dropped_oversize + dropped_nested
        + dropped_stopped), count(*), sum(pending + torn) from health";
    assert_eq!(place.table(law), "1|1|0\n");
    let counts = place.table(
        "select (select count(*) from tasks), (select count(*) from tasks where status = 'FINISHED'),
        (select dropped_full from health)",
    );
    let mut numbers = counts.trim().split('|').map(|number| number.parse().expect("a number"));
    [(); 3].map(|()| numbers.next().expect("three numbers"))
}

/// Fills what is left of a file system but for so many bytes.
fn fill(path: &Path, left: usize) {
    let block = vec![1; 4096];
    let mut file = fs::File::create(path).expect("a file");
    while std::io::Write::write_all(&mut file, &block).is_ok() {}
    let length = file.metadata().expect("a file").len();
    file.set_len(length.saturating_sub(left as u64)).expect("a shorter file");
}

#[test]
fn a_full_disk_is_waited_for_and_written_to_when_there_is_room_again() {
    let place = Place::new();
    let folder = place.path(".telemetry");
    let Some(mount) = Mount::new(&folder, "size=2m") else { return };
    let mut host = Host::start(program(&place));
    host.say("work 100");
    host.say("flush");
    fill(&folder.join("ballast"), 0);
    // Less than a lane holds, and more than the database has room for.
    host.say("work 200");
    host.say("flush");
    assert_eq!(place.table("select count(*) from tasks"), "100\n");
    mount.change("size=16m");
    host.say("work 100");
    host.say("flush");
    assert_eq!(place.table("select count(*), sum(status = 'FINISHED') from tasks"), "400|400\n");
    check_warning(&host.end(&place), &["cannot write for now", "full"]);
    assert_eq!(check_law(&place), [400, 400, 0]);
    assert!(place.table("select warnings from health").contains("cannot write for now"));
}

#[test]
fn a_disk_that_stays_full_costs_what_no_lane_holds_and_every_record_of_it_is_counted() {
    let place = Place::new();
    let folder = place.path(".telemetry");
    let Some(mount) = Mount::new(&folder, "size=2m") else { return };
    let mut command = program(&place);
    command.env("TELEMETRY_JOURNAL__WAIT_MS_MAX", "20");
    let mut host = Host::start(command);
    host.say("flush");
    fill(&folder.join("ballast"), 0);
    host.say("work 5000");
    let warnings = host.end(&place);
    check_warning(&warnings, &["cannot write for now"]);
    // It has ended; what its lanes held is recovered.
    mount.change("size=16m");
    assert_eq!(place.recover().journals, 1);
    let [tasks, finished, dropped] = check_law(&place);
    assert!(tasks > 100 && dropped > 5_000, "{tasks} tasks, {dropped} records dropped");
    let unfinished = tasks - finished;
    // START and END of each task are in a row or counted, and so is the END of the workflow.
    assert!(2 * tasks - unfinished + dropped - 10_000 <= 1, "{tasks} {finished} {dropped}");
}

#[test]
fn without_room_for_a_journal_memory_takes_its_place() {
    let place = Place::new();
    let folder = place.path("small");
    let Some(_mount) = Mount::new(&folder, "size=64k") else { return };
    let mut command = place.program("obedient");
    command.env("TELEMETRY_JOURNAL__DIR", &folder);
    let mut host = Host::start(command);
    host.say("work 1000");
    check_warning(&host.end(&place), &["recording in memory", "does not survive"]);
    assert_eq!(check_law(&place), [1000, 1000, 0]);
    assert_eq!(folder.read_dir().expect("the folder").count(), 0);
}

#[test]
fn a_file_system_for_reading_only_costs_the_recording_only() {
    let place = Place::new();
    let folder = place.path(".telemetry");
    let Some(mount) = Mount::new(&folder, "size=2m") else { return };
    mount.change("ro");
    let mut host = Host::start(program(&place));
    host.say("work 10");
    check_warning(&host.end(&place), &["nothing is recorded", "Read-only"]);
}

#[test]
fn an_empty_environment_changes_nothing() {
    let place = Place::new();
    let mut command = place.program("obedient");
    for name in ["HOME", "USER", "LOGNAME", "PATH", "LANG", "TMPDIR", "XDG_CONFIG_HOME"] {
        command.env_remove(name);
    }
    let mut host = Host::start(command);
    host.say("work 10");
    assert_eq!(host.end(&place), Vec::<String>::new());
    assert_eq!(check_law(&place), [10, 10, 0]);
}

/// The host below a limit of the system.
fn limited(place: &Place, limit: &str) -> Host {
    let program = program(place);
    let mut command = Command::new("prlimit");
    command.arg(limit).arg(program.get_program()).args(program.get_args());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(place.path("."));
    Host::start(command)
}

#[test]
fn few_descriptors_never_end_the_host() {
    let mut recorded = 0;
    // Fewer are not enough for the host itself.
    for descriptors in 6..24 {
        let place = Place::new();
        let mut host = limited(&place, &format!("--nofile={descriptors}"));
        host.say("work 10");
        let warnings = host.end(&place);
        assert!(warnings.len() <= 2, "{descriptors}: {warnings:#?}");
        let is_there = place.database().exists() && place.recover().warnings.is_empty();
        let count = || place.table("select count(*) from tasks where status = 'FINISHED'");
        if is_there && count() == "10\n" {
            recorded += 1;
        } else {
            assert!(!warnings.is_empty(), "{descriptors}: nothing is recorded, and nobody is told");
        }
    }
    assert!(recorded > 0, "more descriptors than a recorder needs are enough");
}

#[test]
fn little_memory_never_ends_the_host() {
    // Below this, an allocation of ours may be the first that fails, which ends any program.
    for mebibytes in [512, 768] {
        let place = Place::new();
        let mut host = limited(&place, &format!("--as={}", mebibytes << 20));
        host.say("work 10");
        let warnings = host.end(&place);
        assert!(warnings.len() <= 2, "{mebibytes} MiB: {warnings:#?}");
    }
}

/// A program works, something happens to its files, and it works on.
fn interrupted_by(change: impl Fn(&Place)) -> (Place, Vec<String>) {
    let place = Place::new();
    let mut host = Host::start(program(&place));
    host.say("work 10");
    host.say("flush");
    change(&place);
    host.say("work 20");
    host.say("flush");
    host.say("work 5");
    let warnings = host.end(&place);
    assert_eq!(place.table("pragma integrity_check"), "ok\n");
    (place, warnings)
}

const FINISHED: &str = "select count(*) from tasks where status = 'FINISHED'";

#[test]
fn a_database_that_is_deleted_is_begun_again() {
    let (place, warnings) = interrupted_by(|place| {
        for name in ["provenance.db", "provenance.db-wal", "provenance.db-shm"] {
            fs::remove_file(place.path(".telemetry").join(name)).expect("it is there");
        }
    });
    check_warning(&warnings, &["provenance.db", "deleted or replaced"]);
    assert_eq!(place.table(FINISHED), "25\n");
}

#[test]
fn a_log_that_is_deleted_loses_nothing() {
    let (place, warnings) = interrupted_by(|place| {
        fs::remove_file(place.path(".telemetry/provenance.db-wal")).expect("it is there");
    });
    check_warning(&warnings, &["provenance.db", "deleted or replaced"]);
    assert_eq!(place.table(FINISHED), "35\n");
}

#[test]
fn a_database_that_is_moved_keeps_its_rows_and_a_new_one_gets_the_rest() {
    let (place, warnings) = interrupted_by(|place| {
        fs::rename(place.database(), place.path("moved.db")).expect("it is there");
    });
    check_warning(&warnings, &["provenance.db", "deleted or replaced"]);
    assert_eq!(place.table(FINISHED), "25\n");
    assert_eq!(succeed(sqlite3(&place.path("moved.db")).arg(FINISHED).output()), "10\n");
}

#[test]
fn a_folder_that_is_deleted_is_made_again() {
    let (place, warnings) =
        interrupted_by(|place| fs::remove_dir_all(place.path(".telemetry")).expect("it is there"));
    let told = |words: &str| warnings.iter().filter(|warning| warning.contains(words)).count();
    assert_eq!((told("deleted or replaced"), told("the journal was deleted")), (1, 1), "{warnings:#?}");
    assert_eq!(warnings.len(), 2, "{warnings:#?}");
    assert_eq!(place.table(FINISHED), "25\n");
}

#[test]
fn descriptors_that_the_host_closes_are_not_written_to() {
    let place = Place::new();
    let mut host = Host::start(place.program("obedient"));
    host.say("work 100");
    host.say("flush");
    host.say("close");
    host.say("work 100");
    host.say("flush");
    let warnings = host.end(&place);
    check_warning(&warnings, &["descriptors were closed"]);
    check_own_files(&place);
    place.recover();
    assert_eq!(check_law(&place), [200, 200, 0]);
}

/// A library that makes folders called `shared` look as if they were on NFS.
fn pretended_network(place: &Place) -> std::path::PathBuf {
    let (source, library) = (place.path("network.c"), place.path("network.so"));
    let code = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <string.h>\n#include <sys/vfs.h>\n\
        int statfs(const char *path, struct statfs *answer) {\n\
        int (*real)(const char *, struct statfs *) = dlsym(RTLD_NEXT, \"statfs\");\n\
        int code = real(path, answer);\n\
        if (code == 0 && strstr(path, \"/shared\")) answer->f_type = 0x6969;\n\
        return code;\n}\n\
        int statfs64(const char *path, struct statfs64 *answer) {\n\
        return statfs(path, (struct statfs *)answer);\n}\n";
    fs::write(&source, code).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    let output = compiler.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

#[test]
fn on_a_network_file_system_the_lanes_are_local_and_there_is_no_shared_log() {
    let place = Place::new();
    let library = pretended_network(&place);
    fs::create_dir_all(place.path("shared")).expect("a folder");
    check_network(&place, |command| {
        command.env("LD_PRELOAD", &library);
    });
}

#[test]
fn on_a_file_system_that_a_program_serves_it_is_the_same() {
    let place = Place::new();
    let (real, shared) = (place.path("real"), place.path("shared"));
    fs::create_dir_all(&real).expect("a folder");
    let Some(_mount) = Mount::served(&real, &shared) else { return };
    check_network(&place, |_| ());
    assert!(real.join("provenance.db").exists(), "it was written through the mount");
}

/// Records into the folder `shared` of the place, is killed, and goes on.
fn check_network(place: &Place, prepare: impl Fn(&mut Command)) {
    let (shared, local) = (place.path("shared"), place.path("local"));
    fs::create_dir_all(&local).expect("a folder");
    let program = || {
        let mut command = program(place);
        prepare(&mut command);
        command.env("TMPDIR", &local);
        command.env("TELEMETRY_STORE__PATH", shared.join("provenance.db"));
        command
    };
    let files = |folder: &Path, end: &str| -> usize {
        let names = fs::read_dir(folder).into_iter().flatten().flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().ends_with(end)).count()
    };
    let mut host = Host::start(program());
    host.say("work 10");
    host.say("flush");
    let lanes = fs::read_dir(&local).expect("a folder").flatten().next().expect("one for this user").path();
    let lanes = fs::read_dir(lanes).expect("a folder").flatten().next().expect("one for this store").path();
    assert_eq!((files(&lanes, ".journal"), files(&shared.join("journal"), ".journal")), (1, 0));
    assert_eq!((files(&shared.join("journal"), ".elsewhere"), files(&shared, "-wal")), (1, 0));
    host.say("work 10");
    // Killed, and recovered by the next start, which finds the lanes by the pointer.
    let killed = Command::new("kill").args(["-9", &host.id().to_string()]).status();
    assert!(killed.expect("kill").success());
    drop(host);
    let mut host = Host::start(program());
    host.say("work 5");
    assert_eq!(host.end(place), Vec::<String>::new());
    let finished = succeed(sqlite3(&shared.join("provenance.db")).arg(FINISHED).output());
    assert_eq!((finished.as_str(), files(&lanes, ".journal")), ("25\n", 0));
}
