//! Ids without a syscall: a random prefix a thread, a counter, and the time from the tick counter.

use std::cell::Cell;

use telemetry_journal::clock::Point;
use telemetry_journal::process::random_bits;

/// The bits of an id that count; a thread that has used them up takes a new prefix.
const COUNTER_BITS: u32 = 26;

const VERSION: u64 = 0x7000;
const VARIANT: u64 = 1 << 63;

/// Makes ids for one thread.
#[derive(Debug)]
pub(super) struct IdGenerator {
    /// 12 and 36 random bits, at their places in the two halves of an id.
    high: Cell<u64>,
    low: Cell<u64>,
    counter: Cell<u32>,
}

impl IdGenerator {
    pub(super) const fn new() -> Self {
        Self { high: Cell::new(0), low: Cell::new(0), counter: Cell::new(0) }
    }

    /// Takes a new random prefix: in a thread's first task, and again in a forked child.
    pub(super) fn reseed(&self) {
        let bits = random_bits();
        self.high.set(VERSION | bits >> 52);
        self.low.set(VARIANT | (bits << COUNTER_BITS) & ((1 << 62) - 1));
        self.counter.set(0);
    }

    /// A number that changes with each id.
    pub(super) fn count(&self) -> u32 {
        self.counter.get()
    }

    /// The next id, stamped with this time.
    #[inline]
    pub(super) fn next(&self, unix_ms: u64) -> u128 {
        let counter = self.counter.get();
        if counter >> COUNTER_BITS != 0 {
            self.reseed();
            return self.next(unix_ms);
        }
        self.counter.set(counter + 1);
        let high = unix_ms << 16 | self.high.get();
        let low = self.low.get() | u64::from(counter);
        u128::from(high) << 64 | u128::from(low)
    }
}

/// Turns ticks into milliseconds without a division, to about a thousandth: enough for the order of
/// ids and the age of snapshots.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoarseClock {
    ticks: u64,
    unix_ms: u64,
    /// Milliseconds a tick, in 2⁻⁶⁴.
    rate: u64,
}

impl CoarseClock {
    pub(super) fn new(point: Point) -> Self {
        let rate = (u128::from(point.nanos_per_tick) << 32) / 1_000_000;
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        Self { ticks: point.ticks, unix_ms: point.unix_ns.max(0) as u64 / 1_000_000, rate }
    }

    /// Milliseconds since the recording began.
    #[inline]
    pub(super) fn elapsed_ms(self, ticks: u64) -> u64 {
        ((u128::from(ticks.saturating_sub(self.ticks)) * u128::from(self.rate)) >> 64) as u64
    }

    #[inline]
    pub(super) fn unix_ms(self, ticks: u64) -> u64 {
        self.unix_ms + self.elapsed_ms(ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TaskId;

    #[test]
    fn ids_are_version_7_and_rise() {
        let generator = IdGenerator::new();
        generator.reseed();
        let first = generator.next(0x0199_ABCD_EF01);
        let second = generator.next(0x0199_ABCD_EF01);
        assert_eq!(second, first + 1);
        let text = TaskId::from_u128(first).to_string();
        assert_eq!((&text[..8], &text[14..15]), ("0199abcd", "7"));
        assert!("89ab".contains(&text[19..20]), "{text}");
    }

    #[test]
    fn a_counter_that_is_used_up_takes_a_new_prefix() {
        let generator = IdGenerator::new();
        generator.reseed();
        generator.counter.set((1 << COUNTER_BITS) - 1);
        let last = generator.next(1);
        let next = generator.next(1);
        assert_ne!(last >> COUNTER_BITS, next >> COUNTER_BITS);
    }

    #[test]
    fn the_coarse_clock_counts_milliseconds() {
        let point = Point { ticks: 1_000, unix_ns: 5_000_000_000, nanos_per_tick: (1 << 32) / 3 };
        let clock = CoarseClock::new(point);
        let ticks = 1_000 + 3_000_000 * 250;
        assert!((249..=250).contains(&clock.elapsed_ms(ticks)));
        assert!((5_249..=5_250).contains(&clock.unix_ms(ticks)));
    }
}
