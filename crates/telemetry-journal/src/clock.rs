//! The clock of a journal: raw ticks on the hot path, time in the drain.
//!
//! A record carries the processor's tick counter, which costs a third of a system clock. The drain
//! turns ticks into time by a table of calibration points that only grows: a point says which tick is
//! which nanosecond, and how long a tick lasts from there to the next point. Points continue each
//! other without a step, so times are monotonic, and a tick has the same time whenever it is
//! converted. Wall time is one anchor plus this clock: setting the system's clock changes nothing.

mod calibration;
mod counter;

pub(crate) use calibration::Calibration;
pub use calibration::unix_ms;
pub use counter::ticks;

/// How many points a journal keeps; the last one holds from then on.
pub const POINTS_MAX: usize = 64;

/// From `ticks` on, a tick lasts `nanos_per_tick / 2^32` nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// The tick at which it begins.
    pub ticks: u64,
    /// The unix time in nanoseconds of that tick.
    pub unix_ns: i64,
    /// The length of a tick in 2⁻³² nanoseconds.
    pub nanos_per_tick: u64,
}

impl Point {
    fn unix_ns(self, ticks: u64) -> i64 {
        let elapsed = i128::from(ticks) - i128::from(self.ticks);
        // A damaged journal may say anything.
        let nanos = elapsed.saturating_mul(i128::from(self.nanos_per_tick)) >> 32;
        self.unix_ns.saturating_add(i64::try_from(nanos).unwrap_or(i64::MAX))
    }
}

/// Turns ticks into unix time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    points: Vec<Point>,
}

impl Clock {
    /// A clock with these points, in the order of their ticks; without any, a tick is a nanosecond of
    /// unix time.
    pub fn new(points: Vec<Point>) -> Self {
        Self { points }
    }

    /// The unix time in nanoseconds of this tick.
    pub fn unix_ns(&self, ticks: u64) -> i64 {
        let after = self.points.partition_point(|point| point.ticks <= ticks);
        match self.points.get(after.saturating_sub(1)) {
            Some(point) => point.unix_ns(ticks),
            None => i64::try_from(ticks).unwrap_or(i64::MAX),
        }
    }

    /// The points, in the order of their ticks.
    pub fn points(&self) -> &[Point] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_tick_has_a_time_whatever_the_points_are() {
        let points = [0, u64::MAX].map(|ticks| Point { ticks, unix_ns: i64::MIN, nanos_per_tick: u64::MAX });
        for ticks in [0, 1, u64::MAX] {
            Clock::new(points.to_vec()).unix_ns(ticks);
            Clock::new(points[1..].to_vec()).unix_ns(ticks);
        }
    }
}
