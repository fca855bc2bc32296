//! The binary table `gpu_metrics` of AMD's driver, of the revisions 1.1 to 1.3 that discrete cards have.
//!
//! Fields stand at fixed places, little-endian; all bits set means that the card does not tell.

/// The fields that are of interest. Temperatures in degrees, clocks in MHz, activity in percent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) edge: Option<u64>,
    pub(crate) hotspot: Option<u64>,
    pub(crate) mem: Option<u64>,
    pub(crate) vrgfx: Option<u64>,
    pub(crate) vrmem: Option<u64>,
    pub(crate) hbm: Vec<u64>,
    pub(crate) gfx_activity: Option<u64>,
    pub(crate) umc_activity: Option<u64>,
    pub(crate) mm_activity: Option<u64>,
    pub(crate) socket_power: Option<u64>,
    pub(crate) energy: Option<u64>,
    pub(crate) gfxclk: Option<u64>,
    pub(crate) socclk: Option<u64>,
    pub(crate) uclk: Option<u64>,
    pub(crate) vclk0: Option<u64>,
    pub(crate) dclk0: Option<u64>,
    pub(crate) fan_speed: Option<u64>,
}

impl Table {
    /// An unknown or cut table is an empty one.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        if !matches!(bytes.get(2..4), Some([1, 1..=3])) {
            return Self::default();
        }
        let short = |at: usize| short(bytes, at);
        Self {
            edge: short(4),
            hotspot: short(6),
            mem: short(8),
            vrgfx: short(10),
            vrmem: short(14),
            gfx_activity: short(16),
            umc_activity: short(18),
            mm_activity: short(20),
            socket_power: short(22),
            energy: long(bytes, 24),
            gfxclk: short(54),
            socclk: short(56),
            uclk: short(58),
            vclk0: short(60),
            dclk0: short(62),
            fan_speed: short(72),
            hbm: [88, 90, 92, 94].into_iter().filter_map(short).collect(),
        }
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_le_bytes(field)).filter(|value| *value != u16::MAX).map(u64::from)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(field)).filter(|value| *value != u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_cut_tables_tell_what_they_can() {
        assert_eq!(Table::parse(&[]), Table::default());
        assert_eq!(Table::parse(&[0, 0, 2, 1, 9, 0]), Table::default());
        let cut = Table::parse(&[6, 0, 1, 3, 41, 0, 255, 255]);
        assert_eq!(cut, Table { edge: Some(41), ..Table::default() });
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes: Vec<u8>) {
            Table::parse(&bytes);
            bytes.splice(0..0, [0, 0, 1, 3]);
            Table::parse(&bytes);
        }
    }
}
