//! Rows in every format.

use std::io::Write;
use std::process::Stdio;

use crate::fixture::{check, command, database, telemetry};

const QUERY: &str = "select activity_id, status, used from tasks where activity_id in (?1, ?2) order by 1";

#[test]
fn ls_in_a_pipe_is_separated_by_tabs() {
    check(
        &telemetry(&["ls"]),
        "
-- stdout
workflow_id\tname\tcampaign_id\tstatus\tstarted_at\tended_at\tduration_ns\ttasks\terrors
ID\tnightly\t\tERROR\tNUMBER\tNUMBER\tNUMBER\t11\t3
ID\tplain\t\tFINISHED\tNUMBER\tNUMBER\tNUMBER\t1\t0
-- exit 0
",
    );
}

#[test]
fn ls_filters_and_cuts() {
    check(
        &telemetry(&["ls", "--csv", "--status", "finished"]),
        "
-- stdout
workflow_id,name,campaign_id,status,started_at,ended_at,duration_ns,tasks,errors
ID,plain,,FINISHED,NUMBER,NUMBER,NUMBER,1,0
-- exit 0
",
    );
    check(
        &telemetry(&["ls", "--limit", "1", "--markdown"]),
        "
-- stdout
| workflow_id | name | campaign_id | status | started_at | ended_at | duration_ns | tasks | errors |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| ID | nightly |  | ERROR | NUMBER | NUMBER | NUMBER | 11 | 3 |
-- stderr
The newest 1 are shown; --limit 0 shows all.
-- exit 0
",
    );
    check(
        &telemetry(&["ls", "--name", "nightly", "--campaign", "none", "--jsonl"]),
        "
-- stderr
No such workflows in DIR/.telemetry/provenance.db.
-- exit 0
",
    );
}

#[test]
fn sql_gives_rows_in_every_format() {
    check(
        &telemetry(&["sql", QUERY, "step", "load"]),
        "
-- stdout
activity_id\tstatus\tused
load\tFINISHED\t{\"path\":\"input.csv\"}
step\tFINISHED\t{\"x\":21}
-- exit 0
",
    );
    check(
        &telemetry(&["sql", QUERY, "step", "--csv"]),
        "
-- stderr
error: the query cannot be run: Wrong number of parameters passed to query. Got 1, needed 2
hint: telemetry sql --help lists the views
-- exit 1
",
    );
    check(
        &telemetry(&["sql", QUERY, "--param", "step", "--param", "-1", "--csv"]),
        "
-- stdout
activity_id,status,used
step,FINISHED,\"{\"\"x\"\":21}\"
-- exit 0
",
    );
    check(
        &telemetry(&[
            "sql",
            "select ?1 + 1 as a, typeof(?2) as b, null as c, x'00ff' as d",
            "1.5",
            "'7'",
            "--json",
        ]),
        "
-- stdout
[
{\"a\":2.5,\"b\":\"text\",\"c\":null,\"d\":\"00ff\"}
]
-- exit 0
",
    );
}

#[test]
fn a_query_may_come_from_stdin() {
    let mut child = command(&["sql", "-", "--jsonl", "--database"])
        .arg(database())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"select count(*) as tasks\nfrom tasks;\n").unwrap();
    check(&child.wait_with_output().unwrap(), "-- stdout\n{\"tasks\":12}\n-- exit 0\n");
}

#[test]
fn a_cut_answer_says_so() {
    check(
        &telemetry(&["sql", "select activity_id from tasks order by 1", "--limit", "2"]),
        "
-- stdout
activity_id
batch
batch
-- stderr
warning: the answer is cut after 2 rows; --limit N allows more
-- exit 0
",
    );
}
