//! Two "devices": thread pools that are called cpu and igpu.

use rayon::{ThreadPool, ThreadPoolBuilder};
use telemetry::Context;

/// A pool that packets run on.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) name: &'static str,
    /// What a packet may take.
    pub(crate) memory_bytes: usize,
    pool: ThreadPool,
}

impl Device {
    pub(crate) fn new(name: &'static str, memory_bytes: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let pool =
            ThreadPoolBuilder::new().num_threads(1).thread_name(move |number| format!("{name}-{number}"));
        Ok(Self { name, memory_bytes, pool: pool.build()? })
    }

    /// Runs a packet there, in the workflow of the caller, and waits for it.
    pub(crate) fn run<R: Send>(&self, packet: impl FnOnce() -> R + Send) -> R {
        let context = Context::current();
        self.pool.install(|| context.run(packet))
    }
}
