//! Recovery by hand, as `telemetry recover` does it.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use telemetry::export::session::complete_those_of_the_dead;
use telemetry_store::{Store, StoreOptions, recover};

/// Recovers what lies in `folder/journal` into `folder/provenance.db`.
pub(crate) fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut store = Store::open(&folder.join("provenance.db"), StoreOptions::default())?;
    let recovery = recover(&mut store, &folder.join("journal"))?;
    complete_those_of_the_dead(&mut store)?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&recovery)?)?;
    Ok(())
}
