//! One AMD card. The driver's binary table has most values; where a card has none or an unknown one, the
//! single files under hwmon have some.

use std::fs;
use std::path::{Path, PathBuf};

use super::metrics_table::Table;
use crate::gpu::metrics::Metrics;
use crate::telemetry::{
    Gpu, GpuActivity, GpuClocks, GpuOthers, GpuPower, GpuProcesses, GpuSensors, GpuTemperature,
};

/// One AMD card.
#[derive(Debug)]
pub(crate) struct Card {
    number: usize,
    device: PathBuf,
    hwmon: Option<PathBuf>,
}

impl Card {
    pub(crate) fn new(number: usize, device: PathBuf) -> Self {
        let folders = fs::read_dir(device.join("hwmon")).into_iter().flatten().flatten();
        let hwmon = folders.map(|entry| entry.path()).find(|folder| folder.join("name").exists());
        Self { number, device, hwmon }
    }

    /// The id by which `ROCR_VISIBLE_DEVICES` knows the card.
    pub(crate) fn id(&self) -> Option<String> {
        text(&self.device.join("unique_id")).map(|id| format!("GPU-{id}"))
    }

    pub(crate) fn read(&self, metrics: Metrics) -> Gpu {
        let needs_table = ["activity", "power", "temperature", "others", "clocks"];
        let needs_table = needs_table.iter().any(|name| metrics.has(name));
        let table = if needs_table { self.table() } else { Table::default() };
        Gpu {
            gpu_ix: Some(self.number),
            used: metrics.ask("used", || self.number_in("mem_info_vram_used")),
            total: metrics.ask("total", || self.number_in("mem_info_vram_total")),
            utilization: metrics.ask("utilization", || self.number_in("gpu_busy_percent")),
            activity: metrics.ask("activity", || Some(self.activity(&table))),
            power: metrics.ask("power", || Some(self.power(&table))),
            temperature: metrics.ask("temperature", || Some(self.temperature(&table))),
            others: metrics.ask("others", || Some(self.others(&table))),
            clocks: metrics.ask("clocks", || Some(self.clocks(&table))),
            processes: metrics.ask("processes", || self.processes()),
            name: metrics.ask("name", || text(&self.device.join("product_name"))),
            id: metrics.ask("id", || self.id()),
        }
    }

    fn table(&self) -> Table {
        fs::read(self.device.join("gpu_metrics")).map(|bytes| Table::parse(&bytes)).unwrap_or_default()
    }

    fn activity(&self, table: &Table) -> GpuActivity {
        GpuActivity {
            gfx_activity: table.gfx_activity.or_else(|| self.number_in("gpu_busy_percent")),
            umc_activity: table.umc_activity.or_else(|| self.number_in("mem_busy_percent")),
            mm_activity: table.mm_activity.or_else(|| self.number_in("vcn_busy_percent")),
        }
    }

    fn power(&self, table: &Table) -> GpuPower {
        let microwatts = || self.sensor("power1_average").or_else(|| self.sensor("power1_input"));
        let watts = || microwatts().map(|microwatts| microwatts / 1_000_000);
        GpuPower::Socket {
            average_socket_power: table.socket_power.or_else(watts),
            energy_accumulator: table.energy,
        }
    }

    fn temperature(&self, table: &Table) -> GpuTemperature {
        GpuTemperature::Sensors(GpuSensors {
            edge: table.edge.or_else(|| self.labelled("edge")),
            hotspot: table.hotspot.or_else(|| self.labelled("junction")),
            mem: table.mem.or_else(|| self.labelled("mem")),
            vrgfx: table.vrgfx,
            vrmem: table.vrmem,
            hbm: table.hbm.clone(),
            fan_speed: table.fan_speed.or_else(|| self.sensor("fan1_input")),
        })
    }

    fn others(&self, table: &Table) -> GpuOthers {
        GpuOthers {
            current_gfxclk: table.gfxclk.or_else(|| self.clock("freq1_input")),
            current_socclk: table.socclk.or_else(|| self.chosen("pp_dpm_socclk")),
            current_uclk: table.uclk.or_else(|| self.clock("freq2_input")),
            current_vclk0: table.vclk0.or_else(|| self.chosen("pp_dpm_vclk")),
            current_dclk0: table.dclk0.or_else(|| self.chosen("pp_dpm_dclk")),
        }
    }

    fn clocks(&self, table: &Table) -> GpuClocks {
        let others = self.others(table);
        GpuClocks {
            graphics: others.current_gfxclk,
            memory: others.current_uclk,
            video: others.current_vclk0,
        }
    }

    /// What this process uses of the card's memory, by the descriptors that it holds on it.
    fn processes(&self) -> Option<GpuProcesses> {
        let slot = fs::canonicalize(&self.device).ok()?;
        let slot = slot.file_name()?.to_str()?;
        let entries = fs::read_dir("/proc/self/fdinfo").ok()?;
        let texts = entries.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
        Some(GpuProcesses { count: None, own_used: own_used(slot, texts) })
    }

    fn number_in(&self, name: &str) -> Option<u64> {
        text(&self.device.join(name))?.parse().ok()
    }

    fn sensor(&self, name: &str) -> Option<u64> {
        text(&self.hwmon.as_ref()?.join(name))?.parse().ok()
    }

    fn clock(&self, name: &str) -> Option<u64> {
        self.sensor(name).map(|hertz| hertz / 1_000_000)
    }

    /// The temperature whose label is `label`, in degrees.
    fn labelled(&self, label: &str) -> Option<u64> {
        let hwmon = self.hwmon.as_ref()?;
        let is_it = |index: &u32| text(&hwmon.join(format!("temp{index}_label"))).as_deref() == Some(label);
        let index = (1..=8).find(is_it)?;
        self.sensor(&format!("temp{index}_input")).map(|millidegrees| millidegrees / 1000)
    }

    /// The clock that is marked as chosen in a list of lines such as `1: 800Mhz *`.
    fn chosen(&self, name: &str) -> Option<u64> {
        let list = text(&self.device.join(name))?;
        let line = list.lines().find(|line| line.trim_end().ends_with('*'))?;
        let value = line.split_once(':')?.1.trim();
        value.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
    }
}

/// The sum over all clients of the driver that this process is; descriptors of one client count once.
fn own_used(slot: &str, texts: impl Iterator<Item = String>) -> Option<u64> {
    let mut clients = std::collections::BTreeMap::new();
    for text in texts {
        let value = |key: &str| {
            text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
        };
        if value("drm-pdev") == Some(slot) {
            let kibibytes = value("drm-memory-vram").and_then(|size| size.split(' ').next()?.parse().ok());
            clients.insert(value("drm-client-id").map(str::to_owned), kibibytes.unwrap_or(0_u64));
        }
    }
    let kibibytes = clients.into_values().reduce(u64::saturating_add);
    kibibytes.map(|kibibytes| kibibytes.saturating_mul(1024))
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_of_one_client_count_once() {
        let info = |client: u32, slot: &str, size: &str| {
            format!(
                "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t{client}\ndrm-pdev:\t{slot}\ndrm-memory-vram:\t{size} KiB\n"
            )
        };
        let slot = "0000:03:00.0";
        let texts = [info(7, slot, "100"), info(7, slot, "100"), info(8, slot, "1"), info(9, "other", "5")];
        assert_eq!(own_used(slot, texts.into_iter()), Some(101 * 1024));
        assert_eq!(own_used(slot, ["pos: 0\n".to_owned()].into_iter()), None);
    }
}
