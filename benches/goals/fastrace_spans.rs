//! The peer fastrace: spans of the same body, with a reporter that only counts.
//!
//! Its collector thread takes the spans, as in any program that uses it; `fastrace::flush` would take
//! them on a thread of its own, which starts on the core of the caller, so that the memory of the spans
//! never moves between cores as it does else, and as ours does.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrace::Span;
use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::LocalSpan;

use crate::cores;
use crate::functions::bare;
use crate::measured::{BURST, call};
use crate::rounds::time_each;

const REPORT_INTERVAL: Duration = Duration::from_millis(5);
const TIMEOUT: Duration = Duration::from_secs(10);

static REPORTED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

impl Reporter for Counting {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        REPORTED.fetch_add(spans.len(), Ordering::Relaxed);
        black_box(spans);
    }
}

/// Makes spans real: without a reporter they are thrown away.
pub(crate) fn start() {
    let config = Config::default().report_interval(REPORT_INTERVAL);
    cores::apart(|| fastrace::set_reporter(Counting, config));
}

/// Nanoseconds a root span with three formatted properties.
pub(crate) fn burst_of_roots() -> f64 {
    let spans = REPORTED.load(Ordering::Relaxed);
    let each = time_each(BURST, || {
        call(BURST, |count, factor, name| {
            let _root = Span::root("with_data", SpanContext::random()).with_properties(|| {
                [
                    ("count", format!("{count:?}")),
                    ("factor", format!("{factor:?}")),
                    ("name", format!("{name:?}")),
                ]
            });
            bare(count, factor, name)
        });
    });
    wait_until_reported(spans + BURST);
    each
}

/// Nanoseconds a local span without properties.
pub(crate) fn burst_of_locals() -> f64 {
    let spans = REPORTED.load(Ordering::Relaxed);
    let root = Span::root("burst", SpanContext::random());
    let parent = root.set_local_parent();
    let each = time_each(BURST, || {
        call(BURST, |count, factor, name| {
            let _span = LocalSpan::enter_with_local_parent("lightweight");
            bare(count, factor, name)
        });
    });
    drop(parent);
    drop(root);
    wait_until_reported(spans + BURST + 1);
    each
}

/// Sees to it that every span was real.
fn wait_until_reported(count: usize) {
    let deadline = Instant::now() + TIMEOUT;
    while REPORTED.load(Ordering::Relaxed) < count {
        assert!(Instant::now() < deadline, "fastrace must report every span");
        thread::sleep(REPORT_INTERVAL / 5);
    }
}
