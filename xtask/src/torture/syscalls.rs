//! The campaign `syscalls`: each system call of the recorder fails, once and for ever, or is where the program is killed.
//!
//! A traced run lists the calls that the program's own thread makes for the recorder's start, and those of the drain.
//! Then, for each of them and each error, the same program runs with that one call failing, by `strace`. Its output and
//! its end must be those of the program without a recorder, and everything that it recorded must be there after a
//! recovery. A kill at each call of the drain must lose nothing of what was accepted. Calls that only take memory are left
//! out: a program without memory ends with or without us.
//!
//! Many cases wait at once, for a disk that does not answer or for the end of their program. Most lie in memory, one in
//! four on the disk.

mod case;
mod trace;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use serde_json::json;

use super::options::Options;
use super::places::Places;
use super::random::Random;
use super::side_by_side::{Progress, locked, processors, side_by_side};
use super::{own_host, write_figures};
use crate::Outcome;
use crate::terminal::say;
use case::{Case, Fault, Ran};
use trace::{Who, trace};

const CASES_SHORT: usize = 30;
/// Cases at once, for each processor: they use it for a twentieth of their time.
const AT_ONCE: usize = 6;
/// How often a case runs whose call is not made.
const ATTEMPTS_MAX: usize = 4;
/// What a call answers when it fails.
const ERRORS: &[&str] = &["EIO", "ENOSPC", "EINTR", "EACCES", "EMFILE"];
/// Calls that take memory, wait, or cannot fail.
const LEFT_OUT: &[&str] = &[
    "brk",
    "mmap",
    "munmap",
    "mprotect",
    "madvise",
    "futex",
    "exit",
    "exit_group",
    "rseq",
    "write",
    "clock_gettime",
    "clock_nanosleep",
    "sched_getaffinity",
    "sched_yield",
    "sigaltstack",
    "rt_sigprocmask",
    "rt_sigaction",
    "set_robust_list",
    "gettid",
    "getpid",
    "geteuid",
    "restart_syscall",
];

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    if std::process::Command::new("strace").arg("--version").output().is_err() {
        say("torture syscalls: skipped, since strace is missing (apt-get install strace)");
        return Ok(());
    }
    let begun = Instant::now();
    let campaign = Campaign::new()?;
    let mut cases = campaign.all_cases()?;
    let there_are = cases.len();
    let wanted = options.cases.unwrap_or(if options.is_short { CASES_SHORT } else { there_are });
    say(&format!(
        "torture syscalls: {} of {there_are} cases, --seed {}",
        wanted.min(there_are),
        options.seed
    ));
    shuffle(&mut cases, options.seed);
    cases.truncate(wanted);
    cases.drain(..options.done.min(cases.len()));
    // What a disk does that is slow, or does not answer at all.
    let cases: Vec<Case> = case::SLOW.iter().copied().map(Case::slow).chain(cases).collect();
    let outcome = campaign.run(&cases, options);
    let sum = std::mem::take(&mut *locked(&campaign.sum));
    let figures = json!({
        "campaign": "syscalls",
        "seed": options.seed,
        "seconds": begun.elapsed().as_secs(),
        "cases": sum.cases,
        "cases_on_disk": sum.on_disk,
        "of": there_are,
        "reached": sum.reached,
        "by_call": sum.by_call,
        "by_fault": sum.by_fault,
        "not_recorded": sum.not_recorded,
        "records": sum.records,
        "faults_contained": sum.faults,
        "lost": 0,
        "failure": outcome.as_ref().err().map(ToString::to_string),
    });
    let path = write_figures("syscalls", &figures)?;
    let Sum { cases, on_disk, reached, records, not_recorded, .. } = sum;
    say(&format!(
        "torture syscalls: {cases} cases ({on_disk} on the disk, the others in memory), {reached} reached their call, {records} records accepted, {not_recorded} runs \
         without a recorder since its start failed; figures in {}",
        path.display()
    ));
    outcome?;
    fs::remove_dir_all(&campaign.places.disk)?;
    Ok(())
}

struct Campaign {
    places: Places,
    host: PathBuf,
    /// What the program prints without a recorder.
    bare: Vec<u8>,
    sum: Mutex<Sum>,
}

impl Campaign {
    fn new() -> Outcome<Self> {
        let places = Places::new("syscalls")?;
        let host = own_host(&places.disk)?;
        let bare = case::bare(&host, &places.disk)?;
        Ok(Self { places, host, bare, sum: Mutex::default() })
    }

    fn run(&self, cases: &[Case], options: &Options) -> Outcome {
        let progress = Progress::new(cases.len());
        side_by_side(AT_ONCE * processors(), cases.len(), options, |number| {
            self.run_case(number, &cases[number])?;
            let sum = locked(&self.sum);
            progress.tell(sum.cases, &format!("{} records accepted, 0 lost", sum.records));
            Ok(())
        })
    }

    /// Runs a case until its call is made, or a few times: how many calls the drain makes is up to what runs beside it.
    fn run_case(&self, number: usize, case: &Case) -> Outcome {
        let run = |folder: &Path| case.run(&self.host, folder, &self.bare);
        let name = format!("case-{number}");
        let once = || self.places.within(number, &name, run).map_err(|error| format!("{case}: {error}"));
        let mut ran = once()?;
        for _ in 1..ATTEMPTS_MAX {
            if !ran.is_reached {
                ran = once()?;
            }
        }
        locked(&self.sum).add(case, ran, self.places.is_on_disk(number));
        Ok(())
    }

    /// Every call × every error, once and for ever, and a kill at each call of the drain.
    fn all_cases(&self) -> Outcome<Vec<Case>> {
        let mut cases = Vec::new();
        for who in [Who::Main, Who::Drain] {
            let calls =
                self.places.within(0, &format!("trace-{who:?}"), |folder| trace(&self.host, folder, who))?;
            for (call, numbers) in calls.into_iter().filter(|(call, _)| !LEFT_OUT.contains(&&**call)) {
                cases.extend(numbers.flat_map(|number| {
                    faults(who).map(|fault| Case::new(who, &call, number, fault)).collect::<Vec<_>>()
                }));
            }
        }
        Ok(cases)
    }
}

/// What may happen to a call of this thread.
fn faults(who: Who) -> impl Iterator<Item = Fault> {
    let faults = ERRORS.iter().flat_map(|error| [Fault::Once(error), Fault::ForEver(error)]);
    let kill = (who == Who::Drain).then_some(Fault::Kill);
    // A call that is interrupted for ever is repeated for ever: no system does that.
    faults.chain(kill).filter(|fault| *fault != Fault::ForEver("EINTR"))
}

fn shuffle(cases: &mut [Case], seed: u64) {
    let mut random = Random::new(seed);
    for last in (1..cases.len()).rev() {
        cases.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// The figures of all cases so far.
#[derive(Debug, Default)]
struct Sum {
    cases: usize,
    on_disk: usize,
    reached: usize,
    not_recorded: usize,
    records: u64,
    faults: usize,
    by_call: BTreeMap<String, usize>,
    by_fault: BTreeMap<String, usize>,
}

impl Sum {
    fn add(&mut self, case: &Case, ran: Ran, is_on_disk: bool) {
        self.cases += 1;
        self.on_disk += usize::from(is_on_disk);
        self.reached += usize::from(ran.is_reached);
        self.not_recorded += usize::from(!ran.is_recorded);
        self.records += ran.records;
        self.faults += ran.faults;
        *self.by_call.entry(case.call.clone()).or_default() += 1;
        *self.by_fault.entry(case.fault.to_string()).or_default() += 1;
    }
}
