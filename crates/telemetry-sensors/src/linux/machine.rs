//! What Linux tells of the machine.

mod caches;
mod cpuinfo;
mod interfaces;
mod login;

use nix::sys::utsname::uname;

use super::frequency;
use super::roots::Roots;
use crate::machine::{CpuInfo, Facts, PlatformInfo};

/// What Linux tells of the machine.
pub(crate) fn facts() -> Facts {
    let roots = Roots::default();
    let platform = platform();
    Facts {
        cpu: cpu(&roots, &platform.machine),
        network: interfaces::addresses(),
        login_name: login::name(),
        platform,
    }
}

fn platform() -> PlatformInfo {
    let Ok(names) = uname() else { return PlatformInfo::default() };
    let text = |name: &std::ffi::OsStr| name.to_string_lossy().into_owned();
    PlatformInfo {
        system: text(names.sysname()),
        node: text(names.nodename()),
        release: text(names.release()),
        version: text(names.version()),
        machine: text(names.machine()),
    }
}

fn cpu(roots: &Roots, machine: &str) -> CpuInfo {
    let mut cpu = CpuInfo::of_machine(machine);
    cpuinfo::describe(roots, &mut cpu);
    caches::measure(roots, &mut cpu);
    let (hz_min, hz_max) = frequency::limits_hz(roots);
    CpuInfo { hz_max, hz_min, ..cpu }
}
