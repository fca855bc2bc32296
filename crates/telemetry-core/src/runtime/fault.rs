//! Faults of ours: a panic in code that runs between the host's ends there, is counted, and costs a record.
//!
//! Nothing is held across such a panic that it could leave half-made: a record is put together in the thread's own
//! buffer, and published by one store.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use telemetry_journal::failpoint::Failpoint;

static FAULTS: AtomicU64 = AtomicU64::new(0);

/// How many panics of ours were kept from the host so far.
pub fn faults() -> u64 {
    FAULTS.load(Ordering::Relaxed)
}

/// Runs code of ours on the host's thread; none if it panicked. May be called while the host unwinds.
#[inline]
#[cfg_attr(feature = "failpoints", track_caller)]
pub(super) fn contained<R>(run: impl FnOnce() -> R) -> Option<R> {
    let place = Failpoint::here();
    let run = || {
        place.reach("before");
        let result = run();
        place.reach("after");
        result
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => Some(result),
        Err(payload) => {
            count();
            // To drop it might panic again.
            std::mem::forget(payload);
            None
        }
    }
}

#[cold]
fn count() {
    FAULTS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_counted_and_goes_no_further() {
        let before = faults();
        assert_eq!(contained(|| 1), Some(1));
        assert_eq!(contained(|| -> u8 { std::panic::resume_unwind(Box::new(1)) }), None);
        assert!(faults() > before);
    }
}
