//! What the places were told, once, before anything is recorded.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::panic::Location;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static PLAN: OnceLock<Plan> = OnceLock::new();

#[derive(Debug)]
enum Plan {
    /// Each place writes its name as it is reached.
    List(File),
    Fail {
        site: String,
        is_always: bool,
        has_failed: AtomicBool,
    },
}

/// From now on, each place that is reached appends its name to this file.
pub fn list_to(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let _ = PLAN.set(Plan::List(file));
    Ok(())
}

/// From now on, this place panics, each time or only the first.
pub fn fail_at(site: &str, is_always: bool) {
    let _ = PLAN.set(Plan::Fail { site: site.to_owned(), is_always, has_failed: AtomicBool::new(false) });
}

pub(super) fn reach(place: &Location<'_>, moment: &str) {
    let name = || format!("{}:{}:{moment}", place.file(), place.line());
    match PLAN.get() {
        Some(Plan::List(file)) => {
            let mut file: &File = file;
            // In one piece: several threads and processes append.
            let _ = file.write_all(format!("{}\n", name()).as_bytes());
        }
        Some(Plan::Fail { site, is_always, has_failed }) if *site == name() => {
            assert!(has_failed.swap(true, Ordering::Relaxed) && !is_always, "failpoint {site}");
        }
        _ => {}
    }
}
