//! How fast a counter grows: over the last seconds, from what it was at each tick.

use std::collections::VecDeque;

/// A rate looks back so far, or to the last tick if that is longer ago.
const WINDOW_NS: i64 = 3_000_000_000;

/// What a counter was at the last ticks.
#[derive(Clone, Debug, Default)]
pub(in crate::commands::top) struct Pace {
    ticks: VecDeque<(i64, u64)>,
}

impl Pace {
    /// Takes down what the counter is now. One that was not there at the tick before, if there was one, was nothing then.
    pub(in crate::commands::top) fn tick(
        &mut self,
        before_unix_ns: Option<i64>,
        now_unix_ns: i64,
        count: u64,
    ) {
        if self.ticks.is_empty() {
            self.ticks.extend(before_unix_ns.map(|before| (before, 0)));
        }
        // The first one in the window has the one before it to compare with.
        while self.ticks.get(1).is_some_and(|(at, _)| *at <= now_unix_ns - WINDOW_NS) {
            self.ticks.pop_front();
        }
        self.ticks.push_back((now_unix_ns, count));
    }

    /// By how much it grew in a second.
    pub(in crate::commands::top) fn per_second(&self) -> f64 {
        match (self.ticks.front(), self.ticks.back()) {
            (Some((first_at, first)), Some((last_at, last))) if last_at > first_at => {
                last.saturating_sub(*first) as f64 / ((last_at - first_at) as f64 / 1e9)
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn is(rate: f64, expected: f64) -> bool {
        (rate - expected).abs() < 1e-9
    }

    #[test]
    fn a_pace_is_of_the_last_seconds() {
        let mut pace = Pace::default();
        assert!(is(pace.per_second(), 0.0));
        pace.tick(None, 0, 500);
        assert!(is(pace.per_second(), 0.0), "what was there before is no growth");
        pace.tick(Some(0), SECOND / 2, 550);
        assert!(is(pace.per_second(), 100.0));
        (1..=10).for_each(|second| pace.tick(None, second * SECOND, 600));
        assert!(is(pace.per_second(), 0.0));
        // Ticks that are further apart than the window still make a rate.
        pace.tick(None, 20 * SECOND, 1_600);
        assert!(is(pace.per_second(), 1_000.0 / 10.0));
        let mut late = Pace::default();
        late.tick(Some(20 * SECOND), 22 * SECOND, 10);
        assert!(is(late.per_second(), 5.0));
    }
}
