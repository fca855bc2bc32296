//! Readings of cpu, memory, process, disk, network, cgroup, gpu and machine.
//!
//! [`TelemetryCapture`] takes snapshots of the host, by the toggles of the settings; [`machine_info`]
//! describes the machine once. Names and shape are those that psutil made common, so that a query
//! written for another recorder's snapshots works on these.
//!
//! # Example
//!
//! ```
//! use telemetry_core::settings::Settings;
//! use telemetry_sensors::TelemetryCapture;
//!
//! let mut capture = TelemetryCapture::new(&Settings::default().telemetry_capture);
//! let snapshot = capture.capture().expect("some toggles are on by default").to_json();
//! assert!(snapshot["memory"]["virtual"]["total"].as_u64() > Some(0));
//! ```
#![forbid(unsafe_code)]

mod backend;
mod capture;
mod gpu;
#[cfg(target_os = "linux")]
mod linux;
mod machine;
mod percent;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;
pub mod telemetry;

pub use capture::TelemetryCapture;
pub use gpu::GpuOptions;
pub use machine::{CpuInfo, MachineInfo, NetworkAddress, PlatformInfo, machine_info, machine_info_with_gpus};
pub use telemetry::Telemetry;
