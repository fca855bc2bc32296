//! The processors from /proc/cpuinfo, whose keys differ between architectures.

use std::collections::HashSet;
use std::fs;

use crate::linux::frequency;
use crate::linux::roots::Roots;
use crate::machine::CpuInfo;

pub(super) fn describe(roots: &Roots, cpu: &mut CpuInfo) {
    let text = fs::read(roots.proc.join("cpuinfo")).unwrap_or_default();
    parse(&String::from_utf8_lossy(&text), cpu);
    let advertised = cpu.brand_raw.as_deref().and_then(advertised_mhz);
    let actual = frequency::reported_mhz(&text).first().copied().or_else(|| frequency::mean_mhz(roots));
    cpu.set_frequency(actual, advertised);
}

fn parse(text: &str, cpu: &mut CpuInfo) {
    let entries = || text.lines().filter_map(|line| line.split_once(':'));
    let first = |keys: &[&str]| {
        let is_wanted = |key: &str| keys.iter().any(|wanted| wanted.eq_ignore_ascii_case(key.trim()));
        let value = entries().find(|(key, _)| is_wanted(key)).map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty()).map(str::to_owned)
    };
    let number = |keys: &[&str]| first(keys).as_deref().and_then(parse_number);
    cpu.count = entries().filter(|(key, _)| key.trim() == "processor").count();
    cpu.cores = cores(text);
    cpu.vendor_id_raw = first(&["vendor_id", "CPU implementer"]);
    cpu.brand_raw = first(&["model name", "cpu model", "uarch", "Hardware"]);
    cpu.family = number(&["cpu family", "CPU architecture"]);
    cpu.model = number(&["model", "CPU part"]);
    cpu.stepping = number(&["stepping", "CPU revision"]);
    cpu.flags = flags(&first(&["flags", "Features", "isa"]).unwrap_or_default());
}

fn flags(text: &str) -> Vec<String> {
    let mut flags: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
    flags.sort();
    flags.dedup();
    flags
}

/// The cores of all packages; none where the file does not tell.
fn cores(text: &str) -> Option<usize> {
    let mut cores = HashSet::new();
    let mut package = "";
    for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
        match key.trim() {
            "physical id" => package = value.trim(),
            "core id" => {
                cores.insert((package, value.trim()));
            }
            _ => {}
        }
    }
    (!cores.is_empty()).then_some(cores.len())
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Some brands end with their frequency: `… @ 2.60GHz`.
fn advertised_mhz(brand: &str) -> Option<f64> {
    let frequency = brand.rsplit_once('@')?.1.trim();
    let (digits, factor) = match (frequency.strip_suffix("GHz"), frequency.strip_suffix("MHz")) {
        (Some(digits), _) => (digits, 1000.0),
        (None, Some(digits)) => (digits, 1.0),
        (None, None) => return None,
    };
    digits.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intel_machine() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n\
            model name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\nstepping\t: 3\nphysical id\t: 0\ncore id\t\t: 0\n\
            flags\t\t: sse fpu sse\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t\t: 0\n";
        let mut cpu = CpuInfo::default();
        parse(text, &mut cpu);
        assert_eq!((cpu.count, cpu.cores, cpu.family, cpu.model), (2, Some(1), Some(6), Some(85)));
        assert_eq!(cpu.flags, ["fpu", "sse"]);
        assert_eq!(cpu.brand_raw.as_deref().and_then(advertised_mhz), Some(2200.0));
    }

    #[test]
    fn an_arm_machine() {
        let text = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\
            CPU architecture: 8\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";
        let mut cpu = CpuInfo::default();
        parse(text, &mut cpu);
        assert_eq!((cpu.count, cpu.cores, cpu.family, cpu.model), (1, None, Some(8), Some(0xd0c)));
        assert_eq!((cpu.vendor_id_raw.as_deref(), cpu.brand_raw), (Some("0x41"), None));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "([a-z ]{0,9}:?[0-9a-zx@.\n -]{0,20}){0,9}", brand: String) {
            parse(&text, &mut CpuInfo::default());
            advertised_mhz(&brand);
        }
    }
}
