//! The section `telemetry_capture` of the settings.

/// Which readings are taken, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a toggle of the settings file")]
pub struct TelemetryCapture {
    /// The metrics to read of each GPU; none without a list.
    pub gpu: Option<Vec<String>>,
    /// CPU times, load and frequency of the machine.
    pub cpu: bool,
    /// CPU times and load of each processor.
    pub per_cpu: bool,
    /// This process.
    pub process_info: bool,
    /// Memory and swap of the machine.
    pub mem: bool,
    /// Disk traffic and use.
    pub disk: bool,
    /// Network traffic.
    pub network: bool,
    /// A description of the machine, once a workflow.
    pub machine_info: bool,
    /// A snapshot younger than this is shared instead of taken again.
    pub max_age_ms: u64,
    /// Costly keys refresh at most this often.
    pub slow_age_ms: u64,
    /// The period of the background sampler; off without one.
    pub sample_every_ms: Option<u64>,
}

impl Default for TelemetryCapture {
    fn default() -> Self {
        Self {
            gpu: None,
            cpu: true,
            per_cpu: true,
            process_info: true,
            mem: true,
            disk: true,
            network: true,
            machine_info: true,
            max_age_ms: 100,
            slow_age_ms: 1000,
            sample_every_ms: None,
        }
    }
}
