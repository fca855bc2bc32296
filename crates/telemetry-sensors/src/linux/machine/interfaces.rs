//! Addresses of the network interfaces.

use std::collections::BTreeMap;

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{AddressFamily, SockaddrLike, SockaddrStorage};

use crate::machine::NetworkAddress;

/// The addresses of each interface; none if the system does not tell.
pub(super) fn addresses() -> BTreeMap<String, Vec<NetworkAddress>> {
    let mut interfaces = BTreeMap::<String, Vec<NetworkAddress>>::new();
    for interface in getifaddrs().into_iter().flatten() {
        let Some(address) = network_address(&interface) else { continue };
        interfaces.entry(interface.interface_name).or_default().push(address);
    }
    interfaces
}

fn network_address(interface: &InterfaceAddress) -> Option<NetworkAddress> {
    let family = interface.address.as_ref()?.family()?;
    let told = |address: &Option<SockaddrStorage>| address.as_ref().and_then(text);
    let only_if = |flag| move |_: &String| interface.flags.contains(flag);
    Some(NetworkAddress {
        family: family as i32,
        address: told(&interface.address).map(|address| scoped(address, interface)),
        // What stands there for a hardware address is no mask.
        netmask: told(&interface.netmask).filter(|_| family != AddressFamily::Packet),
        broadcast: told(&interface.broadcast).filter(only_if(InterfaceFlags::IFF_BROADCAST)),
        ptp: told(&interface.destination).filter(only_if(InterfaceFlags::IFF_POINTOPOINT)),
    })
}

/// An address that is only valid on its link names the interface.
fn scoped(address: String, interface: &InterfaceAddress) -> String {
    let six = interface.address.as_ref().and_then(|address| address.as_sockaddr_in6());
    let is_local = six.is_some_and(|six| six.scope_id() != 0);
    if is_local { format!("{address}%{}", interface.interface_name) } else { address }
}

fn text(address: &SockaddrStorage) -> Option<String> {
    let four = address.as_sockaddr_in().map(|address| address.ip().to_string());
    let six = || address.as_sockaddr_in6().map(|address| address.ip().to_string());
    let link = || address.as_link_addr().and_then(nix::sys::socket::LinkAddr::addr).map(hardware);
    four.or_else(six).or_else(link)
}

fn hardware(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_its_address() {
        let interfaces = addresses();
        let loopback = interfaces["lo"].iter().find(|address| address.family == 2).unwrap();
        assert_eq!(
            (loopback.address.as_deref(), loopback.netmask.as_deref()),
            (Some("127.0.0.1"), Some("255.0.0.0"))
        );
    }
}
