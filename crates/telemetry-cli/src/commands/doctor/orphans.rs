//! Tasks that belong to nothing.

use std::path::Path;

use telemetry_store::Reader;

use super::check::Check;
use crate::text::count;

/// None where the database cannot be read, which another check says.
pub(super) fn check(database: &Path) -> Option<Check> {
    let orphans = Reader::open(database).and_then(|reader| reader.orphans()).ok()?;
    let mut details = Vec::new();
    if orphans.without_workflow > 0 {
        details.push(format!("{} without a workflow", count(orphans.without_workflow, "task")));
    }
    if orphans.without_start > 0 {
        details.push(format!("{} of which only the end is known", count(orphans.without_start, "task")));
    }
    Some(if details.is_empty() {
        Check::ok("orphans", "every task has a workflow and a start")
    } else {
        let remedy = "telemetry recover may bring the rest in; begin a workflow before the first task";
        Check::warn("orphans", details.join("\n"), remedy)
    })
}
