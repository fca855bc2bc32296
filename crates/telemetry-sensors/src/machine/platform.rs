//! The operating system.

use serde::Serialize;

/// What `uname` tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlatformInfo {
    /// The operating system.
    pub system: String,
    /// The name of the machine.
    pub node: String,
    /// The release of the system.
    pub release: String,
    /// The version of the release.
    pub version: String,
    /// The kind of machine.
    pub machine: String,
}
