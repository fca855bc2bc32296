//! Spans of other libraries, measured on request: says a number when it is ready, and one to every line on stdin,
//! the nanoseconds a span of a burst.
//!
//! A process of its own for each of them, since `tracing` has one subscriber a process, and a function costs more
//! where there was one. The body of the function is the one of the bench.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]
#![forbid(unsafe_code)]

mod batch;
#[expect(dead_code, reason = "the bench needs more of it")]
#[path = "../../goals/cores.rs"]
mod cores;
mod functions;

use std::error::Error;
use std::io::{BufRead, stdin};
use std::time::Instant;

use opentelemetry::global;
use opentelemetry::trace::TracerProvider;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;

use batch::Batch;
use functions::{call, instrumented, spanned};

/// As many as in the bench; the queue of the batches holds twice as many.
const BURST: usize = 1_000;

/// A peer that is ready: what it does for one span, and what must be done after a burst.
struct Peer {
    function: fn(i64, f64, &str) -> i64,
    batch: Option<Batch>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let mut peer = Peer::start(&name)?;
    peer.burst();
    println!("0");
    for line in stdin().lock().lines() {
        line?;
        // Whoever slept since the last request has cold caches; the bench does not sleep.
        peer.burst();
        println!("{}", peer.burst());
    }
    Ok(())
}

impl Peer {
    fn start(name: &str) -> Result<Self, Box<dyn Error>> {
        match name {
            "json" => Self::json(),
            "opentelemetry" => {
                let batch = Batch::start();
                global::set_tracer_provider(batch.provider.clone());
                Ok(Self { function: spanned, batch: Some(batch) })
            }
            "tracing-opentelemetry" => {
                let batch = Batch::start();
                let layer = tracing_opentelemetry::layer().with_tracer(batch.provider.tracer("bench"));
                tracing::subscriber::set_global_default(registry().with(layer))?;
                Ok(Self { function: instrumented, batch: Some(batch) })
            }
            _ => Err(format!("no peer is called {name:?}").into()),
        }
    }

    /// A line of JSON a span, when it closes, into a sink.
    fn json() -> Result<Self, Box<dyn Error>> {
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_span_events(FmtSpan::CLOSE)
            .with_writer(std::io::sink)
            .finish();
        tracing::subscriber::set_global_default(subscriber)?;
        Ok(Self { function: instrumented, batch: None })
    }

    /// Nanoseconds a span. What is queued is taken before the next burst, and none may be lost.
    fn burst(&mut self) -> f64 {
        let start = Instant::now();
        call(BURST, self.function);
        let each = start.elapsed().as_nanos() as f64 / BURST as f64;
        if let Some(batch) = &mut self.batch {
            batch.flush(BURST);
        }
        each
    }
}
