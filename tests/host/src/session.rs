//! The load for session files: packets on two devices, some of which fail, and what memory they took.
//!
//! Each packet that has ended is told to the ledger. With `--quiet`, the end prints as JSON the most memory of
//! its own that the process had by the first part of the packets, by the last of them, and by the end of the
//! recorder, which makes the figures.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use telemetry::{Context, Recorder, TaskId, Workflow, current_task, task};

use crate::ledger::{Accepted, Ledger};
use crate::options::Options;

/// As long as it takes on a busy machine.
const FLUSH_MAX: Duration = Duration::from_mins(5);
/// A third of the packets, by which all buffers have had their fill.
const FIRST_PART: u64 = 3;
static PEAK_OF_FIRST_KIB: AtomicU64 = AtomicU64::new(0);
static PEAK_KIB: AtomicU64 = AtomicU64::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

const LAYERS: u64 = 4;
const EXPERTS: u64 = 8;
const OPERATIONS: [&str; 4] = ["layernorm", "attention_qkv_proj", "expert_selection", "expert_ffn"];

/// Records packets until they are done, or until killed.
pub(crate) fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::new(options.acknowledge)?;
    let watch = thread::spawn(|| {
        while !IS_OVER.load(Ordering::Relaxed) {
            look()
        }
    });
    let recorder = Recorder::start_with_found_settings()?;
    let workflow = Workflow::start("session");
    let context = Context::current();
    thread::scope(|scope| {
        for thread in 0..options.threads {
            let ledger = &ledger;
            scope.spawn(move || context.run(|| call_all(thread, options, ledger)));
        }
    });
    recorder.flush(FLUSH_MAX);
    let by_last = PEAK_KIB.load(Ordering::Relaxed);
    workflow.end();
    recorder.stop(FLUSH_MAX);
    IS_OVER.store(true, Ordering::Relaxed);
    let _ = watch.join();
    if !options.acknowledge {
        let (by_first, by_end) =
            (PEAK_OF_FIRST_KIB.load(Ordering::Relaxed), PEAK_KIB.load(Ordering::Relaxed));
        writeln!(std::io::stdout(), "{}", json!([by_first, by_last, by_end]))?;
    }
    Ok(())
}

/// Notes how much memory the process has of its own: what it shares with files does not count.
fn look() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let now = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
    PEAK_KIB.fetch_max(now, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(1));
}

fn call_all(thread: u32, options: Options, ledger: &Ledger) {
    let device = if thread.is_multiple_of(2) { "cpu" } else { "igpu" };
    for number in 0..options.tasks.unwrap_or(u64::MAX) {
        if options.tasks.is_some_and(|tasks| number == tasks / FIRST_PART) {
            PEAK_OF_FIRST_KIB.fetch_max(PEAK_KIB.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        let (Ok(called) | Err(Failure { called, .. })) = packet(device, u64::from(thread) << 32 | number);
        ledger.tell(Accepted::End, thread, number, called);
    }
}

/// A packet that failed, with a message that a line must survive.
#[derive(Debug)]
struct Failure {
    called: u128,
    packet: u64,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "packet {}: \"out of memory\",\nno more to be had", self.packet)
    }
}

impl Error for Failure {}

#[task(skip_all, metadata(
    device = *device,
    worker_instance = format!("{device}_{}_layer_{}", operation(*number), layer(*number)),
    packet_id = *number,
    layer_idx = layer(*number),
    operation = operation(*number),
    memory_used_mb = (*number % 7) as f64 / 4.0,
))]
fn packet(device: &str, number: u64) -> Result<u128, Failure> {
    let _ = device;
    if operation(number) == "expert_selection" {
        current_task().metadata("experts", [number % EXPERTS, number / 5 % EXPERTS]);
        current_task().metadata("tokens_generated", 1);
    }
    let called = current_task().id().map_or(0, TaskId::as_u128);
    if number % 50 == 49 { Err(Failure { called, packet: number }) } else { Ok(called) }
}

fn operation(number: u64) -> &'static str {
    OPERATIONS[(number % OPERATIONS.len() as u64) as usize]
}

fn layer(number: u64) -> u64 {
    number / OPERATIONS.len() as u64 % LAYERS
}
