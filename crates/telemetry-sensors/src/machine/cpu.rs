//! The processors, in the form of py-cpuinfo.

use serde::Serialize;

/// What the processors are. Sizes in bytes, caches of all processors together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are py-cpuinfo's and say it")]
pub struct CpuInfo {
    pub arch: String,
    pub arch_string_raw: String,
    pub bits: u32,
    /// How many processors the system sees.
    pub count: usize,
    /// How many cores they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_id_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stepping: Option<u64>,
    pub flags: Vec<String>,
    /// Whole hertz and a fraction, which is always 0 here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hz_actual: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hz_actual_friendly: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hz_advertised: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hz_advertised_friendly: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hz_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hz_min: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_data_cache_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_instruction_cache_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_cache_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_cache_line_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_cache_associativity: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l3_cache_size: Option<u64>,
}

impl CpuInfo {
    /// Of a machine of the kind that `uname` names.
    pub(crate) fn of_machine(machine: &str) -> Self {
        Self {
            arch: architecture(machine),
            arch_string_raw: machine.to_owned(),
            bits: usize::BITS,
            ..Self::default()
        }
    }

    /// Sets the current frequency and the advertised one; the latter is the former where none is known.
    pub(crate) fn set_frequency(&mut self, actual_mhz: Option<f64>, advertised_mhz: Option<f64>) {
        let advertised_mhz = advertised_mhz.or(actual_mhz);
        self.hz_actual = actual_mhz.map(hertz);
        self.hz_actual_friendly = actual_mhz.map(friendly);
        self.hz_advertised = advertised_mhz.map(hertz);
        self.hz_advertised_friendly = advertised_mhz.map(friendly);
    }
}

fn hertz(mhz: f64) -> (u64, u64) {
    ((mhz * 1e6).round() as u64, 0)
}

fn friendly(mhz: f64) -> String {
    format!("{:.4} GHz", mhz / 1000.0)
}

fn architecture(machine: &str) -> String {
    match machine {
        "x86_64" | "amd64" => "X86_64",
        "i386" | "i586" | "i686" => "X86_32",
        "aarch64" | "arm64" => "ARM_8",
        "ppc64" | "ppc64le" => "PPC_64",
        "riscv64" => "RISCV_64",
        "s390x" => "S390X",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_told_for_machines_and_for_people() {
        let mut cpu = CpuInfo::of_machine("x86_64");
        cpu.set_frequency(Some(2596.122), None);
        assert_eq!(cpu.arch, "X86_64");
        assert_eq!(cpu.hz_advertised, Some((2_596_122_000, 0)));
        assert_eq!(cpu.hz_actual_friendly.as_deref(), Some("2.5961 GHz"));
    }
}
