//! Readings of GPUs: AMD cards are looked for first, then NVIDIA's.
//!
//! Nothing here can fail: what is missing is a warning at the start and an absent key later.

mod amd;
mod metrics;
#[cfg(feature = "gpu")]
mod nvidia;
mod visible;

use std::path::PathBuf;

use metrics::Metrics;

use crate::telemetry::{Gpu, Named};

/// What the process's environment says about GPUs, and where to look for them.
///
/// Reading the environment is left to the caller.
///
/// # Example
///
/// ```
/// use telemetry_core::settings::Settings;
/// use telemetry_sensors::{GpuOptions, TelemetryCapture};
///
/// let mut settings = Settings::default().telemetry_capture;
/// settings.gpu = Some(vec!["used".to_owned(), "temperature".to_owned()]);
/// let mut options = GpuOptions::default();
/// options.cuda_visible_devices = Some("0,2".to_owned());
/// let mut capture = TelemetryCapture::with_gpus(&settings, &options);
/// for warning in capture.warnings() {
///     eprintln!("{warning}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuOptions {
    /// The value of `CUDA_VISIBLE_DEVICES`: numbers, or ids and beginnings of ids.
    pub cuda_visible_devices: Option<String>,
    /// The value of `ROCR_VISIBLE_DEVICES`: numbers or ids.
    pub rocr_visible_devices: Option<String>,
    /// Where the kernel lists its devices.
    pub sys: PathBuf,
    /// The library of NVIDIA's driver, instead of the one that the system finds.
    pub nvml: Option<PathBuf>,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self { cuda_visible_devices: None, rocr_visible_devices: None, sys: "/sys".into(), nvml: None }
    }
}

/// The cards of one maker.
#[derive(Debug)]
pub(crate) enum Gpus {
    Amd(amd::Cards),
    #[cfg(feature = "gpu")]
    Nvidia(Box<nvidia::Cards>),
}

impl Gpus {
    /// The cards that are there and visible; none, and one warning that says why, if there are none.
    pub(crate) fn open(names: &[String], options: &GpuOptions, warnings: &mut Vec<String>) -> Option<Self> {
        let metrics = Metrics::new(names, warnings)?;
        let amd = amd::Cards::open(metrics, options).map(Self::Amd);
        let found =
            amd.or_else(|amd| open_nvidia(metrics, options).map_err(|nvidia| format!("{amd}; {nvidia}")));
        found.map_err(|reasons| warnings.push(format!("no GPU is read: {reasons}"))).ok()
    }

    /// Reads all cards.
    pub(crate) fn read(&self, gpus: &mut Named<Gpu>) {
        match self {
            Self::Amd(cards) => cards.read(gpus),
            #[cfg(feature = "gpu")]
            Self::Nvidia(cards) => cards.read(gpus),
        }
    }
}

#[cfg(feature = "gpu")]
fn open_nvidia(metrics: Metrics, options: &GpuOptions) -> Result<Gpus, String> {
    nvidia::Cards::open(metrics, options).map(|cards| Gpus::Nvidia(Box::new(cards)))
}

#[cfg(not(feature = "gpu"))]
fn open_nvidia(_metrics: Metrics, _options: &GpuOptions) -> Result<Gpus, String> {
    Err("NVIDIA's cards are not looked for without the feature `gpu`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cards_there_is_one_warning() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = GpuOptions { sys: folder.path().into(), ..GpuOptions::default() };
        options.nvml = Some(folder.path().join("nothing.so"));
        let mut warnings = Vec::new();
        assert!(Gpus::open(&["used".to_owned()], &options, &mut warnings).is_none());
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("no GPU is read: no AMD card"), "{warnings:?}");
        assert!(Gpus::open(&[], &options, &mut warnings).is_none());
        assert_eq!(warnings.len(), 1);
    }
}
