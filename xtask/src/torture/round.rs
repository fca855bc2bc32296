//! One round: a program under load is killed, and what it had told the ledger is kept.
//!
//! It is stopped a moment before, to see what it was doing: whether it was in a transaction is in the kernel's list of
//! locks, whether a record was spilled in the journal folder, and whether a thread had ended whose lane the next
//! takes over in the list of its threads.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::random::Random;
use crate::Outcome;

/// Threads of the load.
pub(super) const THREADS: u64 = 8;
/// How deep its tasks nest.
const LEVELS: u64 = 4;
/// How long the first acknowledgement may take on a busy machine.
const START_MAX: Duration = Duration::from_mins(2);

/// The load of a round, and the moment of its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    level: &'static str,
    lane_bytes: u64,
    large_every: Option<u64>,
    calls_a_life: Option<u64>,
    kill: Moment,
}

/// What a program was doing when it was killed.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is counted, and several may hold at once")]
pub(super) struct Doing {
    /// It had told nobody of a record yet: it was starting, and recovering what others had left.
    pub(super) start: bool,
    /// It was in a transaction.
    pub(super) commit: bool,
    /// A spill file lay in its folder.
    pub(super) spill: bool,
    /// A thread had ended and the next had not begun.
    pub(super) hand_over: bool,
}

/// When to kill.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after the program was started: it may not have got to its first task.
    AfterStart(Duration),
    /// So long after the first acknowledgement.
    UnderLoad(Duration),
}

impl Plan {
    /// One in eight kills hits the start, one in sixteen comes late, one in four hits a small lane with records that are
    /// spilled.
    pub(super) fn draw(random: &mut Random) -> Self {
        let is_small = random.one_in(4);
        let kill = if random.one_in(8) {
            Moment::AfterStart(Duration::from_micros(random.below(30_000)))
        } else {
            let longest = if random.one_in(14) { 150_000 } else { 16_000 };
            Moment::UnderLoad(Duration::from_micros(1_000 + random.below(longest)))
        };
        Self {
            level: random.pick(&["lightweight", "data", "full"]),
            lane_bytes: if is_small { 1 << 16 } else { 1 << 20 },
            large_every: is_small.then_some(4),
            calls_a_life: random.one_in(3).then_some(8),
            kill,
        }
    }

    /// The same, but not killed before it has begun.
    pub(super) fn under_load(self) -> Self {
        let (Moment::AfterStart(delay) | Moment::UnderLoad(delay)) = self.kill;
        Self { kill: Moment::UnderLoad(delay), ..self }
    }

    /// The load with the recorder, its database in `folder`.
    pub(super) fn recorded(&self, host: &Path, folder: &Path) -> Command {
        let mut command = Command::new(host);
        command.current_dir(folder).arg("load");
        command.env("TELEMETRY_STORE__PATH", folder.join("provenance.db"));
        command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", self.level);
        command.env("TELEMETRY_JOURNAL__LANE_BYTES", self.lane_bytes.to_string());
        // Many threads share few processors and one database: patience, instead of dropping.
        command.env("TELEMETRY_JOURNAL__WAIT_MS_MAX", "600000");
        self.add_load(&mut command);
        command
    }

    /// The load with a plain queue.
    pub(super) fn queued(&self, host: &Path, folder: &Path) -> Command {
        let mut command = Command::new(host);
        command.current_dir(folder).arg("queue").arg(folder.join("provenance.db"));
        self.add_load(&mut command);
        command
    }

    fn add_load(&self, command: &mut Command) {
        command.args(["--threads", &THREADS.to_string(), "--levels", &LEVELS.to_string()]);
        if let Some(every) = self.large_every {
            command.args(["--large-every", &every.to_string()]);
        }
        if let Some(calls) = self.calls_a_life {
            command.args(["--calls-a-life", &calls.to_string()]);
        }
    }

    /// Starts the program, kills it when it is time, and answers what it had told the ledger and what it was
    /// doing. Its standard error goes into `complaints`.
    pub(super) fn run_and_kill(
        &self,
        mut command: Command,
        folder: &Path,
        complaints: File,
    ) -> Outcome<(Vec<u8>, Doing)> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(complaints).spawn()?;
        let Ledger { first, told } = Ledger::listen(&mut child)?;
        match self.kill {
            Moment::AfterStart(delay) => thread::sleep(delay),
            Moment::UnderLoad(delay) => {
                let has_begun = first.recv_timeout(START_MAX);
                thread::sleep(delay);
                if has_begun.is_err() {
                    child.kill()?;
                    return Err("the program acknowledged nothing".into());
                }
            }
        }
        let doing = self.stop_and_look(child.id(), folder)?;
        child.kill()?;
        child.wait()?;
        let told = told.join().map_err(|_| "the ledger panicked")??;
        Ok((told.clone(), Doing { start: told.is_empty(), ..doing }))
    }

    fn stop_and_look(&self, process: u32, folder: &Path) -> Outcome<Doing> {
        let id = Pid::from_raw(i32::try_from(process)?);
        kill(id, Signal::SIGSTOP)?;
        // Until each of its threads stands still; a program that has ended by itself is still to be waited for.
        waitid(Id::Pid(id), WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)?;
        let names = fs::read_dir(format!("/proc/{process}/task"))?
            .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("comm")).ok());
        let lives = names.filter(|name| name.trim_end() == "life").count();
        let mut spills = fs::read_dir(folder.join("journal")).into_iter().flatten().flatten();
        let is_spill = |entry: fs::DirEntry| entry.file_name().to_string_lossy().contains(".spill-");
        Ok(Doing {
            start: false,
            commit: is_in_transaction(process, folder),
            spill: spills.any(is_spill),
            hand_over: self.calls_a_life.is_some() && lives < THREADS as usize,
        })
    }
}

/// Whether the process holds the lock of the one that writes: byte 120 of the log's index.
fn is_in_transaction(process: u32, folder: &Path) -> bool {
    let Ok(metadata) = fs::metadata(folder.join("provenance.db-shm")) else { return false };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let (process, file) = (process.to_string(), format!(":{}", metadata.ino()));
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], [_, "POSIX", _, "WRITE", owner, inode, "120", "120"]
            if owner == process && inode.ends_with(&file))
    })
}

/// Reads what the program acknowledges until it is dead.
struct Ledger {
    /// Says when the first acknowledgement is there.
    first: Receiver<()>,
    told: JoinHandle<std::io::Result<Vec<u8>>>,
}

impl Ledger {
    fn listen(child: &mut Child) -> Outcome<Self> {
        let mut pipe = child.stdout.take().ok_or("the program has no output")?;
        let (sender, first) = channel();
        let told = thread::spawn(move || {
            let mut told = vec![0];
            match pipe.read_exact(&mut told) {
                Ok(()) => sender.send(()).unwrap_or_default(),
                Err(_) => told.clear(),
            }
            pipe.read_to_end(&mut told)?;
            Ok(told)
        });
        Ok(Self { first, told })
    }
}
