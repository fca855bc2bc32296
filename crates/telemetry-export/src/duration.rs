//! A duration in three digits, or in two units from a minute on.

const UNITS: [(u64, &str); 4] = [(1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")];
const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_S: u64 = 60;
const HOUR_S: u64 = 60 * MINUTE_S;
const DAY_S: u64 = 24 * HOUR_S;

/// A duration as people say it: `950 ns`, `12.3 µs`, `4.56 ms`, `1.20 s`, `3 min 20 s`, `2 h 5 min`.
///
/// ```
/// assert_eq!(telemetry_export::duration(4_560_000), "4.56 ms");
/// ```
#[must_use]
pub fn duration(ns: u64) -> String {
    let seconds = ns.saturating_add(SECOND_NS / 2) / SECOND_NS;
    // 59.95 s would round to "60.0 s".
    if ns < MINUTE_S * SECOND_NS - SECOND_NS / 20 {
        UNITS.iter().find_map(|&(unit_ns, name)| in_unit(ns, unit_ns, name)).unwrap_or_default()
    } else if seconds < HOUR_S {
        format!("{} min {} s", seconds / MINUTE_S, seconds % MINUTE_S)
    } else if seconds < DAY_S {
        format!("{} h {} min", seconds / HOUR_S, seconds % HOUR_S / MINUTE_S)
    } else {
        format!("{} d {} h", seconds / DAY_S, seconds % DAY_S / HOUR_S)
    }
}

/// Nothing if three digits before the point do not hold it.
fn in_unit(ns: u64, unit_ns: u64, name: &str) -> Option<String> {
    let rounded = |digits: u32| {
        let step = (unit_ns / 10_u64.pow(digits)).max(1);
        (ns + step / 2) / step
    };
    if unit_ns == 1 {
        return (ns < 1_000).then(|| format!("{ns} {name}"));
    }
    match (rounded(2), rounded(1), rounded(0)) {
        (hundredths @ ..1_000, _, _) => Some(format!("{}.{:02} {name}", hundredths / 100, hundredths % 100)),
        (_, tenths @ ..1_000, _) => Some(format!("{}.{} {name}", tenths / 10, tenths % 10)),
        (_, _, whole @ ..1_000) => Some(format!("{whole} {name}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_reads_well() {
        let expected = [
            (0, "0 ns"),
            (950, "950 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (4_560_000, "4.56 ms"),
            (9_995_000, "10.0 ms"),
            (1_200_000_000, "1.20 s"),
            (59_940_000_000, "59.9 s"),
            (59_960_000_000, "1 min 0 s"),
            (200_000_000_000, "3 min 20 s"),
            (3_599_600_000_000, "1 h 0 min"),
            (7_500_000_000_000, "2 h 5 min"),
            (273_600_000_000_000, "3 d 4 h"),
            (u64::MAX, "213503 d 23 h"),
        ];
        for (ns, text) in expected {
            assert_eq!(duration(ns), text, "{ns}");
        }
    }
}
