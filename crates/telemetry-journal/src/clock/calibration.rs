//! Calibration: measures how long a tick lasts, better with each look.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::counter::is_shared;
use super::{POINTS_MAX, Point, ticks};

/// Before this much time has passed, a measured tick length is too rough to be kept.
const FIRST_WINDOW: Duration = Duration::from_micros(100);
/// From the first point to the second; doubles from point to point.
const FIRST_INTERVAL: Duration = Duration::from_secs(1);
/// How long the length of a tick is measured before the clock of another process is settled by it.
const ADOPTED_WINDOW: Duration = Duration::from_millis(10);
/// Longer than any process lives.
const NEVER: Duration = Duration::from_hours(1 << 20);
const INTERVAL_MAX: Duration = Duration::from_hours(1);

#[expect(clippy::disallowed_methods, reason = "the one place where wall time is read")]
fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The unix time in milliseconds by the system's clock: for ids outside a recording.
pub fn unix_ms() -> u64 {
    since_epoch().as_millis() as u64
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
struct Moment {
    ticks: u64,
    instant: Instant,
}

impl Moment {
    /// The tightest of a few attempts to read both clocks at once.
    fn now() -> Self {
        let attempt = || {
            let before = ticks();
            let instant = Instant::now();
            let spread = ticks().wrapping_sub(before);
            (spread, Self { ticks: before + spread / 2, instant })
        };
        let attempts = [attempt(), attempt(), attempt()];
        attempts
            .into_iter()
            .min_by_key(|(spread, _)| *spread)
            .map_or_else(|| attempt().1, |(_, moment)| moment)
    }
}

/// Makes the points of one journal.
#[derive(Debug)]
pub(crate) struct Calibration {
    anchor: Moment,
    anchor_unix_ns: i64,
    points: Vec<Point>,
    is_settled: bool,
    /// Whether the points are another process's.
    is_adopted: bool,
    next_at: Instant,
    interval: Duration,
}

impl Calibration {
    /// Anchors the clock here and now.
    pub(crate) fn new() -> Self {
        let anchor = Moment::now();
        Self {
            anchor,
            anchor_unix_ns: i64::try_from(since_epoch().as_nanos()).unwrap_or(i64::MAX),
            points: Vec::new(),
            is_settled: false,
            is_adopted: false,
            next_at: anchor.instant + FIRST_INTERVAL,
            interval: FIRST_INTERVAL,
        }
    }

    /// Goes on with the points of another process on this machine.
    pub(crate) fn adopt(points: Vec<Point>) -> Self {
        Self { points, is_adopted: true, ..Self::new() }
    }

    pub(crate) fn anchor_unix_ns(&self) -> i64 {
        self.anchor_unix_ns
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    /// A first guess, for a process that dies before its drain has looked once.
    pub(crate) fn guess(&mut self) {
        let mut now = Moment::now();
        while now.instant.duration_since(self.anchor.instant) < FIRST_WINDOW {
            now = Moment::now();
        }
        self.points = vec![self.point_at_anchor(now)];
    }

    /// Looks at both clocks; true if the points changed. To be called before ticks are converted: the
    /// first look replaces the guess, which nobody has used until then, and later ones only add.
    pub(crate) fn look(&mut self) -> bool {
        if !self.is_settled && self.is_adopted {
            return self.settle_adopted();
        }
        let now = Moment::now();
        if !self.is_settled {
            self.points = vec![self.point_at_anchor(now)];
            self.is_settled = true;
            return true;
        }
        if now.instant < self.next_at || self.points.len() == POINTS_MAX {
            return false;
        }
        let point = self.point_at(now);
        self.points.push(point);
        self.interval = (self.interval * 2).min(INTERVAL_MAX);
        self.next_at = now.instant + self.interval;
        true
    }

    /// Settles the guess of another process, by the length of a tick that is measured here, unless somebody
    /// did so before: a second point says that the first one is in use.
    fn settle_adopted(&mut self) -> bool {
        let mut now = Moment::now();
        while now.instant.duration_since(self.anchor.instant) < ADOPTED_WINDOW {
            std::thread::sleep(ADOPTED_WINDOW / 4);
            now = Moment::now();
        }
        self.is_settled = true;
        let is_shared = is_shared();
        let is_new = self.points.len() == 1;
        if let [guess] = self.points[..] {
            let nanos_per_tick = if is_shared { self.measured(now) } else { 1 << 32 };
            let first = Point { nanos_per_tick, ..guess };
            let ticks = if is_shared { now.ticks } else { first.ticks };
            self.points = vec![first, Point { ticks, unix_ns: first.unix_ns(ticks), ..first }];
        }
        // From here on the clock follows ours; one whose ticks are its own business goes on by itself.
        self.anchor_unix_ns = self.points.last().map_or(self.anchor_unix_ns, |last| last.unix_ns(now.ticks));
        self.anchor = now;
        self.next_at = now.instant + if is_shared { self.interval } else { NEVER };
        is_new
    }

    fn point_at_anchor(&self, now: Moment) -> Point {
        Point { ticks: self.anchor.ticks, unix_ns: self.anchor_unix_ns, nanos_per_tick: self.measured(now) }
    }

    /// Goes on where the last point leads to, and works the error off over the next interval.
    fn point_at(&self, now: Moment) -> Point {
        let led_to = self.points.last().map_or(self.anchor_unix_ns, |last| last.unix_ns(now.ticks));
        let elapsed = now.instant.duration_since(self.anchor.instant).as_nanos() as i64;
        let error = (self.anchor_unix_ns + elapsed - led_to) as f64;
        let interval = (self.interval * 2).min(INTERVAL_MAX).as_nanos() as f64;
        let rate = self.measured(now) as f64 * (1.0 + (error / interval).clamp(-0.001, 0.001));
        Point { ticks: now.ticks, unix_ns: led_to, nanos_per_tick: rate as u64 }
    }

    fn measured(&self, now: Moment) -> u64 {
        let nanos = now.instant.duration_since(self.anchor.instant).as_nanos();
        let ticks = u128::from(now.ticks.wrapping_sub(self.anchor.ticks)).max(1);
        u64::try_from((nanos << 32) / ticks).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Clock;
    use super::*;

    #[test]
    fn the_clock_follows_the_monotonic_one_without_steps() {
        let mut calibration = Calibration::new();
        calibration.guess();
        assert!(calibration.look());
        for _ in 0..3 {
            calibration.next_at = calibration.anchor.instant;
            assert!(calibration.look());
        }
        let clock = Clock::new(calibration.points().to_vec());
        let now = Moment::now();
        let elapsed = now.instant.duration_since(calibration.anchor.instant).as_nanos() as i64;
        let error = clock.unix_ns(now.ticks) - calibration.anchor_unix_ns - elapsed;
        assert!(error.abs() < 100_000 + elapsed / 100, "off by {error} ns after {elapsed} ns");
        for point in &clock.points()[1..] {
            assert!(clock.unix_ns(point.ticks - 1) <= clock.unix_ns(point.ticks));
        }
    }
}
