//! A run over time by thread, with as many bars as a picture can show.

use std::collections::HashMap;

use serde::Serialize;
use telemetry_core::status::Status;
use telemetry_store::{Run, RunCall};

use crate::critical::Bounds;

/// Deeper calls of a thread are not told apart.
const DEPTH_MAX: usize = 64;

/// What is drawn, and how finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineLimits {
    /// What is shorter than one of so many columns is put together.
    pub columns: usize,
    /// Rows of a thread.
    pub depth_max: usize,
    /// Rows in all.
    pub rows_max: usize,
}

impl Default for TimelineLimits {
    fn default() -> Self {
        Self { columns: 400, depth_max: 6, rows_max: 48 }
    }
}

/// The bars of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The start, in unix nanoseconds.
    pub started_ns: i64,
    /// The end.
    pub ended_ns: i64,
    /// The rows, those of a thread below each other.
    pub rows: Vec<TimelineRow>,
    /// Activities by the time of their bars, the longest first: what the ranks of the bars refer to.
    pub ranked: Vec<String>,
    /// Rows that are not there.
    pub left_out: usize,
}

/// Calls of one depth on one thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TimelineRow {
    /// The thread.
    pub thread: String,
    /// How many calls of this thread are around them.
    pub depth: usize,
    /// The calls, by time.
    pub bars: Vec<Bar>,
}

/// A call, or several short ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Bar {
    /// When the first started, in unix nanoseconds.
    pub started_ns: i64,
    /// When the last ended.
    pub ended_ns: i64,
    /// The place of its activity, or of that of its longest call, among the ranked ones.
    pub rank: usize,
    /// How many calls.
    pub calls: u64,
    /// How many of them failed.
    pub errors: u64,
    #[serde(skip)]
    activity: u32,
    #[serde(skip)]
    longest_ns: i64,
}

impl Timeline {
    /// Lays the calls of a run out.
    #[must_use]
    pub fn new(run: &Run, bounds: Bounds, limits: TimelineLimits) -> Self {
        let mut timeline =
            Self { started_ns: bounds.started_ns, ended_ns: bounds.ended_ns, ..Self::default() };
        let short_ns = (bounds.ended_ns - bounds.started_ns) / limits.columns.max(1) as i64;
        let mut threads: Vec<((u32, u32), Vec<TimelineRow>)> = Vec::new();
        let mut known: HashMap<(u32, u32), usize> = HashMap::new();
        let mut ends: Vec<Vec<i64>> = Vec::new();
        let is_alone = run.calls.windows(2).all(|two| two[0].recorder == two[1].recorder);
        for &number in &in_order(&run.calls) {
            let call = &run.calls[number as usize];
            let thread = (call.recorder, call.thread);
            let place = *known.entry(thread).or_insert_with(|| {
                threads.push((thread, Vec::new()));
                ends.push(Vec::new());
                threads.len() - 1
            });
            let ended_ns = call.ended_ns.unwrap_or(bounds.ended_ns);
            let depth = slot(&mut ends[place], call.started_ns, ended_ns);
            if depth < limits.depth_max {
                let rows = &mut threads[place].1;
                while rows.len() <= depth {
                    let depth = rows.len();
                    rows.push(TimelineRow { thread: name(run, thread, is_alone), depth, bars: Vec::new() });
                }
                add(&mut rows[depth].bars, call, ended_ns, short_ns);
            }
        }
        timeline.rows = threads.into_iter().flat_map(|(_, rows)| rows).collect();
        timeline.left_out = timeline.rows.len().saturating_sub(limits.rows_max);
        timeline.rows.truncate(limits.rows_max);
        timeline.rank(run);
        timeline
    }

    /// The activity of a bar.
    #[must_use]
    pub fn name(&self, bar: &Bar) -> &str {
        self.ranked.get(bar.rank).map_or("–", String::as_str)
    }

    pub(crate) fn threads(&self) -> String {
        let threads = self.rows.iter().filter(|row| row.depth == 0).count();
        format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
    }

    fn rank(&mut self, run: &Run) {
        let mut times: HashMap<u32, i64> = HashMap::new();
        for bar in self.rows.iter().flat_map(|row| &row.bars) {
            *times.entry(bar.activity).or_default() += bar.ended_ns - bar.started_ns;
        }
        let mut order: Vec<(i64, u32)> = times.into_iter().map(|(activity, ns)| (-ns, activity)).collect();
        order.sort_unstable();
        let ranks: HashMap<u32, usize> =
            order.iter().enumerate().map(|(rank, (_, activity))| (*activity, rank)).collect();
        let name = |activity: &u32| run.activities.get(activity).cloned().unwrap_or_else(|| "–".to_owned());
        self.ranked = order.iter().map(|(_, activity)| name(activity)).collect();
        for bar in self.rows.iter_mut().flat_map(|row| &mut row.bars) {
            bar.rank = ranks.get(&bar.activity).copied().unwrap_or_default();
        }
    }
}

/// Callers before what they called.
fn in_order(calls: &[RunCall]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..calls.len() as u32).collect();
    order.sort_unstable_by_key(|&number| {
        let call = &calls[number as usize];
        (call.started_ns, std::cmp::Reverse(call.ended_ns.unwrap_or(i64::MAX)), number)
    });
    order
}

/// The first row of a thread that is free: the calls around a call hold those above.
fn slot(ends: &mut Vec<i64>, started_ns: i64, ended_ns: i64) -> usize {
    let free = ends.iter().position(|end_ns| *end_ns <= started_ns);
    let free = free.unwrap_or(ends.len());
    if free == ends.len() && free < DEPTH_MAX {
        ends.push(ended_ns);
    } else if free < ends.len() {
        ends[free] = ended_ns;
    }
    free
}

fn add(bars: &mut Vec<Bar>, call: &RunCall, ended_ns: i64, short_ns: i64) {
    let length_ns = ended_ns - call.started_ns;
    let errors = u64::from(call.status == Status::Error.code());
    if let Some(last) = bars.last_mut()
        && length_ns < short_ns
        && last.longest_ns < short_ns
        && call.started_ns - last.ended_ns < short_ns
    {
        last.ended_ns = last.ended_ns.max(ended_ns);
        last.calls += 1;
        last.errors += errors;
        if length_ns > last.longest_ns {
            (last.longest_ns, last.activity) = (length_ns, call.activity);
        }
        return;
    }
    let (started_ns, activity) = (call.started_ns, call.activity);
    bars.push(Bar { started_ns, ended_ns, rank: 0, calls: 1, errors, activity, longest_ns: length_ns });
}

fn name(run: &Run, (recorder, thread): (u32, u32), is_alone: bool) -> String {
    let name = run.threads.get(&thread).cloned().unwrap_or_else(|| format!("thread {thread}"));
    if is_alone { name } else { format!("{recorder}: {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(thread: u32, activity: u32, started_ns: i64, ended_ns: i64) -> RunCall {
        RunCall { thread, activity, started_ns, ended_ns: Some(ended_ns), status: 4, ..RunCall::default() }
    }

    #[test]
    fn calls_lie_below_what_is_around_them() {
        let mut run = Run::default();
        run.calls =
            vec![call(1, 0, 0, 1000), call(1, 1, 100, 400), call(1, 1, 500, 900), call(2, 1, 100, 900)];
        run.activities = HashMap::from([(0, "outer".to_owned()), (1, "inner".to_owned())]);
        run.threads = HashMap::from([(1, "main".to_owned())]);
        let bounds = Bounds { started_ns: 0, ended_ns: 1000 };
        let timeline =
            Timeline::new(&run, bounds, TimelineLimits { columns: 100, ..TimelineLimits::default() });
        let rows: Vec<(&str, usize, usize)> =
            timeline.rows.iter().map(|row| (&*row.thread, row.depth, row.bars.len())).collect();
        assert_eq!(rows, [("main", 0, 1), ("main", 1, 2), ("thread 2", 0, 1)]);
        assert_eq!(timeline.ranked, ["inner", "outer"]);
        assert_eq!(timeline.name(&timeline.rows[0].bars[0]), "outer");
    }

    #[test]
    fn what_is_too_short_to_see_is_put_together() {
        let mut run = Run::default();
        run.calls = (0..1000).map(|number| call(1, 0, number * 10, number * 10 + 5)).collect();
        let bounds = Bounds { started_ns: 0, ended_ns: 10_000 };
        let timeline =
            Timeline::new(&run, bounds, TimelineLimits { columns: 10, ..TimelineLimits::default() });
        assert_eq!(timeline.rows[0].bars.len(), 1);
        assert_eq!(timeline.rows[0].bars[0].calls, 1000);
    }
}
