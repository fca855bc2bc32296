//! The tick counter: the processor's own where it runs evenly, else the monotonic clock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

const UNDECIDED: u8 = 0;
const PROCESSOR: u8 = 1;
const MONOTONIC: u8 = 2;

static SOURCE: AtomicU8 = AtomicU8::new(UNDECIDED);

/// The tick counter now. Never goes back within a process; how long a tick lasts is the business of
/// [`super::Clock`].
#[inline]
pub fn ticks() -> u64 {
    if SOURCE.load(Ordering::Relaxed) == PROCESSOR { processor_ticks() } else { other_ticks() }
}

/// Whether all processes of this machine have the same ticks.
pub(crate) fn is_shared() -> bool {
    ticks();
    SOURCE.load(Ordering::Relaxed) == PROCESSOR
}

#[cold]
fn other_ticks() -> u64 {
    if SOURCE.load(Ordering::Relaxed) == UNDECIDED {
        let source = if processor_is_even() { PROCESSOR } else { MONOTONIC };
        SOURCE.store(source, Ordering::Relaxed);
        return ticks();
    }
    monotonic_ticks()
}

fn monotonic_ticks() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn processor_ticks() -> u64 {
    // SAFETY: every x86-64 processor has this instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Whether the counter runs at one rate in all power states (and so, on the machines that say it, in
/// step on all cores).
#[cfg(target_arch = "x86_64")]
fn processor_is_even() -> bool {
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    let highest = core::arch::x86_64::__cpuid(0x8000_0000).eax;
    highest >= POWER && core::arch::x86_64::__cpuid(POWER).edx & INVARIANT != 0
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn processor_ticks() -> u64 {
    let ticks: u64;
    // SAFETY: the virtual counter is readable in user mode on Linux and has no side effect.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(target_arch = "aarch64")]
fn processor_is_even() -> bool {
    cfg!(target_os = "linux")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn processor_ticks() -> u64 {
    monotonic_ticks()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn processor_is_even() -> bool {
    false
}
