//! The block `gpu`: one entry a card. Makers tell different things, so most keys may be absent.

use serde::Serialize;

/// One card. A key is there when its metric is listed in the settings and the card tells it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Gpu {
    /// The number of the card; AMD only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_ix: Option<usize>,
    /// Memory in use, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// Memory, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// How busy the card is, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<u64>,
    /// How busy its parts are; AMD only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<GpuActivity>,
    /// What it draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<GpuPower>,
    /// How warm it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<GpuTemperature>,
    /// Its clocks under AMD's names; AMD only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<GpuOthers>,
    /// Its clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocks: Option<GpuClocks>,
    /// Who uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<GpuProcesses>,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its unique id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// How busy the parts of an AMD card are, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are AMD's")]
pub struct GpuActivity {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gfx_activity: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umc_activity: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mm_activity: Option<u64>,
}

/// What a card draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum GpuPower {
    /// Milliwatts; NVIDIA.
    Milliwatts(u64),
    /// AMD.
    Socket {
        /// Watts.
        #[serde(skip_serializing_if = "Option::is_none")]
        average_socket_power: Option<u64>,
        /// Units of 15.259 microjoules, since the driver was loaded.
        #[serde(skip_serializing_if = "Option::is_none")]
        energy_accumulator: Option<u64>,
    },
}

/// How warm a card is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum GpuTemperature {
    /// Degrees Celsius; NVIDIA.
    Celsius(u64),
    /// AMD.
    Sensors(GpuSensors),
}

/// The temperatures of an AMD card in degrees Celsius, and its fan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are AMD's")]
pub struct GpuSensors {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hotspot: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vrgfx: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vrmem: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hbm: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_speed: Option<u64>,
}

/// The clocks of an AMD card in MHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are AMD's")]
pub struct GpuOthers {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_gfxclk: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_socclk: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_uclk: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_vclk0: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_dclk0: Option<u64>,
}

/// The clocks of a card in MHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct GpuClocks {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphics: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<u64>,
}

/// Who uses a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GpuProcesses {
    /// How many processes compute on it; NVIDIA only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What this process uses of its memory, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_used: Option<u64>,
}
