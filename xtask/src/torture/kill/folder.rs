//! The kills in one folder.
//!
//! Up to four programs record into it at once, and several rounds share it, so that databases grow and journals pile up.
//! After a round the folder is recovered by hand, or by hand after a recovery that was killed too, or by the next start.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::Outcome;
use crate::torture::random::Random;
use crate::torture::recovery::{recover, recovery};
use crate::torture::round::{Doing, Plan};

/// Programs at once.
const PROCESSES_MAX: usize = 4;

/// A folder, and what was killed in it so far.
#[derive(Debug)]
pub(super) struct KilledIn<'a> {
    host: &'a Path,
    folder: &'a Path,
    random: Random,
    /// What the ledger was told.
    pub(super) told: Vec<u8>,
    /// Of each kill, what the program was doing.
    pub(super) doing: Vec<Doing>,
    pub(super) recoveries: usize,
}

impl<'a> KilledIn<'a> {
    pub(super) fn new(host: &'a Path, folder: &'a Path, random: Random) -> Self {
        Self { host, folder, random, told: Vec::new(), doing: Vec::new(), recoveries: 0 }
    }

    /// Kills so many programs; everything is recovered afterwards.
    pub(super) fn kill(mut self, first: usize, kills: usize) -> Outcome<Self> {
        while self.doing.len() < kills {
            let left = kills - self.doing.len();
            let processes = (1 + self.random.below(PROCESSES_MAX as u64) as usize).min(left);
            let plans: Vec<Plan> = (0..processes).map(|_| Plan::draw(&mut self.random)).collect();
            for (ledger, doing) in self.kill_at_once(&plans)? {
                self.told.extend(whole(ledger));
                self.doing.push(doing);
            }
            let last = first + self.doing.len();
            let is_last = self.doing.len() == kills;
            self.recover(is_last).map_err(|error| format!("kill {last} ({plans:?}): {error}"))?;
        }
        Ok(self)
    }

    /// Starts these programs together and kills each at its time.
    fn kill_at_once(&self, plans: &[Plan]) -> Outcome<Vec<(Vec<u8>, Doing)>> {
        let kill = |plan: &Plan| {
            let complaints = complaints(self.folder).map_err(|error| error.to_string())?;
            let command = plan.recorded(self.host, self.folder);
            plan.run_and_kill(command, self.folder, complaints).map_err(|error| error.to_string())
        };
        thread::scope(|scope| {
            let running: Vec<_> = plans.iter().map(|plan| scope.spawn(move || kill(plan))).collect();
            let killed = running
                .into_iter()
                .map(|program| program.join().map_err(|_| "a thread panicked".to_owned())?);
            Ok(killed.collect::<Result<Vec<_>, String>>()?)
        })
    }

    /// Recovers by hand, unless the next start shall find these journals.
    fn recover(&mut self, is_last: bool) -> Outcome {
        if !is_last && self.random.one_in(4) {
            return Ok(());
        }
        if self.random.one_in(4) {
            self.kill_recovery()?;
        }
        recover(self.host, self.folder)
    }

    /// Starts a recovery and kills it, too.
    fn kill_recovery(&mut self) -> Outcome {
        let mut recovery = recovery(self.host, self.folder).stdout(Stdio::null()).spawn()?;
        thread::sleep(Duration::from_micros(self.random.below(60_000)));
        recovery.kill()?;
        self.recoveries += usize::from(!recovery.wait()?.success());
        Ok(())
    }
}

/// Whole acknowledgements.
pub(super) fn whole(mut told: Vec<u8>) -> Vec<u8> {
    told.truncate(told.len() / 24 * 24);
    told
}

/// The file that takes what programs say in this folder.
pub(super) fn complaints(folder: &Path) -> std::io::Result<File> {
    File::options().create(true).append(true).open(folder.join("complaints"))
}
