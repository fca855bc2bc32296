//! The campaign `copies`: the database is copied again and again while a program writes to it.
//!
//! A copy by `telemetry snapshot` must be sound and have everything that a flush had said to be written before it began.
//! A copy by `cp`, of the database alone, is the control: it must miss rows or be no database, or nothing was shown.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use std::{fs, thread};

use serde_json::json;

use super::options::Options;
use super::{empty_folder, own_host, write_figures};
use crate::Outcome;
use crate::cargo::build_for_tests;
use crate::terminal::say;

const COPIES: usize = 1_000;
const COPIES_SHORT: usize = 20;
/// A new database after so many, so that copies stay small.
const COPIES_PER_RUN: usize = 10;

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let copies = options.cases.unwrap_or(if options.is_short { COPIES_SHORT } else { COPIES });
    let folder = empty_folder("copies")?;
    let host = own_host(&folder)?;
    let telemetry = folder.join("telemetry");
    fs::copy(build_for_tests("telemetry-cli")?, &telemetry)?;
    say(&format!("torture copies: {copies} while a program writes"));
    let begun = Instant::now();
    let mut sum = Sum::default();
    while sum.copies < copies && !options.is_over() {
        let place = folder.join(format!("run-{}", sum.copies));
        fs::create_dir_all(&place)?;
        let program = Program::start(&host, &place)?;
        for _ in 0..COPIES_PER_RUN.min(copies - sum.copies) {
            sum.copy(&telemetry, &place, &program)?;
        }
        drop(program);
        fs::remove_dir_all(place)?;
    }
    let Sum { copies, written, bad_copies } = sum;
    let figures = json!({
        "campaign": "copies",
        "copies": copies,
        "written": written,
        "bad_snapshots": 0,
        "bad_by_cp": bad_copies,
        "seconds": begun.elapsed().as_secs(),
    });
    let path = write_figures("copies", &figures)?;
    say(&format!(
        "torture copies: {copies} snapshots, {written} tasks in them, 0 missing, 0 unsound; of as many by cp, {bad_copies} \
         miss rows or are no database; figures in {}",
        path.display()
    ));
    fs::remove_dir_all(folder)?;
    if bad_copies == 0 { Err("cp did no worse: the load is too light".into()) } else { Ok(()) }
}

/// The figures so far.
#[derive(Debug, Default)]
struct Sum {
    copies: usize,
    /// Tasks that must be in the snapshots, all together.
    written: u64,
    bad_copies: usize,
}

impl Sum {
    /// One snapshot, and one copy by `cp`.
    fn copy(&mut self, telemetry: &Path, place: &Path, program: &Program) -> Outcome {
        let (database, snapshot) = (place.join("provenance.db"), place.join("snapshot.db"));
        let (by_hand, mut snap) = (place.join("copy.db"), Command::new(telemetry));
        let written = program.at_least(1);
        fs::copy(&database, &by_hand)?;
        self.bad_copies += usize::from(finished(&by_hand).is_none_or(|found| found < written));
        snap.args(["snapshot", "--yes", "--database"]).arg(&database).arg(&snapshot);
        let output = snap.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(format!("the snapshot failed: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        if finished(&snapshot).is_none_or(|found| found < written) {
            return Err(
                format!("{} has not all of {written} tasks, or is unsound", snapshot.display()).into()
            );
        }
        self.copies += 1;
        self.written += written;
        Ok(())
    }
}

/// How many tasks have ended in a sound database; none in one that is not.
fn finished(database: &Path) -> Option<u64> {
    let query = "select count(*) from tasks where status = 'FINISHED'; pragma integrity_check";
    let output = Command::new("sqlite3").arg("-readonly").arg(database).arg(query).output().ok()?;
    String::from_utf8(output.stdout).ok()?.strip_suffix("\nok\n")?.parse().ok()
}

/// The program, which says how much is written; killed when this is dropped.
struct Program {
    child: Child,
    written: Arc<AtomicU64>,
}

impl Program {
    fn start(host: &PathBuf, place: &Path) -> Outcome<Self> {
        let mut command = Command::new(host);
        command.arg("power").current_dir(place).stdout(Stdio::piped());
        command.env("TELEMETRY_STORE__PATH", place.join("provenance.db"));
        let mut child = command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data").spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("a pipe")?).lines();
        let written = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&written);
        thread::spawn(move || {
            for number in lines.map_while(Result::ok).filter_map(|line| line.parse().ok()) {
                told.store(number, Ordering::Release);
            }
        });
        let program = Self { child, written };
        program.at_least(1);
        Ok(program)
    }

    /// How many tasks are written, once there are so many.
    fn at_least(&self, tasks: u64) -> u64 {
        loop {
            let written = self.written.load(Ordering::Acquire);
            if written >= tasks {
                return written;
            }
            thread::yield_now();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
