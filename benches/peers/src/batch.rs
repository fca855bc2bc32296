//! A provider of OpenTelemetry with its batch processor, as it is by default, and an exporter that only counts.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracerProvider, SpanData, SpanExporter};

use crate::cores;

/// What spans go to.
pub(crate) struct Batch {
    pub(crate) provider: SdkTracerProvider,
    exported: Arc<AtomicUsize>,
}

impl Batch {
    /// Its thread runs on another core than the caller, as ours does.
    pub(crate) fn start() -> Self {
        let exported = Arc::new(AtomicUsize::new(0));
        let exporter = Counting { exported: exported.clone() };
        let processor = cores::apart(|| BatchSpanProcessor::builder(exporter).build());
        let provider = SdkTracerProvider::builder().with_span_processor(processor).build();
        Self { provider, exported }
    }

    /// Waits until all is exported, and sees to it that so many were since the last time.
    pub(crate) fn flush(&mut self, count: usize) {
        self.provider.force_flush().expect("a batch can be flushed");
        assert_eq!(self.exported.swap(0, Ordering::AcqRel), count, "every span must be exported");
    }
}

#[derive(Debug)]
struct Counting {
    exported: Arc<AtomicUsize>,
}

impl SpanExporter for Counting {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.exported.fetch_add(batch.len(), Ordering::AcqRel);
        black_box(batch);
        Ok(())
    }
}
