//! AMD cards, from the files of the kernel's driver: no library is needed.

mod card;
mod metrics_table;

use std::fs;
use std::path::{Path, PathBuf};

use card::Card;

use super::GpuOptions;
use super::metrics::Metrics;
use super::visible::visible_numbers;
use crate::telemetry::{Gpu, Named};

/// The number under which AMD's cards are known on the bus.
const VENDOR: &str = "0x1002";

/// The visible cards and their numbers.
#[derive(Debug)]
pub(crate) struct Cards {
    metrics: Metrics,
    visible: Vec<(String, Card)>,
}

impl Cards {
    /// The visible cards, or why there are none.
    pub(crate) fn open(metrics: Metrics, options: &GpuOptions) -> Result<Self, String> {
        let mut all: Vec<_> = find(&options.sys).into_iter().map(Some).collect();
        let count = all.len();
        if count == 0 {
            return Err("no AMD card has its driver".to_owned());
        }
        let ids: Vec<_> = all.iter().flatten().map(Card::id).collect();
        let numbers = visible_numbers(options.rocr_visible_devices.as_deref(), &ids);
        let take = |number: usize| Some((format!("gpu_{number}"), all[number].take()?));
        let visible: Vec<_> = numbers.into_iter().filter_map(take).collect();
        if visible.is_empty() {
            return Err(format!("ROCR_VISIBLE_DEVICES hides all AMD cards, {count} in number"));
        }
        Ok(Self { metrics, visible })
    }

    pub(crate) fn read(&self, gpus: &mut Named<Gpu>) {
        for (index, (name, card)) in self.visible.iter().enumerate() {
            gpus.set(index, name.as_bytes(), card.read(self.metrics));
        }
    }
}

/// The cards that AMD's driver runs, in the order of their numbers.
fn find(sys: &Path) -> Vec<Card> {
    let Ok(entries) = fs::read_dir(sys.join("class/drm")) else { return Vec::new() };
    let mut folders: Vec<_> = entries.flatten().filter_map(|entry| numbered(&entry.path())).collect();
    folders.sort();
    let devices =
        folders.into_iter().map(|(_, folder)| folder.join("device")).filter(|device| is_amd(device));
    devices.enumerate().map(|(number, device)| Card::new(number, device)).collect()
}

/// The number of a folder `card0`; outputs of a card are called `card0-…`.
fn numbered(folder: &Path) -> Option<(u32, PathBuf)> {
    let number = folder.file_name()?.to_str()?.strip_prefix("card")?.parse().ok()?;
    Some((number, folder.to_path_buf()))
}

fn is_amd(device: &Path) -> bool {
    let vendor = fs::read_to_string(device.join("vendor")).unwrap_or_default();
    vendor.trim() == VENDOR && device.join("mem_info_vram_total").exists()
}

#[cfg(test)]
mod tests;
