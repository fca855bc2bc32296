//! Events at full speed, while nobody, one or eight watch: what an event costs, and that who watches costs nothing.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use telemetry::{Sightings, Tap, event};

use crate::cores;
use crate::options::Options;
use crate::recording::Recording;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, time_each};

const ROUNDS: usize = 101;
/// Less than a lane holds, so that nobody waits for the drain.
const BURST: usize = 8_000;
const WATCHERS: usize = 8;
/// Between two looks of one who watches.
const PAUSE: Duration = Duration::from_millis(1);

const COST: Target = Target {
    goal: 12,
    name: "an event, in a burst, more than an empty loop",
    unit: "ns",
    limit: 40.0,
    bound: Bound::AtMost,
};
const ONE: Target = watched("an event while one watches / while nobody does");
const EIGHT: Target = watched("an event while eight watch / while nobody does");

const fn watched(name: &'static str) -> Target {
    Target { goal: 12, name, unit: "ns", limit: 1.1, bound: Bound::AtMost }
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let recording = Recording::start()?;
    let journal = journal(&recording.database())?;
    let burst = || {
        let each = time_each(BURST, events);
        recording.flush();
        each
    };
    let rounds = Rounds::alternate(options.rounds(ROUNDS), burst, || time_each(BURST, empty));
    let note = format!("{:.1} ns in all", rounds.ours());
    report.figure(COST, rounds.ours() - rounds.other(), note);
    let watching = Watching::default();
    let (watching, journal) = (&watching, &*journal);
    let sightings = thread::scope(|scope| {
        let watchers: Vec<_> = cores::apart(|| {
            (0..WATCHERS).map(|number| scope.spawn(move || watching.watch(journal, number))).collect()
        });
        for (target, count) in [(ONE, 1), (EIGHT, WATCHERS)] {
            let while_watched = || watching.by(count, burst);
            report.ratio(
                target,
                &Rounds::alternate(options.rounds(ROUNDS), while_watched, || watching.by(0, burst)),
            );
        }
        watching.is_over.store(true, Ordering::Release);
        watchers
            .into_iter()
            .map(|watcher| watcher.join().expect("to watch does not panic"))
            .collect::<Vec<_>>()
    });
    let persisted = recording.counters().persisted;
    for seen in &sightings {
        assert_eq!(seen.before + seen.seen + seen.missed, persisted, "{seen:?}");
    }
    let (seen, missed) = sightings.iter().fold((0, 0), |sum, it| (sum.0 + it.seen, sum.1 + it.missed));
    println!("   {WATCHERS} watched {persisted} records: {seen} seen, {missed} missed, each sum exact");
    recording.stop();
    Ok(())
}

fn events() {
    for number in 0..BURST {
        event!(TRANSFER, "tx_bytes", black_box(number), unit = "B");
    }
}

fn empty() {
    for number in 0..BURST {
        black_box(number);
    }
}

/// The one journal beside this database.
fn journal(database: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let folder = database.with_file_name("journal");
    let paths = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let journal =
        paths.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "journal"));
    Ok(journal.ok_or("there is no journal")?)
}

/// How many watch now.
#[derive(Debug, Default)]
struct Watching {
    count: AtomicUsize,
    is_over: AtomicBool,
}

impl Watching {
    fn by<T>(&self, count: usize, work: impl FnOnce() -> T) -> T {
        self.count.store(count, Ordering::Release);
        let done = work();
        self.count.store(0, Ordering::Release);
        done
    }

    fn watch(&self, journal: &Path, number: usize) -> Sightings {
        let mut tap = Tap::open(journal).expect("the journal is there");
        while !self.is_over.load(Ordering::Acquire) {
            if number < self.count.load(Ordering::Acquire) {
                black_box(tap.look().expect("the journal is whole"));
            }
            thread::sleep(PAUSE);
        }
        while !tap.look().expect("the journal is whole").is_empty() {}
        tap.sightings()
    }
}
