//! Takes snapshots, and shares young ones.

use std::time::{Duration, Instant};

use telemetry_core::settings;

use crate::backend::{Backend, Platform, Wanted};
use crate::gpu::{GpuOptions, Gpus};
use crate::telemetry::Telemetry;

/// Takes snapshots of the host, by the toggles of the settings.
///
/// Files are opened by [`new`](Self::new) and kept open. Percentages tell of the time since the previous
/// reading; the first one tells of the time since construction.
#[derive(Debug)]
pub struct TelemetryCapture {
    platform: Option<Platform>,
    gpus: Option<Gpus>,
    telemetry: Telemetry,
    max_age: Duration,
    slow_age: Duration,
    taken: Option<Instant>,
    taken_slow: Instant,
    sequence: u64,
    warnings: Vec<String>,
}

impl TelemetryCapture {
    /// Opens what the toggles ask for and takes the reading that the first percentages are relative to.
    ///
    /// All GPUs are visible; see [`with_gpus`](Self::with_gpus).
    pub fn new(settings: &settings::TelemetryCapture) -> Self {
        Self::with_gpus(settings, &GpuOptions::default())
    }

    /// The same, for a process that may see some GPUs only.
    pub fn with_gpus(settings: &settings::TelemetryCapture, options: &GpuOptions) -> Self {
        let wanted = Wanted::new(settings);
        let mut telemetry = Telemetry::default();
        let mut warnings = Vec::new();
        let gpus = settings.gpu.as_ref().and_then(|names| Gpus::open(names, options, &mut warnings));
        Self {
            platform: wanted.anything().then(|| open(wanted, &mut telemetry)),
            gpus,
            telemetry,
            max_age: Duration::from_millis(settings.max_age_ms),
            slow_age: Duration::from_millis(settings.slow_age_ms),
            taken: None,
            taken_slow: Instant::now(),
            sequence: 0,
            warnings,
        }
    }

    /// A snapshot that is younger than `max_age_ms`: the last one, or a new one; none if everything is
    /// off.
    pub fn capture(&mut self) -> Option<&Telemetry> {
        if self.platform.is_none() && self.gpus.is_none() {
            return None;
        }
        let now = Instant::now();
        let is_young = self.taken.is_some_and(|taken| now - taken < self.max_age);
        if !is_young {
            self.read(now);
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

    /// What could not be had, each told once.
    pub fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn read(&mut self, now: Instant) {
        let slow = now - self.taken_slow >= self.slow_age;
        if let Some(platform) = &mut self.platform {
            platform.read(slow, &mut self.telemetry);
        }
        if let Some(gpus) = &self.gpus {
            gpus.read(self.telemetry.gpu.get_or_insert_default());
        }
        self.sequence += 1;
        self.taken = Some(now);
        if slow {
            self.taken_slow = now;
        }
    }
}

fn open(wanted: Wanted, telemetry: &mut Telemetry) -> Platform {
    let mut platform = Platform::open(wanted);
    platform.read(true, telemetry);
    platform
}
