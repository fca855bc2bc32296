//! What sysinfo tells of the machine.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sysinfo::{CpuRefreshKind, IpNetwork, NetworkData, Networks, System};

use crate::machine::{CpuInfo, Facts, NetworkAddress, PlatformInfo};

/// What sysinfo tells of the machine.
pub(crate) fn facts() -> Facts {
    let platform = PlatformInfo {
        system: System::name().unwrap_or_default(),
        node: System::host_name().unwrap_or_default(),
        release: System::kernel_version().unwrap_or_default(),
        version: System::long_os_version().unwrap_or_default(),
        machine: System::cpu_arch(),
    };
    Facts { cpu: cpu(&platform.machine), network: addresses(), login_name: None, platform }
}

fn cpu(machine: &str) -> CpuInfo {
    let mut cpu = CpuInfo::of_machine(machine);
    let Ok(mut system) = System::new() else { return cpu };
    system.refresh_cpu_list(CpuRefreshKind::nothing().with_frequency());
    cpu.count = system.cpus().len();
    cpu.cores = System::physical_core_count().ok();
    if let Some(first) = system.cpus().first() {
        cpu.vendor_id_raw = Some(first.vendor_id().to_owned());
        cpu.brand_raw = Some(first.brand().trim().to_owned());
        cpu.set_frequency(Some(first.frequency()).filter(|mhz| *mhz > 0).map(|mhz| mhz as f64), None);
    }
    cpu
}

fn addresses() -> BTreeMap<String, Vec<NetworkAddress>> {
    let Ok(networks) = Networks::new_with_refreshed_list() else { return BTreeMap::new() };
    networks.iter().map(|(name, data)| (name.to_string_lossy().into_owned(), addresses_of(data))).collect()
}

fn addresses_of(data: &NetworkData) -> Vec<NetworkAddress> {
    data.ip_networks().iter().map(network_address).collect()
}

fn network_address(network: &IpNetwork) -> NetworkAddress {
    let (family, netmask) = match network.addr {
        IpAddr::V4(_) => (2, four_mask(network.prefix).to_string()),
        IpAddr::V6(_) => (six_family(), six_mask(network.prefix).to_string()),
    };
    NetworkAddress {
        family,
        address: Some(network.addr.to_string()),
        netmask: Some(netmask),
        ..NetworkAddress::default()
    }
}

fn six_family() -> i32 {
    match std::env::consts::OS {
        "macos" | "ios" => 30,
        "freebsd" => 28,
        "netbsd" | "openbsd" => 24,
        "windows" => 23,
        _ => 10,
    }
}

fn four_mask(prefix: u8) -> Ipv4Addr {
    Ipv4Addr::from(u32::MAX.checked_shl(32_u32.saturating_sub(prefix.into())).unwrap_or(0))
}

fn six_mask(prefix: u8) -> Ipv6Addr {
    Ipv6Addr::from(u128::MAX.checked_shl(128_u32.saturating_sub(prefix.into())).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!(
            [0, 8, 24, 32].map(|prefix| four_mask(prefix).to_string()).join(" "),
            "0.0.0.0 255.0.0.0 255.255.255.0 255.255.255.255"
        );
        assert_eq!(
            [0, 64, 128].map(|prefix| six_mask(prefix).to_string())[..2].join(" "),
            ":: ffff:ffff:ffff:ffff::"
        );
    }

    #[test]
    fn the_machine_has_processors_and_a_name() {
        let facts = facts();
        assert!(facts.cpu.count > 0 && !facts.platform.node.is_empty());
        assert!(facts.network.values().flatten().any(|address| address.address.is_some()));
    }
}
