//! One pass over the numbers of a tensor, without a copy of them, or over a sample of blocks.

use super::{InspectRequest, Number};

/// How long the blocks of a sample are: long enough for the processor to read them at full speed.
const BLOCK: usize = 128;

/// What a pass over numbers found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scan {
    pub(super) density: Option<f64>,
    pub(super) statistics: Option<Statistics>,
}

/// What is told of the numbers on request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Statistics {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) mean: f64,
    pub(super) nan_count: usize,
}

/// Scans numbers that lie side by side.
pub(super) fn scan<T: Number>(numbers: &[T], request: &InspectRequest) -> Scan {
    Scan {
        density: request.density.then(|| density(numbers, request.numbers_max)),
        statistics: request.statistics.then(|| statistics(numbers.iter().copied())),
    }
}

/// Scans numbers that do not lie side by side; `count` of them, which `numbers` goes through.
pub(super) fn scan_each<T: Number, I: Iterator<Item = T>>(
    numbers: impl Fn() -> I,
    count: usize,
    request: &InspectRequest,
) -> Scan {
    let step = request.numbers_max.map_or(1, |max| count.div_ceil(max.max(1))).max(1);
    let density = || {
        let (all, zeros) = numbers().step_by(step).fold((0_usize, 0_usize), |(all, zeros), number| {
            (all + 1, zeros + usize::from(number.is_zero()))
        });
        share(all - zeros, all)
    };
    Scan {
        density: request.density.then(density),
        statistics: request.statistics.then(|| statistics(numbers())),
    }
}

/// The share of the numbers that are not zero; of more numbers than `numbers_max`, in blocks that lie evenly apart.
fn density<T: Number>(numbers: &[T], numbers_max: Option<usize>) -> f64 {
    let blocks = numbers_max.map_or(usize::MAX, |max| max.div_ceil(BLOCK).max(1));
    if numbers.len() / BLOCK <= blocks {
        return share(numbers.chunks(BLOCK).map(nonzero).sum(), numbers.len());
    }
    let distance = numbers.len() / blocks;
    let starts = (0..blocks).map(|block| block * distance);
    let found: usize = starts.map(|start| nonzero(&numbers[start..start + BLOCK])).sum();
    share(found, blocks * BLOCK)
}

/// Of one block. The sum is narrow, so that many numbers are compared at once.
#[inline]
fn nonzero<T: Number>(block: &[T]) -> usize {
    block.iter().map(|number| u32::from(!number.is_zero())).sum::<u32>() as usize
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

fn statistics<T: Number>(numbers: impl Iterator<Item = T>) -> Statistics {
    let (mut min, mut max, mut sum, mut count, mut nan_count) = (f64::NAN, f64::NAN, 0.0, 0_usize, 0);
    for number in numbers.map(Number::to_f64) {
        if number.is_nan() {
            nan_count += 1;
            continue;
        }
        (min, max) = (min.min(number), max.max(number));
        sum += number;
        count += 1;
    }
    Statistics { min, max, mean: sum / count as f64, nan_count }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: InspectRequest = InspectRequest { density: true, statistics: true, numbers_max: None };

    fn sampled(numbers_max: usize) -> InspectRequest {
        InspectRequest { statistics: false, numbers_max: Some(numbers_max), ..ALL }
    }

    #[test]
    fn every_number_counts_where_no_sample_is_asked_for() {
        for length in [1, 127, 128, 129, 1000] {
            let numbers: Vec<f32> = (0..length).map(|i| if i % 4 == 0 { 0.0 } else { 1.0 }).collect();
            let zeros = numbers.iter().filter(|number| **number == 0.0).count();
            let expected = (length - zeros) as f64 / length as f64;
            assert_eq!(scan(&numbers, &ALL).density, Some(expected));
            assert_eq!(scan_each(|| numbers.iter().copied(), length, &ALL), scan(&numbers, &ALL));
        }
        assert_eq!(scan::<f32>(&[], &ALL).density, Some(0.0));
        assert_eq!(scan(&[f32::NAN, -0.0], &ALL).density, Some(0.5), "NaN is not zero, minus zero is");
    }

    #[test]
    fn a_sample_is_near_and_reads_only_so_much() {
        let numbers: Vec<u8> = (0..1_000_000).map(|i| u8::from(i >= 250_000)).collect();
        let density = scan(&numbers, &sampled(8192)).density.unwrap();
        assert!((density - 0.75).abs() < 0.02, "{density}");
        let reads = std::cell::Cell::new(0);
        let each = || numbers.iter().inspect(|_| reads.set(reads.get() + 1)).copied();
        let density = scan_each(each, numbers.len(), &sampled(8192)).density.unwrap();
        assert!((density - 0.75).abs() < 0.02, "{density}");
        assert!(reads.get() <= numbers.len(), "one pass, not {}", reads.get());
    }

    #[test]
    fn statistics_pass_over_nan() {
        let found = scan(&[3.0, f64::NAN, -1.0, 4.0], &ALL).statistics.unwrap();
        assert_eq!(found, Statistics { min: -1.0, max: 4.0, mean: 2.0, nan_count: 1 });
        let nothing = scan(&[f64::NAN], &ALL).statistics.unwrap();
        assert!(nothing.min.is_nan() && nothing.mean.is_nan() && nothing.nan_count == 1);
    }
}
