//! Takes snapshots, and shares young ones.

use std::time::{Duration, Instant};

use telemetry_core::settings;

use crate::backend::{Backend, Platform, Wanted};
use crate::telemetry::Telemetry;

/// Takes snapshots of the host, by the toggles of the settings.
///
/// Files are opened by [`new`](Self::new) and kept open. Percentages tell of the time since the previous
/// reading; the first one tells of the time since construction.
#[derive(Debug)]
pub struct TelemetryCapture {
    platform: Option<Platform>,
    telemetry: Telemetry,
    max_age: Duration,
    slow_age: Duration,
    taken: Option<Instant>,
    taken_slow: Instant,
    sequence: u64,
}

impl TelemetryCapture {
    /// Opens what the toggles ask for and takes the reading that the first percentages are relative to.
    pub fn new(settings: &settings::TelemetryCapture) -> Self {
        let wanted = Wanted::new(settings);
        let mut telemetry = Telemetry::default();
        let platform = wanted.anything().then(|| open(wanted, &mut telemetry));
        Self {
            platform,
            telemetry,
            max_age: Duration::from_millis(settings.max_age_ms),
            slow_age: Duration::from_millis(settings.slow_age_ms),
            taken: None,
            taken_slow: Instant::now(),
            sequence: 0,
        }
    }

    /// A snapshot that is younger than `max_age_ms`: the last one, or a new one; none if everything is
    /// off.
    pub fn capture(&mut self) -> Option<&Telemetry> {
        let platform = self.platform.as_mut()?;
        let now = Instant::now();
        let young = self.taken.is_some_and(|taken| now - taken < self.max_age);
        if !young {
            let slow = now - self.taken_slow >= self.slow_age;
            platform.read(slow, &mut self.telemetry);
            self.sequence += 1;
            self.taken = Some(now);
            if slow {
                self.taken_slow = now;
            }
        }
        Some(&self.telemetry)
    }

    /// How old the last snapshot is; none before the first.
    pub fn age(&self) -> Option<Duration> {
        self.taken.map(|taken| taken.elapsed())
    }

    /// The number of the last snapshot, from 1: equal numbers are the same snapshot.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

fn open(wanted: Wanted, telemetry: &mut Telemetry) -> Platform {
    let mut platform = Platform::open(wanted);
    platform.read(true, telemetry);
    platform
}
