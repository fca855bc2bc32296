//! The three of the campaign `tap`: a program that records events, one that watches it, one that drains it.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;
use telemetry::store::{OutsideDrain, Store, StoreOptions};
use telemetry::{Recorder, Tap, What, Workflow, event};
use telemetry_journal::{DrainLock, find_journals};

use crate::ledger::{Accepted, Ledger};
use crate::options::Options;

/// Records events until killed, each with its number in its thread.
pub(crate) fn produce(options: Options) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::new(options.acknowledge)?;
    let _recorder = Recorder::start_with_found_settings()?;
    let workflow = Workflow::start("produced");
    let context = workflow.context();
    thread::scope(|scope| {
        for thread in 0..options.threads {
            let ledger = &ledger;
            scope.spawn(move || {
                context.run(|| {
                    for number in 0..options.tasks.unwrap_or(u64::MAX) {
                        event!(CUSTOM, "produced", number, thread = thread);
                        ledger.tell(Accepted::End, thread, number, 0);
                    }
                });
            });
        }
    });
    Ok(())
}

/// Watches the one program of a folder to its end, and prints what was seen and missed. Says when it begins.
pub(crate) fn watch(folder: &Path, pause: Duration) -> Result<(), Box<dyn Error>> {
    let mut stdout = std::io::stdout();
    let path = loop {
        if let Some(path) = find_journals(folder)?.pop() {
            break path;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let mut tap = Tap::open(&path)?;
    writeln!(stdout, "watching")?;
    let mut events = 0;
    loop {
        let is_over = tap.is_over();
        let seen = tap.look()?;
        events += seen.iter().filter(|seen| matches!(seen.what, What::Event { .. })).count();
        if is_over {
            // A look is bounded; the last one is the one that finds nothing.
            if seen.is_empty() {
                break;
            }
        } else {
            thread::sleep(pause);
        }
    }
    let sightings = tap.sightings();
    let (seen, missed, before) = (sightings.seen, sightings.missed, sightings.before);
    writeln!(stdout, "{}", json!({"seen": seen, "missed": missed, "before": before, "events": events}))?;
    Ok(())
}

/// Drains a folder until killed, once it is its turn.
pub(crate) fn drain(folder: &Path) -> Result<(), Box<dyn Error>> {
    let lock = loop {
        if let Some(lock) = DrainLock::try_take(&folder.join("journal"))? {
            break lock;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let store = Store::open(&folder.join("provenance.db"), StoreOptions::default())?;
    let mut drain = OutsideDrain::new(store, lock);
    loop {
        let pass = drain.pass()?;
        if !pass.warnings.is_empty() {
            return Err(pass.warnings.join("\n").into());
        }
        thread::sleep(Duration::from_millis(1));
    }
}
