//! How often verdicts are wrong, and how often they find what is there: pairs of runs on machines that are made up.
//!
//! A call takes a mean time, times log-normal noise, times a factor of 1 to 4 for the share of calls that something came in
//! the way of, times a drift that all calls of a run have in common. docs/cli.md has the figures.

use std::collections::BTreeMap;

use super::{ActivityChange, Sample, Verdict, judge};

const PAIRS: usize = 1_000;
/// Enough to tell more from less.
const FEWER_PAIRS: usize = 300;

/// Numbers that look random and are the same in every run (splitmix64).
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// What is compared, and on what machine.
#[derive(Clone, Copy, Debug)]
struct Setting {
    activities: usize,
    calls: usize,
    /// By which share calls differ among themselves.
    noise: f64,
    /// By which share whole runs do.
    drift: f64,
    /// How much longer the first activity takes in the second run: 1.1 is a tenth.
    slowdown: f64,
}

/// A machine as one has it: calls differ by 10 %, runs do not.
const USUAL: Setting = Setting { activities: 5, calls: 50, noise: 0.1, drift: 0.0, slowdown: 1.0 };
/// One call in 20 takes up to four times as long.
const HICCUPS: f64 = 0.05;

impl Setting {
    fn run(self, dice: &mut Dice, slowdown: f64) -> BTreeMap<String, Sample> {
        let drift = (self.drift * dice.normal()).exp();
        let mut sample = |number: usize| {
            let mean_ns = 2_000.0 * (number + 1) as f64 * drift * if number == 0 { slowdown } else { 1.0 };
            let durations_ns = (0..self.calls).map(|_| self.duration(dice, mean_ns)).collect();
            Sample { calls: self.calls as u64, errors: 0, durations_ns }
        };
        (0..self.activities).map(|number| (format!("activity {number}"), sample(number))).collect()
    }

    fn duration(self, dice: &mut Dice, mean_ns: f64) -> f64 {
        let noise = (self.noise * dice.normal()).exp();
        let hiccup = if dice.uniform() < HICCUPS { 1.0 + 3.0 * dice.uniform() } else { 1.0 };
        (mean_ns * noise * hiccup).round()
    }

    /// In how many pairs of runs there is a verdict that `is_wanted`.
    fn count(self, pairs: usize, is_wanted: fn(&ActivityChange) -> bool) -> usize {
        let mut dice = Dice(1);
        let mut pair = || judge(&self.run(&mut dice, 1.0), &self.run(&mut dice, self.slowdown));
        (0..pairs).filter(|_| pair().iter().any(is_wanted)).count()
    }

    fn false_alarms(self, pairs: usize) -> usize {
        self.count(pairs, |change| change.verdict != Verdict::Same)
    }

    fn found(self, pairs: usize) -> usize {
        self.count(pairs, |change| change.activity_id == "activity 0" && change.verdict == Verdict::Slower)
    }
}

/// A tenth slower, with so many activities and calls and so much noise.
fn slower(activities: usize, calls: usize, noise: f64) -> Setting {
    Setting { activities, calls, noise, slowdown: 1.1, ..USUAL }
}

#[test]
fn at_most_one_in_twenty_pairs_of_equal_runs_gives_a_false_alarm() {
    for activities in [1, 5] {
        let count = Setting { activities, ..USUAL }.false_alarms(PAIRS);
        // Much fewer would mean that the test is blunter than it need be.
        assert!((20..=50).contains(&count), "{count} of {PAIRS} with {activities} activities");
    }
}

#[test]
fn a_slowdown_of_a_tenth_is_found_in_nine_of_ten_pairs() {
    for setting in [slower(5, 50, 0.1), slower(10, 60, 0.1)] {
        let count = setting.found(PAIRS);
        assert!(count >= 900, "{count} of {PAIRS}: {setting:?}");
    }
}

#[test]
fn what_is_found_depends_on_calls_noise_and_activities() {
    let usual = slower(5, 50, 0.1).found(FEWER_PAIRS);
    for (what, setting) in [
        ("fewer calls", slower(5, 25, 0.1)),
        ("more noise", slower(5, 50, 0.2)),
        ("more activities", slower(20, 50, 0.1)),
    ] {
        let count = setting.found(FEWER_PAIRS);
        assert!(count + 10 < usual, "{what}: {count} of {FEWER_PAIRS}, and {usual} without");
    }
}

/// A gate asks for a change of the median, too, which chance makes larger or smaller than the true one.
#[test]
fn a_gate_must_be_lower_than_what_it_is_to_find() {
    let at = |is_wanted| slower(5, 50, 0.1).count(FEWER_PAIRS, is_wanted);
    let half = at(|change| is_slower_by(change, 0.05));
    let whole = at(|change| is_slower_by(change, 0.1));
    assert!(half >= 260 && (120..180).contains(&whole), "{half} and {whole} of {FEWER_PAIRS}");
}

fn is_slower_by(change: &ActivityChange, share: f64) -> bool {
    let is_slower = change.activity_id == "activity 0" && change.verdict == Verdict::Slower;
    is_slower && change.median_change.is_some_and(|change| change >= share)
}

/// Calls of one run are not as independent as the test believes where the machine itself was slower.
#[test]
fn runs_that_differ_as_a_whole_are_taken_for_slower_code() {
    let count = Setting { drift: 0.02, ..USUAL }.false_alarms(FEWER_PAIRS);
    assert!(count > 60, "{count} of {FEWER_PAIRS}");
}
