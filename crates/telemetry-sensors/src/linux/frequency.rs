//! The current frequency of the processors. Slow: the kernel may ask each processor in turn.

use std::fs;
use std::path::{Path, PathBuf};

use super::roots::Roots;
use super::scan::{lines, number};

/// The mean of all processors in MHz; none where the system does not tell.
pub(crate) fn mean_mhz(roots: &Roots) -> Option<f64> {
    let reported = fs::read(roots.proc.join("cpuinfo")).map(|text| reported_mhz(&text)).unwrap_or_default();
    let policies = policies(&roots.sys);
    if policies.is_empty() || policies.len() == reported.len() {
        mean(&reported)
    } else {
        mean(&policies.iter().filter_map(|policy| policy_mhz(policy)).collect::<Vec<_>>())
    }
}

/// The lowest and the highest frequency of the first processor in Hz.
pub(crate) fn limits_hz(roots: &Roots) -> (Option<u64>, Option<u64>) {
    let folder = roots.sys.join("devices/system/cpu/cpu0/cpufreq");
    let hz = |name: &str| {
        fs::read(folder.join(name)).ok().and_then(|text| number(&text)).map(|khz| khz.saturating_mul(1000))
    };
    (hz("cpuinfo_min_freq"), hz("cpuinfo_max_freq"))
}

/// The lines `cpu MHz` of /proc/cpuinfo.
pub(crate) fn reported_mhz(text: &[u8]) -> Vec<f64> {
    let mhz = |line: &[u8]| {
        let line = std::str::from_utf8(line).ok()?;
        let (key, value) = line.split_once(':')?;
        key.trim().eq_ignore_ascii_case("cpu mhz").then(|| value.trim().parse().ok())?
    };
    lines(text).filter_map(mhz).filter(|mhz: &f64| mhz.is_finite()).collect()
}

fn policies(sys: &Path) -> Vec<PathBuf> {
    let processors = sys.join("devices/system/cpu");
    let policies = numbered(&processors.join("cpufreq"), "policy");
    if !policies.is_empty() {
        return policies;
    }
    let own = numbered(&processors, "cpu").into_iter().map(|processor| processor.join("cpufreq"));
    own.filter(|folder| folder.is_dir()).collect()
}

/// The entries of `folder` that are called `prefix` and a number.
pub(crate) fn numbered(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_numbered = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u32>().is_ok())
    };
    entries.flatten().map(|entry| entry.path()).filter(is_numbered).collect()
}

fn policy_mhz(policy: &Path) -> Option<f64> {
    let khz = |name: &str| fs::read(policy.join(name)).ok().and_then(|text| number(&text));
    khz("scaling_cur_freq").or_else(|| khz("cpuinfo_cur_freq")).map(|khz| khz as f64 / 1000.0)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_cpuinfo_or_from_policies_or_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        assert_eq!(mean_mhz(&roots), None);

        let policy = roots.sys.join("devices/system/cpu/cpufreq/policy0");
        fs::create_dir_all(&policy).unwrap();
        fs::write(policy.join("scaling_cur_freq"), "1400000\n").unwrap();
        assert_eq!(mean_mhz(&roots), Some(1400.0));

        fs::create_dir_all(&roots.proc).unwrap();
        fs::write(roots.proc.join("cpuinfo"), "cpu MHz\t\t: 2000.5\nflags: x\n").unwrap();
        assert_eq!(mean_mhz(&roots), Some(2000.5));
        fs::write(roots.proc.join("cpuinfo"), "cpu MHz : 1000\ncpu MHz : nan\ncpu MHz : 3000\n").unwrap();
        assert_eq!(mean_mhz(&roots), Some(1400.0));
        fs::remove_dir_all(&policy).unwrap();
        assert_eq!(mean_mhz(&roots), Some(2000.0));
    }
}
