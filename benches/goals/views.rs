//! Goal 9: questions through the views at a million tasks, each beside a bare query on the base tables.

use std::cell::RefCell;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use telemetry::Settings;
use telemetry_core::record::ProcessName;
use telemetry_core::runtime::{Recording, RecordingOptions, StartedWorkflow};
use telemetry_journal::{Config, Journal, OnFull};
use telemetry_store::{Drain, Store, StoreOptions};

use crate::functions::with_data;
use crate::measured::call;
use crate::options::Options;
use crate::report::{Bound, Report, Target};
use crate::rounds::Rounds;
use crate::script::Script;

const ROOTS: usize = 1_000;
const BRANCHES: usize = 9;
const LEAVES: usize = 110;
/// Every question is asked so often, and the median counts.
const ROUNDS: usize = 15;

const CLIENT: &str = include_str!("views_client.py");

/// A question through the views, the same on the base tables, and how long it may take.
struct Question {
    name: &'static str,
    by_python: &'static str,
    limit_ms: f64,
    view: &'static str,
    base: &'static str,
}

const LEAF: &str = "(select task_id from task where depth = 2 order by key desc limit 1)";
const ROOT: &str = "(select root_task_id from task where depth = 2 order by key desc limit 1)";

const QUESTIONS: &[Question] = &[
    Question {
        name: "at 1 M tasks: a task by its id",
        by_python: "at 1 M tasks: a task by its id, by Python\'s sqlite3",
        limit_ms: 1.0,
        view: "select * from tasks where task_id = LEAF",
        base: "select * from task where task_id = LEAF",
    },
    Question {
        name: "at 1 M tasks: the children of a task",
        by_python: "at 1 M tasks: the children of a task, by Python\'s sqlite3",
        limit_ms: 1.0,
        view: "select task_id, activity_id, status, duration_ns from tasks where parent_task_id = ROOT",
        base: "select task_id, activity, status, ended_ns - started_ns from task where parent_task_id = ROOT",
    },
    Question {
        name: "at 1 M tasks: the ancestors of a task",
        by_python: "at 1 M tasks: the ancestors of a task, by Python\'s sqlite3",
        limit_ms: 1.0,
        view: "select * from ancestors where task_id = LEAF",
        base: "with recursive up (id) as (select parent_task_id from task where task_id = LEAF
            union all select p.parent_task_id from up join task p on p.task_id = up.id
            where p.parent_task_id is not null) select * from up",
    },
    Question {
        name: "at 1 M tasks: 999 descendants of a task",
        by_python: "at 1 M tasks: 999 descendants of a task, by Python\'s sqlite3",
        limit_ms: 10.0,
        view: "select * from descendants where task_id = ROOT",
        base: "with recursive down (id) as (select task_id from task where parent_task_id = ROOT
            union all select c.task_id from down join task c on c.parent_task_id = down.id) select * from down",
    },
    Question {
        name: "at 1 M tasks: the activities of a workflow",
        by_python: "at 1 M tasks: the activities of a workflow, by Python\'s sqlite3",
        limit_ms: 1_500.0,
        view: "select * from activities where workflow_id = (select workflow_id from workflow)",
        base: "select activity, count(*), sum(ended_ns - started_ns) from task where workflow = 1 group by activity",
    },
    Question {
        name: "at 1 M tasks: every task joined with its parent",
        by_python: "at 1 M tasks: every task joined with its parent, by Python\'s sqlite3",
        limit_ms: 1_000.0,
        view: "select count(p.status) from tasks c join tasks p on p.task_id = c.parent_task_id",
        base: "select count(p.status) from task c join task p on p.task_id = c.parent_task_id",
    },
];

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("million.db");
    record(&path)?;
    let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let ids = Ids { leaf: text(&connection, LEAF)?, root: text(&connection, ROOT)? };
    ask_all(
        options,
        &ids,
        report,
        |question| question.name,
        |sql| ask(&connection, sql).expect("the question has an answer"),
    );
    by_python(options, &path, &ids, report);
    Ok(())
}

/// Asks every question through the views and on the base tables, in turns.
fn ask_all(
    options: &Options,
    ids: &Ids,
    report: &mut Report,
    name: impl Fn(&Question) -> &'static str,
    time: impl FnMut(&str) -> f64,
) {
    let time = RefCell::new(time);
    for question in QUESTIONS {
        let (view, base) = (ids.fill(question.view), ids.fill(question.base));
        let ask = |sql: &str| (*time.borrow_mut())(sql);
        let rounds = Rounds::alternate(options.rounds(ROUNDS), || ask(&view), || ask(&base));
        let (name, limit) = (name(question), question.limit_ms);
        let target = Target { goal: 9, name, unit: "ms", limit, bound: Bound::AtMost };
        report.figure_beside(target, &rounds, "beside a bare query on the base tables");
    }
}

/// The same by a client that knows nothing of us and brings a SQLite of its own.
fn by_python(options: &Options, path: &Path, ids: &Ids, report: &mut Report) {
    match Script::python(options, CLIENT, &path.to_string_lossy()) {
        Ok(mut client) => ask_all(
            options,
            ids,
            report,
            |question| question.by_python,
            |sql| client.ask(&sql.replace('\n', " ")),
        ),
        Err(why) => println!("   by Python's sqlite3: {why}"),
    }
}

/// The tasks that the questions are about.
struct Ids {
    leaf: String,
    root: String,
}

impl Ids {
    fn fill(&self, sql: &str) -> String {
        sql.replace("LEAF", &format!("'{}'", self.leaf)).replace("ROOT", &format!("'{}'", self.root))
    }
}

fn text(connection: &Connection, expression: &str) -> rusqlite::Result<String> {
    connection.query_row(&format!("select {expression}"), [], |row| row.get(0))
}

/// Milliseconds from the text of the question to the last row of the answer.
pub(crate) fn ask(connection: &Connection, sql: &str) -> rusqlite::Result<f64> {
    let begun = Instant::now();
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    assert!(count > 0, "no answer to {sql}");
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

#[telemetry::task(level = "data")]
fn root(number: usize) {
    for part in 0..BRANCHES {
        branch(number, part);
    }
}

#[telemetry::task(level = "data")]
fn branch(number: usize, branch: usize) -> usize {
    call(LEAVES, with_data);
    number + branch
}

/// So many tasks in a row use what the one before them generated.
const CHAIN: usize = 100;

/// Values that are long enough to be known again.
fn chain() {
    let value = |number: usize| {
        format!("{number} of a chain of values, each of which a task makes of the one before")
    };
    for number in 0..CHAIN {
        telemetry::Task::start("link")
            .used("before", value(number))
            .generated("after", value(number + 1))
            .end();
    }
}

/// Records a million tasks, three levels deep, and a chain of derivations.
pub(crate) fn record(path: &Path) -> Result<(), Box<dyn Error>> {
    let journal = Journal::in_memory(Config {
        id: 0x0199_0000_0000_7000_8000_0000_0000_0009,
        lane_bytes: 1 << 20,
        lanes_max: 1,
        on_full: OnFull::Drop,
        wait_max: Duration::ZERO,
    });
    let recording = Recording::install(RecordingOptions {
        journal,
        process: ProcessName::default(),
        settings: Settings::default(),
        sensor: None,
        parent: None,
        inherited: None,
        redactor: None,
    })?;
    let workflow = StartedWorkflow::start("million", |_| {}).ok_or("the recording is in force")?;
    let entered = workflow.context().enter();
    let mut drain = Drain::new(Store::open(path, StoreOptions::default())?, Arc::new(journal));
    for number in 0..ROOTS {
        root(number);
        drain.pass()?;
    }
    chain();
    drain.pass()?;
    drop(entered);
    recording.remove();
    drain.store().checkpoint()?;
    Ok(())
}
