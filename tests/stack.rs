//! How much stack a recorded call takes: little enough to recurse as deeply as without the attribute.

use std::hint::black_box;
use std::thread;

use telemetry::{task, testing};

/// The stack of a main thread.
const STACK_BYTES: usize = 8 << 20;
const DEPTH: u64 = 10_000;
/// What a recorded frame may take beyond the bare one.
const MORE_BYTES_MAX: usize = 256;
/// The same in a build without optimization, where nothing of the frames between is inlined: four of them are
/// those of `catch_unwind`, which the compiler makes anew for each caller.
const MORE_BYTES_MAX_UNOPTIMIZED: usize = 672;

/// Where the stack ends now.
#[inline(never)]
fn here() -> usize {
    let local = 0_u8;
    (&raw const *black_box(&local)).addr()
}

/// The least address of the stack that was reached below this call, and a sum that needs each frame.
#[task]
fn recorded(depth: u64) -> Result<(usize, u64), String> {
    if depth == 0 {
        return Ok((here(), 0));
    }
    let (deepest, sum) = recorded(black_box(depth - 1))?;
    Ok((deepest, sum + black_box(depth)))
}

fn bare(depth: u64) -> Result<(usize, u64), String> {
    if depth == 0 {
        return Ok((here(), 0));
    }
    let (deepest, sum) = bare(black_box(depth - 1))?;
    Ok((deepest, sum + black_box(depth)))
}

#[task]
fn recorded_number(depth: u64) -> u64 {
    if depth == 0 { 0 } else { black_box(depth) + recorded_number(black_box(depth - 1)) }
}

#[task]
#[cfg(not(debug_assertions))]
fn recorded_text(depth: u64, text: String) -> Option<String> {
    if depth == 0 { Some(text) } else { recorded_text(black_box(depth - 1), text) }
}

fn on_a_stack<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(body).expect("a thread");
    thread.join().expect("it returns")
}

/// Bytes a frame, on average.
fn frame_bytes(function: fn(u64) -> Result<(usize, u64), String>) -> usize {
    let span = |depth: u64| {
        let top = here();
        let (deepest, sum) = function(depth).expect("no error");
        assert_eq!(sum, depth * (depth + 1) / 2);
        top - deepest
    };
    (span(1_100) - span(100)) / 1_000
}

#[test]
fn a_recorded_frame_is_a_little_larger() {
    let recorded_bytes = on_a_stack(|| {
        let mut bytes = 0;
        testing::record(|| bytes = frame_bytes(recorded));
        bytes
    });
    let bare_bytes = frame_bytes(bare);
    let more = recorded_bytes - bare_bytes;
    let more_max = if cfg!(debug_assertions) { MORE_BYTES_MAX_UNOPTIMIZED } else { MORE_BYTES_MAX };
    assert!(more <= more_max, "{more} bytes more a frame: {recorded_bytes} and {bare_bytes}");
}

#[test]
fn recursion_goes_as_deep_as_without() {
    on_a_stack(|| {
        assert!(bare(DEPTH).is_ok());
        let recorded = testing::record(|| assert_eq!(recorded_number(DEPTH), DEPTH * (DEPTH + 1) / 2));
        assert_eq!(recorded.tasks().len() as u64, DEPTH + 1);
    });
}

/// Without optimization these take a few per cent more than there is.
#[test]
#[cfg(not(debug_assertions))]
fn recursion_through_results_and_texts_goes_as_deep_as_without() {
    on_a_stack(|| {
        let recorded = testing::record(|| {
            assert!(recorded(DEPTH).is_ok());
            assert_eq!(recorded_text(DEPTH, "text".to_owned()).as_deref(), Some("text"));
        });
        assert_eq!(recorded.tasks().len() as u64, 2 * (DEPTH + 1));
    });
}
