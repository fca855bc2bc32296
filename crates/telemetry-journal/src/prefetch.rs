//! Asks for memory before it is written.
//!
//! The drain runs on another core and has read what lies ahead in a ring, one lap ago. A store to a line
//! that another core holds waits until that core has let go of it; a line that was asked for some records
//! before is there in time.

use crate::sync::AtomicU64;

/// Asks for the cache line of this word, to write to it. Changes nothing.
#[inline]
pub(crate) fn prefetch_for_write(word: &AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which has no effect on registers, flags or the content of memory; processors that
    // do not know it ignore it.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) word, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint, which has no effect on registers, flags or the content of memory.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) word, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = word;
}
