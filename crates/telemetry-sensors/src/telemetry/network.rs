//! The block `network`.

use std::ops::AddAssign;

use serde::Serialize;

use super::named::Named;

/// Network traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Network {
    /// The traffic of all interfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netio_sum: Option<NetworkIo>,
    /// The traffic of each interface that both sent and received something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netio_per_interface: Option<Named<NetworkIo>>,
}

/// Network traffic since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are psutil's and say it")]
pub struct NetworkIo {
    pub bytes_sent: u64,
    pub bytes_recv: u64,
    pub packets_sent: u64,
    pub packets_recv: u64,
    pub errin: u64,
    pub errout: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropin: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropout: Option<u64>,
}

impl AddAssign for NetworkIo {
    fn add_assign(&mut self, other: Self) {
        self.bytes_sent = self.bytes_sent.wrapping_add(other.bytes_sent);
        self.bytes_recv = self.bytes_recv.wrapping_add(other.bytes_recv);
        self.packets_sent = self.packets_sent.wrapping_add(other.packets_sent);
        self.packets_recv = self.packets_recv.wrapping_add(other.packets_recv);
        self.errin = self.errin.wrapping_add(other.errin);
        self.errout = self.errout.wrapping_add(other.errout);
        self.dropin = add(self.dropin, other.dropin);
        self.dropout = add(self.dropout, other.dropout);
    }
}

/// What one side does not tell is not 0.
fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.zip(other).map(|(one, other)| one.wrapping_add(other)).or(one).or(other)
}
