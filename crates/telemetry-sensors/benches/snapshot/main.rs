//! A snapshot of all fast keys against bare reads of the same files, against sysinfo and against psutil.
//!
//! Run with `cargo bench -p telemetry-sensors`; psutil takes part if `TELEMETRY_TEST_PSUTIL_PYTHON` names a
//! Python that has it. All sides take turns within one run; ratios are medians of the rounds.
#![expect(clippy::print_stdout, reason = "its output is what a bench is for")]

#[cfg(target_os = "linux")]
mod peers;
#[cfg(target_os = "linux")]
mod rounds;

fn main() {
    #[cfg(target_os = "linux")]
    rounds::run();
    #[cfg(not(target_os = "linux"))]
    println!("the fast way is that of Linux");
}
