//! The campaign `syscalls`: each system call of the recorder fails, once and for ever, or is where the program is killed.
//!
//! A traced run lists the calls that the program's own thread makes for the recorder's start, and those of the drain.
//! Then, for each of them and each error, the same program runs with that one call failing, by `strace`. Its output and
//! its end must be those of the program without a recorder, and everything that it recorded must be there after a
//! recovery. A kill at each call of the drain must lose nothing of what was accepted. Calls that only take memory are left
//! out: a program without memory ends with or without us.

mod case;
mod trace;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use super::options::Options;
use super::random::Random;
use super::{empty_folder, own_host, write_figures};
use crate::Outcome;
use crate::terminal::say;
use case::{Case, Fault, Ran};
use trace::{Who, trace};

const CASES_SHORT: usize = 30;
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
    let folder = empty_folder("syscalls")?;
    let host = own_host(&folder)?;
    let begun = Instant::now();
    let mut cases = all_cases(&host, &folder)?;
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
    let bare = case::bare(&host, &folder)?;
    let mut sum = Sum::default();
    // What a disk does that is slow, or does not answer at all.
    let slow = case::SLOW.iter().copied().map(Case::slow);
    let mut cases = slow.chain(cases).take_while(|_| !options.is_over());
    let outcome = cases.try_for_each(|case| run_case(&case, &host, &folder, &bare, &mut sum));
    let figures = json!({
        "campaign": "syscalls",
        "seed": options.seed,
        "seconds": begun.elapsed().as_secs(),
        "cases": sum.cases,
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
    let Sum { cases, reached, records, not_recorded, .. } = sum;
    say(&format!(
        "torture syscalls: {cases} cases, {reached} reached their call, {records} records accepted, {not_recorded} runs \
         without a recorder since its start failed; figures in {}",
        path.display()
    ));
    outcome?;
    fs::remove_dir_all(folder)?;
    Ok(())
}

fn run_case(case: &Case, host: &Path, folder: &Path, bare: &[u8], sum: &mut Sum) -> Outcome {
    let folder: PathBuf = folder.join(format!("case-{}", sum.cases));
    fs::create_dir_all(&folder)?;
    let ran = case
        .run(host, &folder, bare)
        .map_err(|error| format!("{case}: {error}\nthe evidence is in {}", folder.display()))?;
    sum.add(case, ran);
    fs::remove_dir_all(folder)?;
    Ok(())
}

/// Every call × every error, once and for ever, and a kill at each call of the drain.
fn all_cases(host: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    for who in [Who::Main, Who::Drain] {
        let folder = folder.join(format!("trace-{who:?}"));
        fs::create_dir_all(&folder)?;
        for (call, numbers) in trace(host, &folder, who)? {
            if LEFT_OUT.contains(&&*call) {
                continue;
            }
            for number in numbers {
                let faults = ERRORS.iter().flat_map(|error| [Fault::Once(error), Fault::ForEver(error)]);
                let kill = (who == Who::Drain).then_some(Fault::Kill);
                // A call that is interrupted for ever is repeated for ever: no system does that.
                let faults = faults.chain(kill).filter(|fault| *fault != Fault::ForEver("EINTR"));
                cases.extend(faults.map(|fault| Case::new(who, &call, number, fault)));
            }
        }
        fs::remove_dir_all(folder)?;
    }
    Ok(cases)
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
    reached: usize,
    not_recorded: usize,
    records: u64,
    faults: usize,
    by_call: BTreeMap<String, usize>,
    by_fault: BTreeMap<String, usize>,
}

impl Sum {
    fn add(&mut self, case: &Case, ran: Ran) {
        self.cases += 1;
        self.reached += usize::from(ran.is_reached);
        self.not_recorded += usize::from(!ran.is_recorded);
        self.records += ran.records;
        self.faults += ran.faults;
        *self.by_call.entry(case.call.clone()).or_default() += 1;
        *self.by_fault.entry(case.fault.to_string()).or_default() += 1;
        if self.cases.is_multiple_of(100) {
            say(&format!("  {} cases, {} records accepted, 0 lost", self.cases, self.records));
        }
    }
}
