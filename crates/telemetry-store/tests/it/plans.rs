//! Every column that people filter or join on reaches an index through its view.

use std::process::Command;

use crate::harness::*;

/// What people ask; a row of a base table is only ever found by an index.
const QUESTIONS: &[&str] = &[
    "select * from workflows where workflow_id = 'x'",
    "select * from workflows where parent_task_id = 'x'",
    "select * from workflows where parent_workflow_id = 'x'",
    "select * from tasks where task_id = 'x'",
    "select * from tasks where parent_task_id = 'x'",
    "select * from tasks where workflow_id = 'x'",
    "select * from tasks where activity_id = 'x'",
    "select * from tasks where activity_id = 'x' and workflow_id = 'y'",
    "select * from task_telemetry where task_id = 'x'",
    "select * from task_telemetry where workflow_id = 'x'",
    "select * from task_telemetry where activity_id = 'x'",
    "select * from task_gpus where task_id = 'x'",
    "select * from snapshots where workflow_id = 'x'",
    "select * from activities where workflow_id = 'x'",
    "select * from activities where activity_id = 'x'",
    "select * from ancestors where task_id = 'x'",
    "select * from descendants where task_id = 'x'",
    "select * from derivations where task_id = 'x'",
    "select * from derivations where source_task_id = 'x'",
    "select * from events where task_id = 'x'",
    "select * from events where workflow_id = 'x'",
    "select * from events where workflow_id = 'x' and name = 'y'",
    "select * from event_series where workflow_id = 'x'",
    "select * from event_histograms where workflow_id = 'x'",
    "select * from machines where machine_id = 'x'",
    "select * from health where recorder = 'x'",
    "select * from packets where workflow_id = 'x'",
    "select * from packets where task_id = 'x'",
    "select * from expert_selection where workflow_id = 'x'",
    "select * from session_summary where workflow_id = 'x'",
    "select c.task_id from tasks p join tasks c on c.parent_task_id = p.task_id where p.task_id = 'x'",
    "select p.task_id from tasks c join tasks p on p.task_id = c.parent_task_id where c.task_id = 'x'",
    "select t.task_id from workflows w join tasks t using (workflow_id) where w.workflow_id = 'x'",
    "select t.task_id from ancestors a join tasks t on t.task_id = a.ancestor_task_id where a.task_id = 'x'",
    "select t.task_id from descendants d join tasks t on t.task_id = d.descendant_task_id where d.task_id = 'x'",
    "select t.used, s.generated from derivations d join tasks t on t.task_id = d.task_id
        join tasks s on s.task_id = d.source_task_id where d.task_id = 'x'",
    "select m.cpu from workflows w join machines m using (machine_id) where w.workflow_id = 'x'",
    "select * from task_telemetry x join tasks t using (task_id) where t.parent_task_id = 'x'",
];

/// Steps that read a table from its beginning to its end. Lists inside one value, results that a query
/// made itself, and constant rows are no tables.
fn scans(plan: &str) -> Vec<&str> {
    let is_made = |line: &str| {
        ["VIRTUAL TABLE", "CONSTANT ROW", "SCAN up", "SCAN down", "SCAN (", "SUBQUERY"]
            .iter()
            .any(|made| line.contains(made))
    };
    plan.lines().filter(|line| line.contains("SCAN ") && !is_made(line)).collect()
}

#[test]
fn questions_are_answered_by_indexes() {
    let (_folder, store, _reader) = store_with(&[]);
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    for question in QUESTIONS {
        let mut statement = connection.prepare(&format!("explain query plan {question}")).unwrap();
        let lines: Vec<String> =
            statement.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        let plan = lines.join("\n");
        assert_eq!(scans(&plan), Vec::<&str>::new(), "{question}\n{plan}");
    }
}

#[test]
fn questions_are_answered_by_indexes_in_the_systems_own_client() {
    let (_folder, store, _reader) = store_with(&[start(started(1, 1), &[])]);
    let ask = |sql: &str| Command::new("sqlite3").arg("-readonly").arg(store.path()).arg(sql).output();
    if ask("select 1").is_err() {
        eprintln!("there is no sqlite3 here");
        return;
    }
    for question in QUESTIONS {
        let output = ask(&format!("explain query plan {question}; {question}")).unwrap();
        let plan = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{question}\n{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(scans(&plan), Vec::<&str>::new(), "{question}\n{plan}");
    }
    for view in VIEWS {
        let output = ask(&format!("select * from {view}")).unwrap();
        assert!(output.status.success(), "{view}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
