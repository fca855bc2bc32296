//! Facts about this process and its host, and the hooks at its exit and in its forked children.

use std::fs;
use std::io::{self, Read};

/// Who owns a journal: enough to tell whether the owner still lives, and on which host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    /// When the process started, in the kernel's clock ticks since boot; tells a reused pid.
    pub(crate) start_time: u64,
    pub(crate) boot_id: [u64; 2],
    pub(crate) host: u64,
}

impl Owner {
    /// This process.
    pub(crate) fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: start_time(pid).unwrap_or(0),
            boot_id: boot_id().unwrap_or_default(),
            host: host_hash(),
        }
    }

    /// Whether it ran on the host that we run on.
    pub(crate) fn is_on_this_host(self) -> bool {
        self.host == host_hash()
    }

    /// Whether the process still runs, as far as this host's process table tells. One that waits for
    /// its parent to take note of its end does not.
    pub(crate) fn is_alive(self) -> bool {
        self.boot_id == boot_id().unwrap_or_default() && start_time(self.pid) == Some(self.start_time)
    }
}

/// The host's name.
pub fn hostname() -> Option<String> {
    let name =
        fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname"));
    name.ok().map(|name| name.trim_end().to_owned()).filter(|name| !name.is_empty())
}

/// Runs `hook` when the process ends by returning from `main` or by `exit`; once for each call.
pub fn at_exit(hook: extern "C" fn()) -> io::Result<()> {
    // SAFETY: `hook` is a function of the program, which lives as long as the process.
    match unsafe { libc::atexit(hook) } {
        0 => Ok(()),
        _ => Err(io::Error::from(io::ErrorKind::OutOfMemory)),
    }
}

/// What runs around each fork of the process, on the thread that forks.
#[derive(Clone, Copy, Debug)]
pub struct ForkHooks {
    /// Before the fork.
    pub before: extern "C" fn(),
    /// After it, in the parent.
    pub in_parent: extern "C" fn(),
    /// After it, in the child, before anything else runs there.
    pub in_child: extern "C" fn(),
}

/// Runs these hooks around each fork from now on.
pub fn at_fork(hooks: ForkHooks) -> io::Result<()> {
    // SAFETY: the hooks are functions of the program, which live as long as the process. Callers pass ones that do
    // in the child what a forked child may: they store to atomics and thread-locals, and unlock what they
    // locked themselves before the fork.
    match unsafe { libc::pthread_atfork(Some(hooks.before), Some(hooks.in_parent), Some(hooks.in_child)) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Keeps the host's signals away from the calling thread, which is ours: they are for the host's own.
/// Those that a fault of this very thread raises stay as they are.
pub fn block_signals() {
    let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];
    let mut signals = std::mem::MaybeUninit::uninit();
    // SAFETY: `sigfillset` initializes the set before anything reads it, and the mask is that of the calling
    // thread only.
    unsafe {
        libc::sigfillset(signals.as_mut_ptr());
        for fault in faults {
            libc::sigdelset(signals.as_mut_ptr(), fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, signals.as_ptr(), std::ptr::null_mut());
    }
}

/// Makes a child begin with no signal blocked, whatever is blocked in the thread that starts it.
#[cfg(unix)]
pub fn unblock_signals_in(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;

    let unblock = || {
        let mut none = std::mem::MaybeUninit::uninit();
        // SAFETY: `sigemptyset` initializes the set before anything reads it.
        let code = unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut())
        };
        if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
    };
    // SAFETY: between fork and exec only two calls are made, which are allowed there and allocate nothing.
    unsafe {
        command.pre_exec(unblock);
    }
}

fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in parentheses, may itself hold parentheses and spaces.
    let mut after_name = stat.rsplit_once(") ")?.1.split(' ');
    let has_ended = matches!(after_name.next()?, "Z" | "X");
    if has_ended { None } else { after_name.nth(18)?.parse().ok() }
}

fn boot_id() -> Option<[u64; 2]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let bits = u128::from_str_radix(&digits, 16).ok()?;
    Some([(bits >> 64) as u64, bits as u64])
}

pub(crate) fn host_hash() -> u64 {
    let machine_id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let text = format!("{}\n{}", hostname().unwrap_or_default(), machine_id.trim_end());
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// 64 random bits from the kernel.
pub fn random_bits() -> u64 {
    let mut bits = [0; 8];
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bits));
    if read.is_ok() { u64::from_ne_bytes(bits) } else { fallback_bits() }
}

/// Bits for a kernel that has none to give: the randomly placed stack, the clock and the pid.
fn fallback_bits() -> u64 {
    use std::hash::{BuildHasher, RandomState};

    RandomState::new().hash_one((std::process::id(), crate::clock::ticks()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_another_start_is_not() {
        let owner = Owner::current();
        assert!(owner.is_on_this_host() && owner.is_alive());
        assert!(!Owner { start_time: owner.start_time + 1, ..owner }.is_alive());
        assert!(!Owner { boot_id: [1, 2], ..owner }.is_alive());
        assert!(!Owner { host: !owner.host, ..owner }.is_on_this_host());
    }

    #[test]
    fn a_process_that_nobody_waited_for_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let owner = Owner { pid, start_time: start_time(pid).unwrap(), ..Owner::current() };
        assert!(owner.is_alive());
        child.kill().unwrap();
        // It takes its time to die, and then stays in the process table until it is waited for.
        assert!((0..1_000_000).any(|_| !owner.is_alive()));
        assert!(fs::exists(format!("/proc/{pid}")).unwrap());
        child.wait().unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn signals_stay_away_from_our_threads_but_for_their_own_faults() {
        let blocked = std::thread::spawn(|| {
            block_signals();
            let status = fs::read_to_string("/proc/thread-self/status").unwrap();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t")).unwrap();
            u64::from_str_radix(mask, 16).unwrap()
        });
        let blocked = blocked.join().unwrap();
        let is_blocked = |signal: i32| blocked & 1 << (signal - 1) != 0;
        assert!([libc::SIGINT, libc::SIGTERM, libc::SIGCHLD, libc::SIGUSR1].into_iter().all(is_blocked));
        assert!(!is_blocked(libc::SIGSEGV) && !is_blocked(libc::SIGBUS));
    }
}
