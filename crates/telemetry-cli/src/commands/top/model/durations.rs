//! Durations in a few kilobytes, however many there are: the mean exactly, shares of them within 2 %.

/// Numbers below this have a bucket each; above it, each power of two has half as many.
const FINE: u64 = 64;
const FINE_BITS: u32 = FINE.ilog2();

/// Durations in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(in crate::commands::top) struct Durations {
    buckets: Vec<u64>,
    count: u64,
    sum_ns: u64,
}

impl Durations {
    pub(in crate::commands::top) fn add(&mut self, ns: u64) {
        let bucket = bucket(ns);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }

    pub(in crate::commands::top) fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    pub(in crate::commands::top) fn mean_ns(&self) -> Option<u64> {
        self.sum_ns.checked_div(self.count)
    }

    /// The duration that this share of them does not exceed.
    pub(in crate::commands::top) fn quantile_ns(&self, share: f64) -> Option<u64> {
        let wanted = (self.count as f64 * share).ceil().max(1.0) as u64;
        let mut passed = 0;
        let reaches = |count: &u64| {
            passed += count;
            passed >= wanted
        };
        self.buckets.iter().position(reaches).map(middle)
    }
}

fn bucket(ns: u64) -> usize {
    if ns < FINE {
        return ns as usize;
    }
    let shift = ns.ilog2() - (FINE_BITS - 1);
    (u64::from(shift) * (FINE / 2) + (ns >> shift)) as usize
}

/// The number in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < FINE {
        return bucket;
    }
    let shift = bucket / (FINE / 2) - 1;
    let first = bucket - shift * (FINE / 2);
    (first << shift) + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_narrow_and_holds_its_middle() {
        let numbers =
            (0..63).flat_map(|power| [0, 1, 7].map(|more| (1_u64 << power) + (1_u64 << power) / 8 * more));
        for ns in numbers.chain(0..5_000).chain([u64::MAX]) {
            let middle = middle(bucket(ns));
            assert_eq!(bucket(middle), bucket(ns), "{ns}");
            assert!(middle.abs_diff(ns) as f64 <= ns as f64 * 0.016, "{ns} {middle}");
        }
        assert!(bucket(u64::MAX) < 2_048);
    }

    #[test]
    fn shares_are_within_two_per_cent() {
        let mut durations = Durations::default();
        assert_eq!((durations.mean_ns(), durations.quantile_ns(0.95)), (None, None));
        (1..=100_000).for_each(|number| durations.add(number * 1_000));
        assert_eq!(durations.mean_ns(), Some(50_000_500));
        for (share, exact) in [(0.5, 50_000_000.0), (0.95, 95_000_000.0), (1.0, 100_000_000.0)] {
            let found = durations.quantile_ns(share).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.02, "{share} {found}");
        }
    }
}
