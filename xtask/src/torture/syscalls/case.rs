//! One case: a call that fails, and what must be there in the end.

use std::fmt::{self, Display};
use std::fs;
use std::path::Path;
use std::process::Command;

use super::trace::{self, Who, command, finish};
use crate::Outcome;
use crate::torture::recovery::recover;

/// What the program does: tasks, and records that they and the workflow make.
const TASKS: u64 = 240;
const RECORDS: u64 = 2 * TASKS + 2;
const EXIT_CODE: i32 = 7;
/// Calls that take so many microseconds each; the last of them longer than a run may take.
pub(super) const SLOW: &[(&str, u64)] =
    &[("fsync", 20_000), ("pwrite64", 20_000), ("fsync", 120_000_000), ("pwrite64", 120_000_000)];

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Once(&'static str),
    ForEver(&'static str),
    /// It takes so many microseconds, each time.
    Slow(u64),
    /// The program is killed as it is made.
    Kill,
}

impl Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(error) => write!(formatter, "{error} once"),
            Self::ForEver(error) => write!(formatter, "{error} for ever"),
            Self::Slow(microseconds) => write!(formatter, "takes {microseconds} µs"),
            Self::Kill => formatter.write_str("killed"),
        }
    }
}

/// One call of one thread, and its fault.
#[derive(Clone, Debug)]
pub(super) struct Case {
    who: Who,
    pub(super) call: String,
    number: usize,
    pub(super) fault: Fault,
}

impl Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {} {}: {}", self.who, self.call, self.number, self.fault)
    }
}

/// What a case showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    pub(super) is_reached: bool,
    pub(super) is_recorded: bool,
    pub(super) records: u64,
    /// Panics of ours.
    pub(super) faults: usize,
}

impl Case {
    pub(super) fn new(who: Who, call: &str, number: usize, fault: Fault) -> Self {
        Self { who, call: call.to_owned(), number, fault }
    }

    pub(super) fn slow((call, microseconds): (&str, u64)) -> Self {
        Self::new(Who::Drain, call, 1, Fault::Slow(microseconds))
    }

    fn inject(&self) -> [String; 4] {
        let Self { call, number, .. } = self;
        let what = match self.fault {
            Fault::Once(error) => format!("error={error}:when={number}"),
            Fault::ForEver(error) => format!("error={error}:when={number}+"),
            Fault::Slow(microseconds) => format!("delay_enter={microseconds}:when={number}+"),
            Fault::Kill => format!("signal=KILL:when={number}"),
        };
        ["-e".to_owned(), format!("trace={call}"), "-e".to_owned(), format!("inject={call}:{what}")]
    }

    /// Runs the program, compares it with the one without a recorder, recovers, and looks for what is lost.
    pub(super) fn run(&self, host: &Path, folder: &Path, bare: &[u8]) -> Outcome<Ran> {
        let output = trace::run(host, folder, self.who, &self.inject())?;
        let trace = fs::read_to_string(folder.join("trace"))?;
        let is_killed = self.fault == Fault::Kill && output.status.code().is_none();
        let expected = if self.who == Who::Drain { [b"ready\n", bare].concat() } else { bare.to_vec() };
        if !is_killed && (output.stdout != expected || output.status.code() != Some(EXIT_CODE)) {
            let printed = String::from_utf8_lossy(&output.stdout);
            return Err(format!("the host ended with {}: {printed}{}", output.status, output.stderr).into());
        }
        // The standard library panics where a folder cannot be closed; that must stay with us.
        let faults = output.stderr.matches("panicked").count();
        let is_recorded =
            !["nothing is recorded", "in memory"].iter().any(|text| output.stderr.contains(text));
        let store = folder.join(".telemetry");
        fs::create_dir_all(&store)?;
        recover(host, &store)?;
        let records = check(&store.join("provenance.db"), is_recorded, is_killed)
            .map_err(|error| format!("{error}\n{}", output.stderr))?;
        // A call that is held up to the end never says that it was.
        let is_held_up = matches!(self.fault, Fault::Slow(_)) && trace.contains(&format!("{}(", self.call));
        let is_reached = trace.contains("INJECTED") || is_held_up || is_killed;
        Ok(Ran { is_reached, is_recorded, records, faults })
    }
}

/// What the program prints without a recorder.
pub(super) fn bare(host: &Path, folder: &Path) -> Outcome<Vec<u8>> {
    let mut program = command(&host.to_string_lossy(), folder);
    program.arg("work").env("TELEMETRY_INSTRUMENTATION__ENABLED", "false");
    let output = finish(program.spawn()?, Vec::new(), None)?;
    let is_good =
        output.status.code() == Some(EXIT_CODE) && output.stderr.is_empty() && !output.stdout.is_empty();
    if is_good { Ok(output.stdout) } else { Err(format!("without a recorder: {output:?}").into()) }
}

/// Tasks, of these finished, and the counters; answers how many records were accepted.
fn check(database: &Path, is_recorded: bool, is_killed: bool) -> Outcome<u64> {
    let query = "select (select count(*) from tasks), (select count(*) from tasks where status = 'FINISHED'),
        coalesce(sum(offered), 0), coalesce(sum(persisted), 0), coalesce(sum(dropped_oversize), 0), coalesce(sum(torn), 0),
        coalesce(sum(pending + dropped_full + dropped_nested + dropped_stopped), 0) from health;
        pragma integrity_check";
    let output = Command::new("sqlite3").arg("-readonly").arg(database).arg(query).output()?;
    let text = String::from_utf8(output.stdout)?;
    let Some(numbers) = text.strip_suffix("\nok\n") else {
        return Err(format!("the database says {text}").into());
    };
    let numbers = numbers.split('|').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    let [tasks, finished, offered, persisted, oversize, torn, others] = numbers[..] else {
        return Err(format!("the database says {text}").into());
    };
    let law = offered == persisted + oversize + torn && others == 0;
    let all = if oversize == 0 {
        offered == RECORDS && torn == 0 && tasks == TASKS && finished == TASKS
    } else {
        // What could not be spilled is a START or an END, or both, and leaves a record of the gap.
        offered > RECORDS && torn == 0 && tasks + oversize >= TASKS && finished + oversize >= TASKS
    };
    // A recorder that could not start, or whose program was killed, has recorded what it has.
    if law && (!is_recorded || is_killed || all) {
        return Ok(persisted);
    }
    Err(format!(
        "{tasks} tasks, {finished} finished, {offered} offered, {persisted} persisted, {oversize} too large, \
        {torn} torn, {others} others"
    )
    .into())
}
