//! NVIDIA cards, through the driver's library, which is loaded at run time.

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::{Device, Nvml};

use super::GpuOptions;
use super::metrics::Metrics;
use super::visible::visible_numbers;
use crate::telemetry::{Gpu, GpuClocks, GpuPower, GpuProcesses, GpuTemperature, Named};

/// The visible cards and their numbers.
#[derive(Debug)]
pub(crate) struct Cards {
    nvml: Nvml,
    metrics: Metrics,
    visible: Vec<(String, u32)>,
}

impl Cards {
    /// The visible cards, or why there are none.
    pub(crate) fn open(metrics: Metrics, options: &GpuOptions) -> Result<Self, String> {
        let nvml = load(options).map_err(|error| format!("NVIDIA's driver is not there: {error}"))?;
        let nvml = with_an_end(nvml)?;
        let count = nvml.device_count().map_err(|error| format!("NVIDIA's driver does not work: {error}"))?;
        if count == 0 {
            return Err("NVIDIA's driver has no card".to_owned());
        }
        let id = |number| nvml.device_by_index(number).and_then(|device| device.uuid()).ok();
        let ids: Vec<_> = (0..count).map(id).collect();
        let numbers = visible_numbers(options.cuda_visible_devices.as_deref(), &ids);
        if numbers.is_empty() {
            return Err(format!("CUDA_VISIBLE_DEVICES hides all NVIDIA cards, {count} in number"));
        }
        let visible = numbers.into_iter().map(|number| (format!("gpu_{number}"), number as u32)).collect();
        Ok(Self { nvml, metrics, visible })
    }

    /// A card that was lost keeps its name and tells nothing.
    pub(crate) fn read(&self, gpus: &mut Named<Gpu>) {
        for (index, (name, number)) in self.visible.iter().enumerate() {
            let device = self.nvml.device_by_index(*number);
            let gpu = device.map(|device| read(self.metrics, &device)).unwrap_or_default();
            gpus.set(index, name.as_bytes(), gpu);
        }
    }
}

fn load(options: &GpuOptions) -> Result<Nvml, nvml_wrapper::error::NvmlError> {
    match &options.nvml {
        Some(path) => Nvml::builder().lib_path(path.as_os_str()).init(),
        None => Nvml::init(),
    }
}

/// The wrapper panics at its end if the library has no function for that: such a library is left loaded.
fn with_an_end(nvml: Nvml) -> Result<Nvml, String> {
    if nvml.lib().nvmlShutdown.is_ok() {
        return Ok(nvml);
    }
    std::mem::forget(nvml);
    Err("NVIDIA's driver is not whole: its library cannot be shut down".to_owned())
}

fn read(metrics: Metrics, device: &Device<'_>) -> Gpu {
    let needs_memory = metrics.has("used") || metrics.has("total");
    let memory = needs_memory.then(|| device.memory_info().ok()).flatten();
    let temperature = || device.temperature(TemperatureSensor::Gpu).ok();
    Gpu {
        // What the driver keeps for itself is part of it, as it is for the older call that others use.
        used: metrics
            .ask("used", || memory.as_ref().map(|memory| memory.used.saturating_add(memory.reserved))),
        total: metrics.ask("total", || memory.as_ref().map(|memory| memory.total)),
        utilization: metrics
            .ask("utilization", || device.utilization_rates().ok().map(|rates| rates.gpu.into())),
        power: metrics
            .ask("power", || device.power_usage().ok().map(|power| GpuPower::Milliwatts(power.into()))),
        temperature: metrics
            .ask("temperature", || temperature().map(|celsius| GpuTemperature::Celsius(celsius.into()))),
        clocks: metrics.ask("clocks", || clocks(device)),
        processes: metrics.ask("processes", || processes(device)),
        name: metrics.ask("name", || device.name().ok()),
        id: metrics.ask("id", || device.uuid().ok()),
        ..Gpu::default()
    }
}

fn clocks(device: &Device<'_>) -> Option<GpuClocks> {
    let clock = |kind| device.clock_info(kind).ok().map(u64::from);
    let clocks = GpuClocks {
        graphics: clock(Clock::Graphics),
        memory: clock(Clock::Memory),
        video: clock(Clock::Video),
    };
    (clocks != GpuClocks::default()).then_some(clocks)
}

fn processes(device: &Device<'_>) -> Option<GpuProcesses> {
    let running = device.running_compute_processes().ok()?;
    let own = running.iter().filter(|process| process.pid == std::process::id());
    let used = own.filter_map(|process| match process.used_gpu_memory {
        UsedGpuMemory::Used(bytes) => Some(bytes),
        UsedGpuMemory::Unavailable => None,
    });
    Some(GpuProcesses { count: Some(running.len() as u64), own_used: used.reduce(u64::saturating_add) })
}
