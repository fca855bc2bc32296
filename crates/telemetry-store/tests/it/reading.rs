//! Readers: rows, trees, ids in short, and questions that may only read.

use telemetry_core::record::{Field, TaskStart};
use telemetry_core::status::ErrorKind;
use telemetry_store::{
    ActivityRow, Cell, DerivationRow, Found, HealthRow, Order, QueryLimits, Reader, StoreError, TaskFilter,
    TaskRow, WorkflowFilter, WorkflowRow,
};

use crate::harness::*;

fn below(number: u64, parent: u64, ticks: u64) -> Framed {
    let parent = Some(task_id(parent));
    start(TaskStart { parent, root: Some(task_id(1)), depth: 1, ..started(number, ticks) }, &[])
}

fn family() -> Vec<Framed> {
    let name = items(|encoder| encoder.text(Field::Name, "demo"));
    vec![
        workflow_start(1, 5, &name),
        workflow_start(2, 6, &name),
        start(started(1, 10), &[]),
        below(3, 1, 30),
        below(2, 1, 20),
        below(4, 3, 35),
        below(5, 99, 50),
        failed(4, 36, ErrorKind::Err, "no"),
    ]
}

#[test]
fn rows_have_the_columns_of_their_views() {
    let (_folder, _store, reader) = store_with(&family());
    let columns = |view: &str| {
        let sql = format!("select * from {view}");
        reader.query(&sql, &[], QueryLimits::default()).unwrap().columns
    };
    assert_eq!(columns("workflows"), WorkflowRow::COLUMNS);
    assert_eq!(columns("tasks"), TaskRow::COLUMNS);
    assert_eq!(columns("activities"), ActivityRow::COLUMNS);
    assert_eq!(columns("health"), HealthRow::COLUMNS);
    assert_eq!(columns("derivations"), DerivationRow::COLUMNS);
}

#[test]
fn a_tree_is_in_the_order_of_a_screen() {
    let (_folder, _store, reader) = store_with(&family());
    let rows = reader.tree(&workflow_id(1).to_string()).unwrap();
    let lines: Vec<String> =
        rows.iter().map(|row| format!("{} {} {}", row.indent, &row.task_id[35..], row.status)).collect();
    assert_eq!(lines, ["0 1 RUNNING", "1 2 RUNNING", "1 3 RUNNING", "2 4 ERROR", "0 5 RUNNING"]);
}

#[test]
fn a_task_comes_with_what_is_around_it() {
    let (_folder, _store, reader) = store_with(&family());
    let ids = |rows: &[telemetry_store::RelatedTask]| {
        rows.iter().map(|row| format!("{}@{}", &row.task_id[35..], row.depth)).collect::<Vec<_>>()
    };
    let detail = reader.task(&task_id(1).to_string()).unwrap();
    assert_eq!(ids(&detail.descendants), ["2@1", "3@1", "4@2"]);
    let detail = reader.task(&task_id(4).to_string()).unwrap();
    assert_eq!(ids(&detail.ancestors), ["3@1", "1@2"]);
    assert!(matches!(reader.task("nobody").unwrap_err(), StoreError::NotFound { .. }));
}

#[test]
fn filters_choose_order_and_cut() {
    let (_folder, _store, reader) = store_with(&family());
    let tasks = |filter: TaskFilter| {
        reader.tasks(&filter).unwrap().into_iter().map(|row| row.task_id[35..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tasks(TaskFilter::default()), ["1", "2", "3", "4", "5"]);
    let newest = TaskFilter { order: Order::NewestFirst, limit: Some(2), ..TaskFilter::default() };
    assert_eq!(tasks(newest), ["5", "4"]);
    let children = TaskFilter { parent_task_id: Some(task_id(1).to_string()), ..TaskFilter::default() };
    assert_eq!(tasks(children), ["2", "3"]);
    let errors = TaskFilter {
        status: Some("ERROR".into()),
        workflow_id: Some(workflow_id(1).to_string()),
        activity_id: Some("step_1".into()),
        ..TaskFilter::default()
    };
    assert_eq!(tasks(errors), ["4"]);
    let named = WorkflowFilter { name: Some("demo".into()), limit: Some(1), ..WorkflowFilter::default() };
    assert_eq!(reader.workflows(&named).unwrap()[0].workflow_id, workflow_id(1).to_string());
}

#[test]
fn ids_may_be_shortened() {
    let (_folder, _store, reader) = store_with(&family());
    let second = Found::Workflow(workflow_id(2).to_string());
    assert_eq!(reader.resolve("@last").unwrap(), second);
    assert_eq!(reader.resolve("demo").unwrap(), second);
    assert_eq!(reader.resolve("@last~1").unwrap(), Found::Workflow(workflow_id(1).to_string()));
    assert!(matches!(reader.resolve("@last~2").unwrap_err(), StoreError::NotFound { .. }));
    let task = task_id(3).to_string();
    assert_eq!(reader.resolve(&task.to_uppercase()).unwrap(), Found::Task(task));
    assert!(matches!(reader.resolve("0198").unwrap_err(), StoreError::Ambiguous { .. }));
    assert!(matches!(reader.resolve("cafe").unwrap_err(), StoreError::NotFound { .. }));
}

#[test]
fn tasks_are_counted_by_how_they_stand() {
    let (_folder, _store, reader) = store_with(&family());
    let counts = reader.status_counts(&workflow_id(1).to_string()).unwrap();
    let counts: Vec<_> = counts.iter().map(|count| (&*count.status, count.tasks)).collect();
    assert_eq!(counts, [("RUNNING", 4), ("ERROR", 1)]);
}

#[test]
fn questions_may_only_read() {
    let (_folder, store, reader) = store_with(&family());
    let before = std::fs::read(store.path()).unwrap();
    let other = store.path().with_file_name("other.db");
    for sql in [
        "delete from task",
        "update task set used = null",
        "create table x (y)",
        "create temp table x (y)",
        "drop view tasks",
        &format!("attach '{}' as other", other.display()),
        &format!("vacuum into '{}'", other.display()),
        "vacuum",
        "reindex",
        "analyze",
        "pragma user_version = 7",
        "pragma wal_checkpoint",
        "select * from pragma_user_version",
        "begin immediate",
        "savepoint x",
        "select load_extension('x')",
    ] {
        let error = reader.query(sql, &[], QueryLimits::default()).unwrap_err();
        assert!(matches!(error, StoreError::NotReadOnly { .. } | StoreError::Query { .. }), "{sql}: {error}");
    }
    assert!(!other.exists());
    assert_eq!(std::fs::read(store.path()).unwrap(), before);
}

#[test]
fn questions_have_parameters_and_limits() {
    let (_folder, _store, reader) = store_with(&family());
    let one = QueryLimits { rows_max: 1, ..QueryLimits::default() };
    let table = reader.query("select ?1, task_id from tasks", &[Cell::Real(0.5)], one).unwrap();
    assert!(table.is_cut && table.rows.len() == 1 && table.rows[0][0] == Cell::Real(0.5));
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let short = QueryLimits { time_ms_max: 50, ..QueryLimits::default() };
    assert!(matches!(reader.query(endless, &[], short).unwrap_err(), StoreError::TimedOut { limit_ms: 50 }));
    assert!(matches!(reader.query("selec", &[], short).unwrap_err(), StoreError::Query { .. }));
}

#[test]
fn a_folder_that_nobody_may_write_to_can_be_read() {
    let (folder, store, reader) = store_with(&family());
    drop((store, reader));
    let path = folder.path().join("provenance.db");
    let mut permissions = std::fs::metadata(folder.path()).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(folder.path(), permissions).unwrap();
    let reader = Reader::open(&path).unwrap();
    assert_eq!(lines(&reader, "select count(*) from tasks"), ["5"]);
}
