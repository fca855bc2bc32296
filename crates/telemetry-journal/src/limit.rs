//! The limit of the process on the length of a file (`ulimit -f`), past which the kernel sends a signal that
//! would end the host.

use std::io;

/// An error where a file may not be so long.
pub(crate) fn check_length(bytes: u64) -> io::Result<()> {
    match file_bytes_max() {
        Some(bytes_max) if bytes > bytes_max => Err(io::Error::from(io::ErrorKind::FileTooLarge)),
        _ => Ok(()),
    }
}

/// How long a file may be; none where nothing is said about it.
fn file_bytes_max() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes into a structure of ours that outlives the call.
    let answer = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    (answer == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Runs `work` on this thread so that a file which would grow past the limit is an error there, and not a
/// signal. For code that cannot ask before, as a database library cannot.
pub fn without_size_signal<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "linux")]
    let _masked = Masked::new();
    work()
}

/// The signal is blocked on this thread, until this is dropped.
#[cfg(target_os = "linux")]
struct Masked {
    signal: libc::sigset_t,
    before: libc::sigset_t,
}

#[cfg(target_os = "linux")]
impl Masked {
    fn new() -> Self {
        let mut signal = std::mem::MaybeUninit::uninit();
        let mut before = std::mem::MaybeUninit::uninit();
        // SAFETY: `sigemptyset` and `pthread_sigmask` initialize the sets before anything reads them, and
        // the mask is that of the calling thread only.
        unsafe {
            libc::sigemptyset(signal.as_mut_ptr());
            libc::sigaddset(signal.as_mut_ptr(), libc::SIGXFSZ);
            libc::pthread_sigmask(libc::SIG_BLOCK, signal.as_ptr(), before.as_mut_ptr());
            Self { signal: signal.assume_init(), before: before.assume_init() }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Masked {
    /// Takes the signal back if there was one; whoever had it blocked before keeps what is pending.
    fn drop(&mut self) {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both sets are initialized, and the calls change the mask and the pending signals of this
        // thread only.
        unsafe {
            if libc::sigismember(&raw const self.before, libc::SIGXFSZ) == 0 {
                libc::sigtimedwait(&raw const self.signal, std::ptr::null_mut(), &raw const at_once);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
