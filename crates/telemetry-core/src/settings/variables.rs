//! Variables with names of their own, for what is changed from run to run: whether, where, how large, how often.
//!
//! They come after the file and before `TELEMETRY_<SECTION>__<KEY>`. Unlike those they are often set once for
//! many programs, so a wrong value is a warning, and the settings stay as they would be without it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{Settings, environment};

/// The bytes of a lane that one event is given.
const EVENT_BYTES: u64 = 256;
const LANE_BYTES: std::ops::RangeInclusive<u64> = 4096..=1 << 30;
const INTERVAL_MS: std::ops::RangeInclusive<u64> = 1..=24 * 60 * 60 * 1000;

/// What the variables said.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The keys that were changed, each with the name of its variable.
    pub(super) names: Vec<(String, String)>,
    /// The values that are wrong.
    pub(super) warnings: Vec<String>,
}

/// A variable: its name, the key that it changes, how it does so, and what its value must be.
type Variable = (&'static str, &'static str, fn(&OsStr, &mut Settings) -> Option<()>, &'static str);

const VARIABLES: [Variable; 4] = [
    (environment::ENABLE, "instrumentation.enabled", enable, "1 or 0, true or false, yes or no, on or off"),
    (environment::DIR, "store.path", folder, "a folder"),
    (environment::BUFFER_SIZE, "journal.lane_bytes", buffer_size, "a number of events, 1 to 4194304"),
    (
        environment::RUN_INTERVAL,
        "journal.drain_interval_ms",
        run_interval,
        "a number of milliseconds, 1 to 86400000",
    ),
];

/// Changes the settings as the variables say.
pub(super) fn apply(variables: &BTreeMap<String, OsString>, settings: &mut Settings) -> Said {
    let mut said = Said::default();
    for (name, key, change, wanted) in VARIABLES {
        let Some(value) = variables.get(name) else { continue };
        match change(value, settings) {
            Some(()) => said.names.push((key.to_owned(), name.to_owned())),
            None => said.warnings.push(format!(
                "{name} is {:?}, which is not {wanted}; it has no effect",
                super::report::shown(&value.to_string_lossy())
            )),
        }
    }
    said
}

fn enable(value: &OsStr, settings: &mut Settings) -> Option<()> {
    settings.instrumentation.enabled = match &*value.to_str()?.to_ascii_lowercase() {
        "1" | "true" | "yes" | "on" | "y" => true,
        "0" | "false" | "no" | "off" | "n" => false,
        _ => return None,
    };
    Some(())
}

/// The folder holds the database, and beside it the journals.
fn folder(value: &OsStr, settings: &mut Settings) -> Option<()> {
    if value.is_empty() {
        return None;
    }
    settings.store.path = Path::new(value).join("provenance.db");
    settings.journal.dir = None;
    Some(())
}

fn buffer_size(value: &OsStr, settings: &mut Settings) -> Option<()> {
    let events = number(value).filter(|events| *events > 0)?;
    let bytes = events.checked_mul(EVENT_BYTES)?.checked_next_power_of_two()?.max(*LANE_BYTES.start());
    settings.journal.lane_bytes = Some(bytes).filter(|bytes| LANE_BYTES.contains(bytes))?;
    Some(())
}

fn run_interval(value: &OsStr, settings: &mut Settings) -> Option<()> {
    settings.journal.drain_interval_ms = number(value).filter(|number| INTERVAL_MS.contains(number))?;
    Some(())
}

fn number(value: &OsStr) -> Option<u64> {
    value.to_str()?.trim().parse().ok()
}
