//! Signals that are meant for the program: taken here in turn, and passed on.

use std::io;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// What a person or a scheduler sends to a program.
const PASSED_ON: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR1, Signal::SIGUSR2];
/// The code of a signal that the kernel sent: for these, a terminal to all of its processes at once.
const FROM_TERMINAL: i32 = 0x80;

/// The signals that come to this process while it runs another.
#[derive(Debug)]
pub(super) struct Signals {
    descriptor: SignalFd,
    set: SigSet,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A child ended, or stopped.
    Child,
    /// The program is to get this signal.
    PassOn(Signal),
    /// Nothing, for as long as was waited.
    Nothing,
}

impl Signals {
    /// From now on, and in threads that begin later. The program itself begins with none blocked.
    pub(super) fn block() -> io::Result<Self> {
        let mut set: SigSet = PASSED_ON.into_iter().collect();
        set.add(Signal::SIGCHLD);
        set.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self { descriptor: SignalFd::with_flags(&set, flags)?, set })
    }

    /// Waits for the next signal, at most so many milliseconds if a number is given.
    pub(super) fn next(&self, wait_ms: Option<u16>) -> io::Result<Event> {
        let timeout = wait_ms.map_or(PollTimeout::NONE, PollTimeout::from);
        let mut waited = [PollFd::new(self.descriptor.as_fd(), PollFlags::POLLIN)];
        match poll(&mut waited, timeout) {
            Err(nix::Error::EINTR) => return Ok(Event::Nothing),
            other => other?,
        };
        let Some(signal) = self.descriptor.read_signal()? else { return Ok(Event::Nothing) };
        Ok(match Signal::try_from(signal.ssi_signo as i32) {
            Ok(Signal::SIGCHLD) => Event::Child,
            // The program has it already.
            Ok(_) if signal.ssi_code == FROM_TERMINAL => Event::Nothing,
            Ok(signal) => Event::PassOn(signal),
            Err(_) => Event::Nothing,
        })
    }

    /// Ends this process as the program ended, so that whoever waits for it sees the same.
    pub(super) fn die_by(&self, signal: Signal) {
        // One image of the memory is enough, and it is the program's.
        let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
        let _ = self.set.thread_unblock();
        // The first one may only take the runtime's own handler away.
        let _ = raise(signal).and_then(|()| raise(signal));
    }
}
