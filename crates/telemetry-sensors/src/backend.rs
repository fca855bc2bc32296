//! The one place that chooses where readings come from.

use telemetry_core::settings;

use crate::telemetry::Telemetry;

#[cfg(target_os = "linux")]
pub(crate) use crate::linux::{Linux as Platform, machine::facts};
#[cfg(not(target_os = "linux"))]
pub(crate) use crate::portable::{Portable as Platform, facts};

/// Where readings come from.
pub(crate) trait Backend: Sized {
    /// Opens what the toggles ask for.
    fn open(wanted: Wanted) -> Self;

    /// Reads what the toggles ask for into `telemetry`; the costly keys only if `slow`.
    fn read(&mut self, slow: bool, telemetry: &mut Telemetry);
}

/// The toggles that a backend serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a toggle of the settings file")]
pub(crate) struct Wanted {
    pub(crate) cpu: bool,
    pub(crate) per_cpu: bool,
    pub(crate) process: bool,
    pub(crate) memory: bool,
    pub(crate) disk: bool,
    pub(crate) network: bool,
}

impl Wanted {
    pub(crate) fn new(settings: &settings::TelemetryCapture) -> Self {
        Self {
            cpu: settings.cpu,
            per_cpu: settings.per_cpu,
            process: settings.process_info,
            memory: settings.mem,
            disk: settings.disk,
            network: settings.network,
        }
    }

    pub(crate) fn anything(self) -> bool {
        self.any_cpu() || self.process || self.memory || self.disk || self.network
    }

    pub(crate) fn any_cpu(self) -> bool {
        self.cpu || self.per_cpu
    }
}
