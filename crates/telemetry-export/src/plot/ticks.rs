//! At which values an axis has a line: few, and round in the unit that they are written in.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

/// An axis from zero on with lines that were chosen.
pub(super) struct Axis {
    values: RangedCoordf64,
    ticks: Vec<f64>,
}

impl Axis {
    pub(super) fn new(most: f64, ticks: Vec<f64>) -> Self {
        Self { values: (0.0..most).into(), ticks }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.values.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.values.range()
    }
}

/// At most so many, besides zero.
const TICKS: f64 = 4.0;

/// Multiples of one, two or five of a power of ten.
pub(super) fn ticks(most: f64) -> Vec<f64> {
    multiples(most, step(most))
}

/// Multiples that are round as bytes, KiB, MiB and so on.
pub(super) fn ticks_of_bytes(most: f64) -> Vec<f64> {
    let unit = 1024_f64.powf(most.max(1.0).log(1024.0).floor());
    multiples(most, step(most / unit) * unit)
}

/// The least of one, two or five of a power of ten that is enough.
fn step(most: f64) -> f64 {
    let power = 10_f64.powf((most / TICKS).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|times| times * power);
    steps.into_iter().find(|step| most / step <= TICKS).unwrap_or(10.0 * power)
}

fn multiples(most: f64, step: f64) -> Vec<f64> {
    (0..=(most / step) as u32).map(|times| f64::from(times) * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEBIBYTE: f64 = 1_048_576.0;

    #[test]
    fn lines_are_at_round_values() {
        assert_eq!(ticks(105.0), [0.0, 50.0, 100.0]);
        assert_eq!(ticks(1.05), [0.0, 0.5, 1.0]);
        assert_eq!(ticks(38.0), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(ticks(4.0), [0.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn bytes_are_round_in_their_unit() {
        let in_mebibytes =
            |most: f64| ticks_of_bytes(most * MEBIBYTE).iter().map(|it| it / MEBIBYTE).collect::<Vec<_>>();
        assert_eq!(in_mebibytes(20.8), [0.0, 10.0, 20.0]);
        assert_eq!(in_mebibytes(1.7), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(in_mebibytes(2_048.0), [0.0, 512.0, 1_024.0, 1_536.0, 2_048.0]);
        assert_eq!(ticks_of_bytes(1.0), [0.0, 0.5, 1.0]);
    }
}
