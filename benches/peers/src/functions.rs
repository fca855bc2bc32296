//! The measured function under a span of each library.

use std::hint::black_box;
use std::sync::OnceLock;

use opentelemetry::KeyValue;
use opentelemetry::global::{self, BoxedTracer};
use opentelemetry::trace::{SpanBuilder, Tracer};

/// Calls the function so often, with arguments that the optimizer cannot see.
#[inline]
pub(crate) fn call(times: usize, function: impl Fn(i64, f64, &str) -> i64) {
    for count in 0..times {
        black_box(function(black_box(count as i64), black_box(0.5), black_box("sixteen bytes ok")));
    }
}

#[tracing::instrument]
#[inline(never)]
pub(crate) fn instrumented(count: i64, factor: f64, name: &str) -> i64 {
    body(count, factor, name)
}

/// A span of OpenTelemetry with three attributes.
#[inline(never)]
pub(crate) fn spanned(count: i64, factor: f64, name: &str) -> i64 {
    static TRACER: OnceLock<BoxedTracer> = OnceLock::new();
    let tracer = TRACER.get_or_init(|| global::tracer("bench"));
    let attributes = [
        KeyValue::new("count", count),
        KeyValue::new("factor", factor),
        KeyValue::new("name", name.to_owned()),
    ];
    let _span = tracer.build(SpanBuilder::from_name("spanned").with_attributes(attributes));
    body(count, factor, name)
}

#[inline]
fn body(count: i64, factor: f64, name: &str) -> i64 {
    count + factor as i64 + name.len() as i64
}
