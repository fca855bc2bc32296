//! One round: a program under load is killed, and what it had told the ledger is kept.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::random::Random;
use crate::Outcome;

/// Threads of the load.
pub(super) const THREADS: u64 = 4;
/// How deep its tasks nest.
const LEVELS: u64 = 4;
/// How long the first acknowledgement may take on a busy machine.
const START_MAX: Duration = Duration::from_secs(30);

/// The load of a round, and the moment of its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    level: &'static str,
    lane_bytes: u64,
    large_every: Option<u64>,
    kill: Moment,
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
    /// One in eight kills hits the start, one in four a small lane with records that are spilled.
    pub(super) fn draw(random: &mut Random) -> Self {
        let is_small = random.one_in(4);
        let kill = if random.one_in(8) {
            Moment::AfterStart(Duration::from_micros(random.below(30_000)))
        } else {
            Moment::UnderLoad(Duration::from_micros(10_000 + random.below(400_000)))
        };
        Self {
            level: random.pick(&["lightweight", "data", "full"]),
            lane_bytes: if is_small { 1 << 16 } else { 1 << 20 },
            large_every: is_small.then_some(4),
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
    }

    /// Starts the program, kills it when it is time, and answers what it had told the ledger. Its
    /// standard error goes into `complaints`.
    pub(super) fn run_and_kill(&self, mut command: Command, complaints: File) -> Outcome<Vec<u8>> {
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
        child.kill()?;
        child.wait()?;
        told.join().map_err(|_| "the ledger panicked")?.map_err(Into::into)
    }
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
