//! Pages for people: a workflow, a task, the doctor's.

use std::process::Output;

use crate::fixture::{check, masked, telemetry};

/// Compares a page without what depends on how fast the machine is: parts whose lines do, and the order of activities.
fn check_page(output: &Output, expected: &str) {
    assert_eq!(steady(&masked(output)), steady(expected.trim_start_matches('\n')));
}

fn steady(page: &str) -> String {
    let is_kept = |part: &&str| !part.starts_with("Slowest\n") && !part.starts_with("Resources\n");
    let (page, end) = page.split_once("-- exit").unwrap();
    let kept: Vec<String> = page.trim_end().split("\n\n").filter(is_kept).map(sorted_activities).collect();
    format!("{}\n-- exit{end}", kept.join("\n\n"))
}

/// Activities stand in the order of the time they took.
fn sorted_activities(part: &str) -> String {
    let mut lines: Vec<&str> = part.lines().collect();
    if let ["Activities", _, activities @ ..] = lines.as_mut_slice() {
        activities.sort_unstable();
    }
    lines.join("\n")
}

const NIGHTLY: &str = "
-- stdout
nightly  ERROR
  id  ID
  started  MOMENT (AGO)
  took  TIME
  tasks  11: 8 finished, 3 error
  command  PROGRAM
  code  CODE
  where  HOST
  recorder  0.1.0

Activities
  activity  calls  errors  total  mean  median  95 %  max
  train  1  1  TIME  TIME  TIME  TIME  TIME
  epoch  3  1  TIME  TIME  TIME  TIME  TIME
  batch  6  1  TIME  TIME  TIME  TIME  TIME
  load  1  0  TIME  TIME  TIME  TIME  TIME

Calls
  load  TIME
  train  TIME  ERROR
  └─ epoch ×3  TIME  mean TIME  1 ERROR
     └─ batch ×6  TIME  mean TIME  1 ERROR

Failures
  err  train › epoch › batch
    loss is not a number
    at batch 2
    ID
-- exit 0
";

#[test]
fn a_workflow_by_name_and_by_time() {
    check_page(&telemetry(&["show", "nightly"]), NIGHTLY);
    check_page(&telemetry(&["show"]), NIGHTLY);
    check_page(&telemetry(&["show", "@last"]), NIGHTLY);
    check_page(&telemetry(&["show", "--color", "never", "@last~1"]), &PLAIN.replace("SHOWN", "step  TIME"));
}

const PLAIN: &str = "
-- stdout
plain  FINISHED
  id  ID
  started  MOMENT (AGO)
  took  TIME
  tasks  1: 1 finished
  command  PROGRAM
  code  CODE
  where  HOST
  recorder  0.1.0

Activities
  activity  calls  errors  total  mean  median  95 %  max
  step  1  0  TIME  TIME  TIME  TIME  TIME

Calls
  SHOWN
-- exit 0
";

#[test]
fn the_call_tree_can_be_cut() {
    let expected =
        NIGHTLY.replace("1 ERROR\n     └─ batch ×6  TIME  mean TIME  1 ERROR\n", "1 ERROR  6 calls below\n");
    check_page(&telemetry(&["show", "nightly", "--depth", "2"]), &expected);
}

fn id_of(activity: &str) -> String {
    let query = "select task_id from tasks where activity_id = ?1 order by status, started_at limit 1";
    let output = telemetry(&["sql", query, activity]);
    String::from_utf8(output.stdout).unwrap().lines().nth(1).unwrap().to_owned()
}

#[test]
fn a_task_shows_all_that_is_known_of_it() {
    check(
        &telemetry(&["show", &id_of("train")]),
        "
-- stdout
train  ERROR
  id  ID
  workflow  nightly, ID
  started  MOMENT (AGO)
  took  TIME
  where  HOST
  level  full
  telemetry  TELEMETRY

Error
  an epoch failed

Used
  seed  7

Called
  activity  status  took  task
  epoch  FINISHED  TIME  ID
  epoch  FINISHED  TIME  ID
  epoch  ERROR  TIME  ID
  and through these 6 more tasks

Derived from
  here  there  task  evidence
  –  –  ID  declared
-- exit 0
",
    );
}

#[test]
fn what_a_screen_would_obey_is_shown_instead() {
    check(
        &telemetry(&["show", &id_of("batch")]),
        "
-- stdout
batch  ERROR
  id  ID
  workflow  nightly, ID
  started  MOMENT (AGO)
  took  TIME
  where  HOST
  level  full
  telemetry  TELEMETRY

Error
  loss is not a number
  at batch 2

Used
  note  \"a\\tb\\n\\u001b[31mc\"

Called by
  activity  status  took  task
  epoch  ERROR  TIME  ID
  train  ERROR  TIME  ID
-- exit 0
",
    );
}

#[test]
fn the_doctor_finds_nothing_wrong() {
    check(
        &telemetry(&["doctor"]),
        "
-- stdout
✓ settings  not looked for: --database names the file
✓ database  DIR/.telemetry/provenance.db, SIZE
✓ schema  VERSION
✓ integrity  every page is sound
✓ log  empty
✓ sqlite  VERSION
✓ journals  0 in use, none left behind
✓ counters  41 records offered = 41 persisted + 0 pending + 0 dropped + 0 torn, by 1 recorder
✓ orphans  every task has a workflow and a start
✓ permissions  for the owner only
✓ space  SIZE free
✓ gpu  GPU
✓ clock  a reading takes TIME
-- exit 0
",
    );
}

#[test]
fn nothing_is_left_to_recover() {
    check(&telemetry(&["recover"]), "-- stdout\nNothing to recover in DIR/.telemetry/journal.\n-- exit 0\n");
}
