//! How busy this machine is, read where snapshots are read, too.

use telemetry_core::settings::Settings;
use telemetry_sensors::TelemetryCapture;

/// What is read.
#[derive(Debug)]
pub(super) struct Sensors {
    capture: TelemetryCapture,
}

/// The load of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    pub(super) cpu_percent: Option<f64>,
    /// Memory in use, and all of it.
    pub(super) memory_bytes: Option<(u64, u64)>,
}

impl Sensors {
    pub(super) fn new() -> Self {
        let mut settings = Settings::default().telemetry_capture;
        (settings.cpu, settings.mem, settings.max_age_ms) = (true, true, 0);
        (settings.gpu, settings.per_cpu, settings.process_info) = (None, false, false);
        (settings.disk, settings.network, settings.machine_info) = (false, false, false);
        Self { capture: TelemetryCapture::new(&settings) }
    }

    /// The load since the last time.
    pub(super) fn read(&mut self) -> Load {
        let Some(telemetry) = self.capture.capture() else { return Load::default() };
        let memory = telemetry.memory.as_ref().and_then(|memory| memory.virtual_memory);
        Load {
            cpu_percent: telemetry.cpu.as_ref().and_then(|cpu| cpu.percent_all),
            memory_bytes: memory.map(|memory| (memory.used, memory.total)),
        }
    }
}
