//! A description of the machine, to be stored once a workflow.

mod address;
mod cpu;
mod environment;
mod platform;
mod split;

use std::collections::BTreeMap;

use serde::Serialize;
use telemetry_core::settings;

pub use address::NetworkAddress;
pub use cpu::CpuInfo;
pub use platform::PlatformInfo;

use crate::backend::{self, Backend, Platform, Wanted};
use crate::gpu::{GpuOptions, Gpus};
use crate::telemetry::{DiskUsage, Gpu, Memory, Named, Process, Telemetry};

/// What a machine is and how much it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MachineInfo {
    /// Memory and swap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// How full the root file system is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskUsage>,
    /// The operating system.
    pub platform: PlatformInfo,
    /// The processors.
    pub cpu: CpuInfo,
    /// The addresses of each network interface.
    pub network: BTreeMap<String, Vec<NetworkAddress>>,
    /// The variables of the environment that the settings allow.
    pub environment: BTreeMap<String, String>,
    /// The name of the machine.
    pub hostname: String,
    /// The name of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login_name: Option<String>,
    /// This process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The cards, with the metrics that the settings list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Named<Gpu>>,
}

/// What the systems tell in ways of their own.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) platform: PlatformInfo,
    pub(crate) cpu: CpuInfo,
    pub(crate) network: BTreeMap<String, Vec<NetworkAddress>>,
    pub(crate) login_name: Option<String>,
}

impl MachineInfo {
    /// The description as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Describes this machine. Of the environment only the variables that match `environment_allow` are
/// taken, names in which `*` stands for anything: the rest may hold secrets.
///
/// # Example
///
/// ```
/// use telemetry_core::settings::Settings;
///
/// let settings = Settings::default();
/// let allow = ["PATH".to_owned(), "SLURM_*".to_owned()];
/// let machine = telemetry_sensors::machine_info(&settings.telemetry_capture, &allow);
/// assert!(machine.environment.keys().all(|name| name == "PATH" || name.starts_with("SLURM_")));
/// ```
pub fn machine_info(settings: &settings::TelemetryCapture, environment_allow: &[String]) -> MachineInfo {
    machine_info_with_gpus(settings, environment_allow, &GpuOptions::default())
}

/// The same, for a process that may see some GPUs only.
pub fn machine_info_with_gpus(
    settings: &settings::TelemetryCapture,
    environment_allow: &[String],
    options: &GpuOptions,
) -> MachineInfo {
    let facts = backend::facts();
    let snapshot = snapshot();
    MachineInfo {
        memory: snapshot.memory,
        disk: snapshot.disk.and_then(|disk| disk.disk_usage),
        hostname: facts.platform.node.clone(),
        platform: facts.platform,
        cpu: facts.cpu,
        network: facts.network,
        environment: environment::allowed(environment_allow),
        login_name: settings::environment::user().or(facts.login_name),
        process: snapshot.process,
        gpu: settings.gpu.as_ref().and_then(|names| gpus(names, options)),
    }
}

/// Missing cards are a warning of the snapshots, so none is made here.
fn gpus(names: &[String], options: &GpuOptions) -> Option<Named<Gpu>> {
    let mut gpus = Named::default();
    Gpus::open(names, options, &mut Vec::new())?.read(&mut gpus);
    Some(gpus)
}

fn snapshot() -> Telemetry {
    let wanted =
        Wanted { cpu: false, per_cpu: false, process: true, memory: true, disk: true, network: false };
    let mut telemetry = Telemetry::default();
    Platform::open(wanted).read(true, &mut telemetry);
    telemetry
}
