//! Addresses of network interfaces.

use serde::Serialize;

/// An address of a network interface, in psutil's form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NetworkAddress {
    /// The number of the address family on this system.
    pub family: i32,
    /// The address.
    pub address: Option<String>,
    /// Its network's mask.
    pub netmask: Option<String>,
    /// Its network's broadcast address.
    pub broadcast: Option<String>,
    /// The address at the other end, of an interface between two points.
    pub ptp: Option<String>,
}
