//! Every form of function with `#[task]`, run while it is recorded, beside the same function without: same output, same
//! drops, same panics, same auto traits, and a future that is a few words larger.
//!
//! The same cells are run without capture by `tests/no-capture`.

mod cells;

use telemetry::testing;

/// By how much a future may grow: the record of the call, and what aligns it.
const MORE_BYTES_MAX: usize = 72;

#[test]
fn every_cell_does_the_same_recorded_or_not() {
    assert_eq!(cells::run_all(MORE_BYTES_MAX).cells, cells::CELLS);
    let mut ran = cells::Ran::default();
    let recorded = testing::record(|| ran = cells::run_all(MORE_BYTES_MAX));
    assert_eq!(ran.cells, cells::CELLS);
    assert_eq!(recorded.tasks().len(), ran.calls, "each call is a task");
}
