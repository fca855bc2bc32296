//! Programs whose tasks use so much of a resource that a reading must show it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use telemetry::{Recorder, task, workflow};

pub(crate) const CPU: Duration = Duration::from_millis(500);
pub(crate) const MEMORY_BYTES: usize = 256 << 20;
pub(crate) const DISK_BYTES: usize = 64 << 20;
pub(crate) const NETWORK_BYTES: usize = 32 << 20;
const CHUNK_BYTES: usize = 1 << 20;

/// Each load alone, and then all in one task.
#[workflow]
pub(crate) fn all() {
    around("burns", burns);
    drop(returns_a_buffer());
    around("writes", writes);
    around("sends", sends);
    drop(around("does_everything", does_everything));
}

/// Says what happened around a task by other sources than the sensors': on the whole machine, where others
/// may write and send meanwhile, and in this process, which may be slow at its work.
fn around<T>(activity: &str, task: fn() -> T) -> T {
    let before = totals();
    let result = task();
    let after = totals();
    let mut output = std::io::stdout();
    write!(output, "around {activity}").expect("somebody reads");
    for (before, after) in before.into_iter().zip(after) {
        write!(output, " {}", after - before).expect("somebody reads");
    }
    writeln!(output).expect("somebody reads");
    result
}

/// Bytes written to all disks, sent and received, from files that the sensors do not read, and nanoseconds
/// of processor time.
fn totals() -> [u64; 4] {
    let number = |text: Option<&str>| text.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    let sum = |folder: &str, file: &str, field: usize| -> u64 {
        let devices = fs::read_dir(folder).expect("the kernel lists devices").flatten();
        let texts = devices.filter_map(|device| fs::read_to_string(device.path().join(file)).ok());
        texts.map(|text| number(text.split_whitespace().nth(field))).sum()
    };
    let network = "/sys/class/net";
    let sectors = sum("/sys/block", "stat", 6);
    let (sent, received) = (sum(network, "statistics/tx_bytes", 0), sum(network, "statistics/rx_bytes", 0));
    [512 * sectors, sent, received, cpu_time().as_nanos() as u64]
}

#[task]
fn burns() {
    burn_since(cpu_time());
}

#[task]
fn returns_a_buffer() -> Vec<u8> {
    buffer()
}

#[task]
fn writes() {
    write();
}

#[task]
fn sends() {
    send();
}

#[task]
fn does_everything() -> Vec<u8> {
    let begun = cpu_time();
    write();
    send();
    let buffer = buffer();
    burn_since(begun);
    buffer
}

/// Burns what is left of the processor time, however long that takes.
fn burn_since(begun: Duration) {
    while cpu_time() < begun + CPU {
        std::hint::spin_loop();
    }
}

/// What this process has used of the processors.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every process has this clock").into()
}

/// A buffer whose pages are touched.
fn buffer() -> Vec<u8> {
    vec![1; MEMORY_BYTES]
}

/// Writes to the folder of the program, and waits until the disk has it.
fn write() {
    let mut file = File::create("written").expect("the folder is ours");
    let chunk = vec![7; CHUNK_BYTES];
    for _ in 0..DISK_BYTES / CHUNK_BYTES {
        file.write_all(&chunk).expect("there is space");
    }
    file.sync_all().expect("the disk takes it");
}

/// Sends over loopback, to a thread that reads all of it.
fn send() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let address = listener.local_addr().expect("it is bound");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut peer, _) = listener.accept().expect("somebody connects");
            let mut chunk = vec![0; CHUNK_BYTES];
            while peer.read(&mut chunk).expect("the connection stands") > 0 {}
        });
        let mut stream = TcpStream::connect(address).expect("the thread listens");
        let chunk = vec![7; CHUNK_BYTES];
        for _ in 0..NETWORK_BYTES / CHUNK_BYTES {
            stream.write_all(&chunk).expect("the thread reads");
        }
    });
}

/// A buffer that is there for some time in the middle of a task.
#[workflow]
pub(crate) fn freed() {
    frees();
}

#[task]
fn frees() {
    let buffer = std::hint::black_box(buffer());
    stay_for_samples();
    drop(buffer);
    stay_for_samples();
}

/// Stays until the sampler, if there is one, has looked again, however busy the machine is: each look ends
/// with a wait, which the kernel counts. Some more waits may be for other things.
fn stay_for_samples() {
    const WAITS: u64 = 5;
    let Some(begun) = waits_of_sampler() else { return };
    while waits_of_sampler().is_some_and(|waits| waits < begun + WAITS) {
        std::thread::yield_now();
    }
}

/// How often the thread of the sampler waited; none where there is no such thread.
fn waits_of_sampler() -> Option<u64> {
    let threads = fs::read_dir("/proc/self/task").expect("threads are listed").flatten();
    let statuses = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    let mut samplers = statuses.filter(|status| status.starts_with("Name:\ttelemetry-sampl"));
    let status = samplers.next()?;
    status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok())
}

/// Stays on the processor: a task that sleeps would prove less.
fn stay(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::thread::yield_now();
    }
}

#[workflow]
pub(crate) fn one() {
    burns_little();
}

#[task]
fn burns_little() {
    stay(Duration::from_millis(2));
}

/// Records, and lists which of the kernel's files it holds open meanwhile.
#[workflow]
pub(crate) fn open_files() {
    burns_little();
    list_open_files();
}

/// The same after the recorder has stopped.
pub(crate) fn stopped() {
    let recorder = Recorder::start_with_found_settings().expect("recording starts");
    burns_little();
    recorder.stop(Duration::from_mins(1));
    list_open_files();
}

fn list_open_files() {
    let entries = fs::read_dir("/proc/self/fd").expect("descriptors are listed");
    let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let mut output = std::io::stdout();
    for target in targets.filter(|target| target.starts_with("/proc") || target.starts_with("/sys")) {
        // The folder that is being listed is open, too.
        if !target.ends_with("fd") {
            writeln!(output, "open {}", target.display()).expect("somebody reads");
        }
    }
}
