//! The program `telemetry` at a million tasks: how long its commands take, and how much memory.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use rusqlite::{Connection, OpenFlags};

use crate::options::Options;
use crate::report::{Bound, Report, Target};
use crate::rounds::{Rounds, median};
use crate::views::{ask, record};

/// Every command is run so often, and the median counts.
const ROUNDS: usize = 5;
const MEMORY_MB_MAX: f64 = 300.0;
const REPORT_MS_MAX: f64 = 10_000.0;
const REPORT_MEMORY_MB_MAX: f64 = 500.0;
const REPORT_FILE_MB_MAX: f64 = 5.0;

/// A command, a bare query on the base tables that looks at the same rows, and how long the command may take.
struct Case {
    name: &'static str,
    limit_ms: f64,
    arguments: &'static [&'static str],
    base: &'static str,
}

const CHAIN_END: &str = "(select task_id from fingerprint order by at_ns desc limit 1)";

const CASES: &[Case] = &[
    Case {
        name: "at 1 M tasks: telemetry ls",
        limit_ms: 1_000.0,
        arguments: &["ls", "--json"],
        base: "select count(*), sum(status is 5) from task where workflow = 1",
    },
    Case {
        name: "at 1 M tasks: telemetry show",
        limit_ms: 4_000.0,
        arguments: &["show", "--json"],
        base: "select count(p.status) from task c join task p on p.task_id = c.parent_task_id",
    },
    Case {
        name: "at 1 M tasks: telemetry tree --depth 3",
        limit_ms: 3_000.0,
        arguments: &["tree", "--depth", "3", "--json"],
        base: "select count(p.status) from task c join task p on p.task_id = c.parent_task_id",
    },
    Case {
        name: "at 1 M tasks: telemetry lineage of a task, 100 steps",
        limit_ms: 200.0,
        arguments: &["lineage", "CHAIN_END", "--json"],
        base: "select * from fingerprint",
    },
];

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let Some(program) = &options.program else {
        println!("cli: left out without --program PATH; cargo xtask bench names it");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("million.db");
    record(&path)?;
    let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let end: String = connection.query_row(&format!("select {CHAIN_END}"), [], |row| row.get(0))?;
    for case in CASES {
        let arguments: Vec<&str> =
            case.arguments.iter().map(|word| if *word == "CHAIN_END" { &end } else { *word }).collect();
        let ours = || time(program, &path, &arguments).expect("the program answers");
        let base = || ask(&connection, case.base).expect("the question has an answer");
        let rounds = Rounds::alternate(options.rounds(ROUNDS), ours, base);
        let target =
            Target { goal: 9, name: case.name, unit: "ms", limit: case.limit_ms, bound: Bound::AtMost };
        report.figure_beside(target, &rounds, "beside a bare query on the same rows");
    }
    let mb = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() as f64 * 1024.0 / 1e6;
    let name = "at 1 M tasks: the most memory of these commands";
    let target = Target { goal: 9, name, unit: "MB", limit: MEMORY_MB_MAX, bound: Bound::AtMost };
    report.figure(target, mb, "resident, at its highest".to_owned());
    write_report(program, &path, &folder.path().join("report.html"), report)
}

/// The report of the whole run as a page.
fn write_report(
    program: &Path,
    database: &Path,
    page: &Path,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let arguments = ["report", "--html", page.to_str().ok_or("a folder whose name is text")?];
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(time(program, database, &arguments)?);
    }
    // The most that any command took so far is more than what this one did, or the same.
    let mb = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() as f64 * 1024.0 / 1e6;
    let page_mb = std::fs::metadata(page)?.len() as f64 / 1e6;
    let figures = [
        ("at 1 M tasks: telemetry report --html", "ms", REPORT_MS_MAX, median(times)),
        ("at 1 M tasks: the most memory, with the report", "MB", REPORT_MEMORY_MB_MAX, mb),
        ("at 1 M tasks: the file of the report", "MB", REPORT_FILE_MB_MAX, page_mb),
    ];
    for (name, unit, limit, figure) in figures {
        let target = Target { goal: 9, name, unit, limit, bound: Bound::AtMost };
        report.figure(target, figure, String::new());
    }
    Ok(())
}

/// Milliseconds from the start of the program to its end.
fn time(program: &Path, database: &Path, arguments: &[&str]) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.args(arguments).arg("--database").arg(database).stdout(Stdio::null());
    let status = command.status()?;
    if !status.success() {
        return Err(format!("telemetry {arguments:?} ended with {status}").into());
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}
