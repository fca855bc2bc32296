//! Long runs in orders that are drawn: `cargo xtask torture shuttle`.
//!
//! Unlike loom, shuttle takes loads and stores as they come, one after the other; in return a run may be as long as it
//! likes, so that the ring goes round many times while a drain and two taps are at it.

use std::time::{Duration, Instant};

use super::Role::{self, Drains, Produces, Watches};
use super::play_once;

const SCHEDULES: usize = 1_000;
/// Changes of who may go on that a run of the second kind has: few of them find most faults.
const CHANGES: usize = 3;

const ROLES: &[Role] = &[Produces(24), Drains(16), Watches(12), Watches(2)];

/// Runs a kind of schedules for as long as the environment says, and once at least; prints how many there were.
fn draw(name: &str, run: fn(usize)) {
    #[expect(clippy::disallowed_methods, reason = "a test is told by its campaign how long it may take")]
    let seconds = std::env::var("TELEMETRY_TEST_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    let mut schedules = 0;
    while schedules == 0 || Instant::now() < end {
        run(SCHEDULES);
        schedules += SCHEDULES;
    }
    #[expect(clippy::print_stdout, reason = "the campaign reads it")]
    let () = println!("schedules {name} {schedules}");
}

#[test]
fn any_thread_goes_on_at_any_time() {
    draw("random", |schedules| shuttle::check_random(|| play_once(ROLES), schedules));
}

#[test]
fn a_thread_goes_on_until_it_loses_its_turn() {
    draw("turns", |schedules| shuttle::check_pct(|| play_once(ROLES), schedules, CHANGES));
}
