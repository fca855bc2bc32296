//! Percentages, rounded as psutil rounds them.

/// `part` of `whole` in percent with one decimal; 0 of nothing is 0.
pub(crate) fn of(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 / whole as f64 * 100.0) }
}

/// `percent` with one decimal.
pub(crate) fn rounded(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_decimal_and_no_division_by_zero() {
        assert_eq!([of(1, 3).to_bits(), of(5, 0).to_bits()], [33.3_f64.to_bits(), 0.0_f64.to_bits()]);
    }
}
