//! The clock: what records are dated by.

use std::path::Path;
use std::time::Instant;

use telemetry_journal::clock;
use telemetry_store::Reader;

use super::check::Check;
use crate::text;

/// A record may be dated a little ahead of a clock that was set back.
const AHEAD_MAX_S: f64 = 5.0;
const READINGS: u32 = 10_000;

pub(super) fn checks(database: &Path) -> Vec<Check> {
    let mut checks = vec![cost()];
    checks.extend(order(database));
    checks
}

/// A reading that costs much makes every record cost much.
fn cost() -> Check {
    let begun = Instant::now();
    let mut last = clock::ticks();
    let mut is_back = false;
    for _ in 0..READINGS {
        let now = clock::ticks();
        is_back |= now < last;
        last = now;
    }
    let ns = begun.elapsed().as_nanos() / u128::from(READINGS);
    if is_back {
        return Check::fail("clock", "the tick counter went back", "take another clock source of the kernel");
    }
    Check::ok("clock", format!("a reading takes {ns} ns"))
}

fn order(database: &Path) -> Option<Check> {
    let latest_ns = Reader::open(database).and_then(|reader| reader.orphans()).ok()?.latest_ns?;
    let ahead_s = latest_ns as f64 / 1e9 - text::now_s();
    (ahead_s > AHEAD_MAX_S).then(|| {
        let detail = format!("the last record is dated {ahead_s:.0} s in the future");
        Check::warn("clock", detail, "look at the clocks of the machines that recorded")
    })
}
