//! Levels: how much a task captures.

use crate::words::words;

words! {
    /// How much a task captures.
    Level {
        /// Nothing is recorded.
        Off = 0 "off",
        /// Ids, parents, times, status.
        Lightweight = 1 "lightweight",
        /// And what was used and generated.
        Data = 2 "data",
        /// Ids, parents, times, status, and snapshots.
        Telemetry = 3 "telemetry",
        /// Everything.
        Full = 4 "full",
    }
}

impl Level {
    /// Whether used and generated values are captured.
    pub const fn has_values(self) -> bool {
        matches!(self, Self::Data | Self::Full)
    }

    /// Whether snapshots are taken.
    pub const fn has_snapshots(self) -> bool {
        matches!(self, Self::Telemetry | Self::Full)
    }
}
