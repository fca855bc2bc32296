//! What a process does between its start and its end: another folder, root or user, another program, a pause, a second
//! recorder, tasks without one.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

use telemetry::{Recorder, Settings, Workflow, task, workflow};

use crate::hosts::Host;
use crate::programs::{Place, sqlite3, succeed};

const FINISHED: &str = "select count(*) from tasks where status = 'FINISHED'";

#[task]
fn step(number: u64) -> u64 {
    number
}

fn steps(count: u64) {
    (0..count).for_each(|number| drop(step(number).to_string()));
}

/// The program: tasks before, between and after two recorders.
pub(crate) fn stop_and_go() {
    steps(3);
    for count in [5, 9] {
        let recorder = Recorder::start_with_found_settings().expect("recording starts");
        steps(count);
        let flushed = recorder.stop(Duration::from_mins(1));
        assert_eq!(flushed.remaining, 0);
        steps(7);
    }
}

#[test]
fn tasks_without_a_recorder_are_none_and_a_process_may_have_one_after_the_other() {
    let place = Place::new();
    succeed(place.program("stop_and_go").env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data").output());
    assert_eq!(place.table(FINISHED), "14\n");
    let health = place.table("select offered = persisted, persisted from health order by persisted");
    assert_eq!(health, "1|10\n1|18\n");
    assert_eq!(place.path(".telemetry/journal").read_dir().expect("a folder").count(), 0);
}

/// The program: eight threads start a recorder at once, each for a database of its own.
pub(crate) fn two_starts() {
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let barrier = &barrier;
            scope.spawn(move || {
                let mut settings = Settings::default();
                settings.store.path = format!("store-{number}/provenance.db").into();
                barrier.wait();
                let recorder = Recorder::start(settings).expect("it starts, or is another handle");
                let workflow = Workflow::start("one of eight");
                steps(10);
                workflow.end();
                barrier.wait();
                drop(recorder);
            });
        }
    });
}

#[test]
fn the_first_of_many_starts_wins_and_the_others_record_with_it() {
    let place = Place::new();
    place.run("two_starts");
    let databases: Vec<_> = (0..8)
        .map(|number| place.path(&format!("store-{number}/provenance.db")))
        .filter(|path| path.exists())
        .collect();
    assert_eq!(databases.len(), 1, "{databases:?}");
    assert_eq!(succeed(sqlite3(&databases[0]).arg(FINISHED).output()), "80\n");
    assert_eq!(succeed(sqlite3(&databases[0]).arg("select count(*) from health").output()), "1\n");
}

/// The program: after some work it becomes another program, which lists its descriptors.
#[workflow]
pub(crate) fn becomes_another() {
    steps(10);
    let error = Command::new("ls").arg("/proc/self/fd").exec();
    panic!("{error}");
}

#[test]
fn another_program_in_the_same_process_inherits_nothing_and_the_records_are_recovered() {
    let place = Place::new();
    let listed = |is_recorded: &str| {
        let mut program = place.program("becomes_another");
        succeed(program.env("TELEMETRY_INSTRUMENTATION__ENABLED", is_recorded).output())
    };
    assert_eq!(listed("true"), listed("false"));
    place.recover();
    assert_eq!(place.table(FINISHED), "10\n");
    assert_eq!(place.table("select status from workflows"), "INTERRUPTED\n");
}

/// A host works, changes, and works on; everything is there in the end.
fn check_change(change: &str) {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: only the superuser may do this");
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("empty")).expect("a folder");
    let mut host = Host::start(place.program("obedient"));
    host.say("work 10");
    host.say("flush");
    host.say(change);
    host.say("work 20");
    host.say("flush");
    let warnings = host.end(&place);
    assert!(warnings.len() <= 2, "{warnings:#?}");
    place.recover();
    assert_eq!(place.table(FINISHED), "30\n");
    assert_eq!(place.table("select count(*), sum(offered = persisted) from health"), "1|1\n");
    assert_eq!(place.path("empty").read_dir().expect("a folder").count(), 0, "nothing is begun elsewhere");
}

#[test]
fn another_folder_changes_nothing() {
    check_change("folder empty");
}

#[test]
fn another_root_leaves_the_rest_for_a_recovery() {
    check_change("root empty");
}

#[test]
fn another_user_loses_nothing() {
    check_change("user");
}

#[test]
fn a_process_that_is_stopped_and_goes_on_has_sane_times() {
    let place = Place::new();
    let mut host = Host::start(place.program("obedient"));
    host.say("work 10");
    let signal = |name: &str| {
        let status = Command::new("kill").args([name, &host.id().to_string()]).status();
        assert!(status.expect("kill").success());
    };
    signal("-STOP");
    let stat = format!("/proc/{}/stat", host.id());
    while !fs::read_to_string(&stat).expect("it is there").contains(") T ") {
        std::hint::spin_loop();
    }
    signal("-CONT");
    host.say("work 10");
    assert_eq!(host.end(&place), Vec::<String>::new());
    let sane = "select count(*), sum(duration_ns between 0 and 3600e9 and ended_at >= started_at) from tasks";
    assert_eq!(place.table(sane), "20|20\n");
}
