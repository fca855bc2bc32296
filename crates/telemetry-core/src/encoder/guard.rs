//! Runs the user's `Serialize`, `Debug`, `Display` and `Capture`: whatever they do, the host does not notice.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// How many calls of such code are open on this thread.
    static OPEN: Cell<u32> = const { Cell::new(0) };
}

/// Runs code of the user; none if it panicked. Whatever it left half-made is rolled back by the caller.
pub(crate) fn guarded<R>(run: impl FnOnce() -> R) -> Option<R> {
    let _open = Opened::new();
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => Some(result),
        Err(payload) => {
            // Dropping the payload is the user's code again; one that panics too is leaked.
            if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(second);
            }
            None
        }
    }
}

struct Opened;

impl Opened {
    fn new() -> Self {
        let _ = OPEN.try_with(|open| open.set(open.get() + 1));
        Self
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = OPEN.try_with(|open| open.set(open.get().saturating_sub(1)));
    }
}

/// Keeps the panic hook of the process from being called for a panic that is caught here: without us there
/// would be none. Any other panic goes to the hook that was there; one that is set later is called for all.
pub(crate) fn keep_caught_panics_quiet() {
    static ONCE: Once = Once::new();
    // The hook of a thread that is panicking cannot be changed.
    if std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            if !OPEN.try_with(|open| open.get() > 0).unwrap_or(false) {
                previous(panic);
            }
        }));
    });
}
