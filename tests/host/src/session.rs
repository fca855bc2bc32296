//! The load for session files: packets on two devices, some of which fail, and what memory they took.
//!
//! Each packet that has ended is told to the ledger. With `--quiet`, the end prints as JSON how many packets
//! there were and the most memory that the process ever had.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::thread;

use serde_json::json;
use telemetry::{Context, Recorder, TaskId, Workflow, current_task, task};

use crate::ledger::{Accepted, Ledger};
use crate::options::Options;

const LAYERS: u64 = 4;
const EXPERTS: u64 = 8;
const OPERATIONS: [&str; 4] = ["layernorm", "attention_qkv_proj", "expert_selection", "expert_ffn"];

/// Records packets until they are done, or until killed.
pub(crate) fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::new(options.acknowledge)?;
    let recorder = Recorder::start_with_found_settings()?;
    let workflow = Workflow::start("session");
    let context = Context::current();
    thread::scope(|scope| {
        for thread in 0..options.threads {
            let ledger = &ledger;
            scope.spawn(move || context.run(|| call_all(thread, options, ledger)));
        }
    });
    workflow.end();
    drop(recorder);
    if !options.acknowledge {
        let packets = options.tasks.unwrap_or(0) * u64::from(options.threads);
        writeln!(std::io::stdout(), "{}", json!({"packets": packets, "peak_kib": peak_kib()?}))?;
    }
    Ok(())
}

fn call_all(thread: u32, options: Options, ledger: &Ledger) {
    let device = if thread.is_multiple_of(2) { "cpu" } else { "igpu" };
    for number in 0..options.tasks.unwrap_or(u64::MAX) {
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

/// The most memory that this process ever had.
fn peak_kib() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak is known")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
