//! Programs that only fill their journals, and another process that drains them.

use std::fs;
use std::path::Path;

use telemetry::store::{OutsideDrain, Store, StoreOptions};
use telemetry::{Recorder, Tap, Workflow, event};
use telemetry_journal::{Batch, DrainLock, OutsideJournal, Source, find_journals};

use crate::programs::{Place, say_ready};

const EVENTS: i64 = 20_000;
/// How often a test looks for something that is about to happen.
const LOOKS_MAX: usize = 1_000_000;

fn place(more: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("settings.yaml"), format!("journal: {{drain: external{more}}}\n")).unwrap();
    place
}

fn store(place: &Place) -> Store {
    Store::open(&place.database(), StoreOptions::default()).unwrap()
}

fn lock(place: &Place) -> Option<DrainLock> {
    DrainLock::try_take(&place.path(".telemetry/journal")).unwrap()
}

/// A program whose lane is far too small for what it records.
pub(crate) fn pours() {
    let _recorder = Recorder::start_with_found_settings().unwrap();
    let _workflow = Workflow::start("pours");
    say_ready();
    for number in 0..EVENTS {
        event!(CUSTOM, "poured", number, step = number % 3);
    }
}

#[test]
fn what_a_program_records_is_written_while_it_runs_and_after_it_died() {
    let place = place("");
    let program = place.start("tapped");
    assert!(!place.database().exists());
    let mut drain = OutsideDrain::new(store(&place), lock(&place).unwrap());
    let pass = drain.pass().unwrap();
    assert!(pass.records > 4 && pass.programs == 1 && pass.ended == 0, "{pass:?}");
    let standing =
        "select w.status, t.status, t.used, t.generated from workflows w join tasks t using (workflow_id)";
    assert_eq!(place.table(standing), "RUNNING|FINISHED|{\"x\":21}|{\"y\":42}\n");
    assert_eq!(place.table("select name, value from events"), "tx_bytes|1048576\n");
    let close =
        "select abs(started_at - unixepoch('now')) < 600, duration_ns between 1 and 60000000000 from tasks";
    assert_eq!(place.table(close), "1|1\n");
    program.kill();
    let pass = drain.pass().unwrap();
    assert_eq!((pass.ended, pass.warnings.len(), drain.programs()), (1, 0, 0), "{pass:?}");
    assert!(place.table(standing).starts_with("INTERRUPTED|FINISHED|"));
    let law = "select offered = persisted + torn, pending from health";
    assert_eq!(place.table(law), "1|0\n");
    assert_eq!(find_journals(&place.path(".telemetry/journal")).unwrap(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn one_drains_at_a_time_and_the_next_repeats_nothing() {
    let place = place("");
    let program = place.start("tapped");
    let journal_of = |lock: &DrainLock| {
        let path = find_journals(lock.folder()).unwrap().remove(0);
        OutsideJournal::open(&path, lock).unwrap().unwrap()
    };
    // One that dies between the commit and the release.
    let first = lock(&place).unwrap();
    assert!(lock(&place).is_none() && DrainLock::is_held(first.folder()));
    assert_eq!(DrainLock::holder(first.folder()), Some(std::process::id()));
    let journal = journal_of(&first);
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    store(&place).apply(&journal, &batch).unwrap();
    let committed = place.table("select started_at, ended_at from tasks");
    drop((journal, first));
    assert!(!DrainLock::is_held(&place.path(".telemetry/journal")));
    // The next one finds the same again, at the same times.
    let mut drain = OutsideDrain::new(store(&place), lock(&place).unwrap());
    assert_eq!(drain.pass().unwrap().records, batch.len());
    assert_eq!(place.table("select started_at, ended_at from tasks"), committed);
    assert_eq!(place.table("select count(*) from events"), "1\n");
    // While there is a drain, a recovery leaves what is its own alone.
    program.kill();
    assert_eq!(place.recover().left_alone, 1);
    drop(drain);
    assert_eq!(place.recover().journals, 1);
}

#[test]
fn a_program_waits_for_the_drain_and_loses_nothing() {
    let place = place(", lane_bytes: 4096");
    let program = place.start("pours");
    let mut drain = OutsideDrain::new(store(&place), lock(&place).unwrap());
    let path = find_journals(drain.folder()).unwrap().remove(0);
    let mut tap = Tap::open(Path::new(&path)).unwrap();
    let mut looks = 0;
    while !tap.is_over() {
        drain.pass().unwrap();
        tap.look().unwrap();
        looks += 1;
        assert!(looks < LOOKS_MAX);
    }
    program.end();
    drain.pass().unwrap();
    tap.look().unwrap();
    let sums = "select labels ->> 'step', events, total from event_series order by 1";
    assert_eq!(place.table(sums), "0|6667|66663333\n1|6667|66670000\n2|6666|66656667\n");
    let health = "select offered, persisted, dropped_full from health";
    let [offered, persisted, dropped]: [u64; 3] = place
        .table(health)
        .trim()
        .split('|')
        .map(|number| number.parse().unwrap())
        .collect::<Vec<u64>>()
        .try_into()
        .unwrap();
    assert_eq!((offered, dropped), (persisted, 0));
    let sightings = tap.sightings();
    assert_eq!(sightings.before + sightings.seen + sightings.missed, persisted, "{sightings:?}");
}
