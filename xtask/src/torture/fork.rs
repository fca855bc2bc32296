//! The campaign `fork`: a program forks while its threads record, and every child records as well.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::options::Options;
use super::recovery::recover;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::build_program;
use crate::terminal::say;

/// Runs × children × tasks of each child, and of the parent.
const LONG: [usize; 3] = [150, 64, 10_000];
const SHORT: [usize; 3] = [3, 16, 1_000];
/// How long a run may take before it counts as hung: many children share two cores and one database.
const RUN_MAX: Duration = Duration::from_mins(5);

/// Programs that go into the background, and the tasks of each process.
const LEFT: usize = 1_000;
const LEFT_SHORT: usize = 20;
const LEFT_TASKS: &str = "300";

/// What a run must show: each child and the parent with all their tasks, each under its own process id, and
/// those of a child below the task that forked it, in the same workflow.
const QUERY: &str = "select count(*), sum(tasks), count(distinct pid), sum(below) from (
    select s.pid, count(*) as tasks, coalesce(sum(f.activity_id = 'forking' and f.workflow_id = s.workflow_id), 0) as below
    from tasks s left join tasks f on f.task_id = s.parent_task_id
    where s.activity_id = 'step' and s.status = 'FINISHED' group by s.pid)";

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let [runs, children, tasks] = if options.is_short { SHORT } else { LONG };
    let host = build_program("telemetry-torture-host")?;
    say(&format!("torture fork: {runs} runs, {children} children each, {tasks} tasks a process"));
    let begun = Instant::now();
    for number in 0..runs {
        let folder = empty_folder("fork")?;
        let fail = |error: String| format!("run {number}: {error}; the evidence is in {}", folder.display());
        record(&host, &folder, children, tasks).map_err(|error| fail(error.to_string()))?;
        recover(&host, &folder).map_err(|error| fail(error.to_string()))?;
        let found = ask(&folder.join("provenance.db"))?;
        let processes = children + 1;
        let expected = format!("{processes}|{}|{processes}|{}", processes * tasks, children * tasks);
        if found != expected {
            return Err(fail(format!("found {found} instead of {expected}")).into());
        }
        std::fs::remove_dir_all(&folder)?;
    }
    let left = if options.is_short { LEFT_SHORT } else { LEFT };
    for number in 0..left {
        leave(&host).map_err(|error| format!("run {number} of a program that leaves its child: {error}"))?;
    }
    let figures = json!({
        "campaign": "fork",
        "children_left": left,
        "runs": runs,
        "forks": runs * children,
        "tasks": runs * (children + 1) * tasks,
        "lost": 0,
        "hangs": 0,
        "seconds": begun.elapsed().as_secs(),
    });
    let path = write_figures("fork", &figures)?;
    let tasks = runs * (children + 1) * tasks;
    say(&format!(
        "torture fork: {} forks, {tasks} tasks, and {left} children that outlived their parents, 0 lost, 0 hangs; figures in \
         {}",
        runs * children,
        path.display()
    ));
    Ok(())
}

/// A program that forks and ends while its child begins to record: both have all their tasks, and say nothing.
fn leave(host: &Path) -> Outcome {
    let folder = empty_folder("fork")?;
    // The answer is there when the child has closed the pipe, too.
    let output = Command::new(host)
        .current_dir(&folder)
        .args(["leave", "--tasks", LEFT_TASKS])
        .env("TELEMETRY_STORE__PATH", folder.join("provenance.db"))
        .env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "lightweight")
        .env("TELEMETRY_JOURNAL__DRAIN_INTERVAL_MS", "5")
        .output()?;
    recover(host, &folder)?;
    let found = ask(&folder.join("provenance.db"))?;
    let expected = format!("2|{}|2|0", 2 * LEFT_TASKS.parse::<u64>()?);
    if found != expected || !output.stderr.is_empty() || !output.status.success() {
        return Err(format!("found {found} instead of {expected}; {output:?}").into());
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Runs the program, which must end well, say nothing, and not hang.
fn record(host: &Path, folder: &Path, children: usize, tasks: usize) -> Outcome {
    let mut program = Command::new(host)
        .current_dir(folder)
        .args(["fork", "--threads", "8", "--children", &children.to_string(), "--tasks", &tasks.to_string()])
        .env("TELEMETRY_STORE__PATH", folder.join("provenance.db"))
        .env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data")
        .env("TELEMETRY_CAPTURE__RULES", r#"[{activity: "*::busy", level: lightweight}]"#)
        // Many processes share two cores and one database: patience, instead of dropping.
        .env("TELEMETRY_JOURNAL__WAIT_MS_MAX", "600000")
        .stderr(Stdio::piped())
        .spawn()?;
    let end = Instant::now() + RUN_MAX;
    while program.try_wait()?.is_none() {
        if Instant::now() > end {
            program.kill()?;
            return Err("the program hangs".into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = program.wait_with_output()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !complaints.is_empty() {
        return Err(format!("the program ended with {}: {complaints}", output.status).into());
    }
    Ok(())
}

fn ask(database: &Path) -> Outcome<String> {
    let output = Command::new("sqlite3").arg("-readonly").arg(database).arg(QUERY).output()?;
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}
