//! What samples of durations say: quantiles, outliers, and whether two samples differ.

/// The value below which a share of sorted values lies, between two of them in proportion; as numpy's default.
///
/// ```
/// assert_eq!(telemetry_export::statistics::quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.5));
/// ```
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

/// The middle of sorted values.
#[must_use]
pub fn median(sorted: &[f64]) -> Option<f64> {
    quantile(sorted, 0.5)
}

/// The values beyond which something is an outlier: one and a half times the range of the middle half, below
/// and above it (Tukey's fences).
#[must_use]
pub fn fences(sorted: &[f64]) -> Option<(f64, f64)> {
    let (low, high) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    let reach = 1.5 * (high - low);
    Some((low - reach, high + reach))
}

/// The outcome of a Mann–Whitney test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// The probability of a difference at least as large between samples of one population, two-sided.
    pub p_value: f64,
    /// How often a value of the second sample is greater than one of the first; equal ones count half.
    /// 0.5 is no difference.
    pub effect: f64,
}

/// Compares two sorted samples; none for an empty one. Exact for small samples without equal values, else by
/// the normal approximation, corrected for equal values and for continuity.
///
/// ```
/// use telemetry_export::statistics::mann_whitney;
///
/// let outcome = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
/// assert_eq!(outcome.effect, 1.0);
/// assert!((outcome.p_value - 0.1).abs() < 1e-9);
/// ```
#[must_use]
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let (below, ties) = compare(first, second);
    let pairs = first.len() as f64 * second.len() as f64;
    let is_small = first.len().max(second.len()) <= EXACT_MAX;
    let p_value = if is_small && ties == 0.0 {
        exact(first.len(), second.len(), below.min(pairs - below) as usize)
    } else {
        approximate(first.len() as f64, second.len() as f64, below, ties)
    };
    Some(MannWhitney { p_value, effect: below / pairs })
}

/// Samples up to this size are compared exactly.
const EXACT_MAX: usize = 25;

/// In how many pairs the first value is the smaller one, equal ones half; and the sum of `t³ − t` over groups of
/// `t` equal values.
fn compare(first: &[f64], second: &[f64]) -> (f64, f64) {
    let (mut below, mut ties) = (0.0, 0.0);
    let (mut one, mut other) = (0, 0);
    while one < first.len() || other < second.len() {
        let next = match (first.get(one), second.get(other)) {
            (Some(a), Some(b)) => a.min(*b),
            (Some(only), None) | (None, Some(only)) => *only,
            (None, None) => break,
        };
        let equal = |values: &[f64]| values.iter().take_while(|value| **value <= next).count();
        let (here, there) = (equal(&first[one..]), equal(&second[other..]));
        below += here as f64 * ((second.len() - other - there) as f64 + there as f64 / 2.0);
        let tied = (here + there) as f64;
        ties += tied.powi(3) - tied;
        (one, other) = (one + here, other + there);
    }
    (below, ties)
}

/// Twice the share of all orders of the two samples whose statistic is at most this.
fn exact(first: usize, second: usize, statistic: usize) -> f64 {
    // counts[j][u]: orders of the values so far with j of the second sample and the statistic u.
    let size = first * second + 1;
    let mut counts = vec![vec![0.0_f64; size]; second + 1];
    for row in &mut counts {
        row[0] = 1.0;
    }
    for placed in 1..=first {
        let mut next = vec![vec![0.0_f64; size]; second + 1];
        next[0][0] = 1.0;
        for other in 1..=second {
            for value in 0..=placed * other {
                // The largest value is of the second sample, or of the first and above all of the second.
                let of_second = next[other - 1][value];
                let of_first = if value >= other { counts[other][value - other] } else { 0.0 };
                next[other][value] = of_second + of_first;
            }
        }
        counts = next;
    }
    let all: f64 = counts[second].iter().sum();
    let tail: f64 = counts[second][..=statistic].iter().sum();
    (2.0 * tail / all).min(1.0)
}

fn approximate(first: f64, second: f64, below: f64, ties: f64) -> f64 {
    let (all, mean) = (first + second, first * second / 2.0);
    let variance = first * second / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((below - mean).abs() - 0.5).max(0.0) / variance.sqrt();
    complementary_error(distance / std::f64::consts::SQRT_2)
}

/// The complementary error function, within 1.2e-7 of its value (Numerical Recipes' Chebyshev fit).
fn complementary_error(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * x);
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient);
    t * (polynomial - x * x).exp()
}

/// Corrects p-values of several tests, so that the chance of any false alarm among all of them stays what it is
/// for one (Holm).
///
/// ```
/// assert_eq!(telemetry_export::statistics::holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, &number) in order.iter().enumerate() {
        least = least.max(p_values[number] * (p_values.len() - rank) as f64).min(1.0);
        corrected[number] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against scipy.stats.mannwhitneyu of the same values.
    #[test]
    fn tests_agree_with_scipy() {
        let first: Vec<f64> = vec![1.1, 2.3, 2.9, 3.7, 4.2, 5.5, 6.1, 7.8];
        let second: Vec<f64> = vec![2.0, 3.1, 4.8, 5.9, 6.6, 7.2, 8.4, 9.3, 9.9];
        let outcome = mann_whitney(&first, &second).unwrap();
        assert!((outcome.p_value - 0.113_944_878_650_761).abs() < 1e-9, "{outcome:?}");
        let tied = mann_whitney(
            &[1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 5.0],
            &[2.0, 3.0, 4.0, 4.0, 5.0, 5.0, 6.0, 7.0],
        );
        assert!((tied.unwrap().p_value - 0.054_640_954_732_943_13).abs() < 1e-6, "{tied:?}");
        let many: Vec<f64> = (0..60).map(f64::from).collect();
        let later: Vec<f64> = (0..50).map(|number| f64::from(number) + 10.5).collect();
        let outcome = mann_whitney(&many, &later).unwrap();
        assert!((outcome.p_value - 0.099_388_768_340_094_5).abs() < 1e-6, "{outcome:?}");
    }

    #[test]
    fn equal_samples_do_not_differ() {
        let outcome = mann_whitney(&[5.0; 20], &[5.0; 9]).unwrap();
        assert_eq!((outcome.p_value, outcome.effect), (1.0, 0.5));
        assert_eq!(mann_whitney(&[], &[1.0]), None);
    }

    #[test]
    fn quantiles_and_fences() {
        let values: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(
            (quantile(&values, 0.25), median(&values), quantile(&values, 1.0)),
            (Some(3.0), Some(5.0), Some(9.0))
        );
        assert_eq!(fences(&values), Some((-3.0, 13.0)));
        assert_eq!(median(&[]), None);
    }
}
