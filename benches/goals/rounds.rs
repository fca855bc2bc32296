//! Rounds in which both sides take turns, and the statistics over them.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// Rounds at the beginning that are thrown away, since they touch pages and fill caches: so many, and of few
/// rounds, which are long ones, such a share.
const WARM_UP_MAX: usize = 5;
const WARM_UP_SHARE: usize = 4;

/// What the rounds of one comparison took.
#[derive(Debug)]
pub(crate) struct Rounds {
    pairs: Vec<(f64, f64)>,
}

impl Rounds {
    /// Measures both sides so often, each first in every other round.
    pub(crate) fn alternate(
        count: usize,
        mut ours: impl FnMut() -> f64,
        mut other: impl FnMut() -> f64,
    ) -> Self {
        let mut is_first = false;
        Self::in_turn(count, || {
            is_first = !is_first;
            if is_first {
                let ours = ours();
                (ours, other())
            } else {
                let other = other();
                (ours(), other)
            }
        })
    }

    /// Measures both sides so often, in the order that `round` gives them.
    pub(crate) fn in_turn(count: usize, mut round: impl FnMut() -> (f64, f64)) -> Self {
        let warm_up = WARM_UP_MAX.min(count / WARM_UP_SHARE);
        Self { pairs: (0..warm_up + count).map(|_| round()).skip(warm_up).collect() }
    }

    /// Two figures that cannot take turns, since one comes after the other.
    pub(crate) fn once(ours: f64, other: f64) -> Self {
        Self { pairs: vec![(ours, other)] }
    }

    /// The median of our side.
    pub(crate) fn ours(&self) -> f64 {
        percentile(self.pairs.iter().map(|pair| pair.0), 50)
    }

    /// The median of the other side.
    pub(crate) fn other(&self) -> f64 {
        percentile(self.pairs.iter().map(|pair| pair.1), 50)
    }

    /// The median of the rounds' ratios, ours by the other's.
    pub(crate) fn ratio(&self) -> f64 {
        self.ratio_at(50)
    }

    /// The 10th and 90th percentile of the rounds' ratios, of which one alone has none.
    pub(crate) fn spread(&self) -> Option<[f64; 2]> {
        (self.pairs.len() > 1).then(|| [self.ratio_at(10), self.ratio_at(90)])
    }

    fn ratio_at(&self, per_cent: usize) -> f64 {
        percentile(self.pairs.iter().map(|pair| pair.0 / pair.1), per_cent)
    }
}

/// The one in the middle.
pub(crate) fn median(values: Vec<f64>) -> f64 {
    percentile(values.into_iter(), 50)
}

fn percentile(values: impl Iterator<Item = f64>, per_cent: usize) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * per_cent / 100]
}

/// Nanoseconds that one of `count` calls took on average.
pub(crate) fn time_each(count: usize, run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_nanos() as f64 / count as f64
}

/// Seconds of processor time that the calling thread spends: what else runs on the machine is not in them.
pub(crate) fn thread_cpu(work: impl FnOnce()) -> f64 {
    let now = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has this clock");
    let start = now();
    work();
    Duration::from(now() - start).as_secs_f64()
}
