//! Where the pseudo file systems are mounted; tests put recorded trees in their place.

use std::path::PathBuf;

/// Where the pseudo file systems are mounted.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    pub(crate) proc: PathBuf,
    pub(crate) sys: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into() }
    }
}
