//! What sampling left out, in programs that are killed, end, and start others.

use telemetry::workflow;

use crate::programs::{Place, Running, say_ready, succeed, wait_for_end};
use crate::sampling::{leaf, swallowing};

/// The program `leaves_out`: calls that are left out, one that fails, and then it waits to be killed.
#[workflow(name = "leaves_out")]
pub(crate) fn leaves_out() {
    let call = |calls: i64| {
        for number in 0..calls {
            leaf(number);
        }
    };
    call(10_000);
    std::thread::spawn(move || call(500)).join().expect("the thread returns");
    swallowing(true);
    swallowing(false);
    say_ready();
    wait_for_end();
}

#[test]
fn what_was_left_out_survives_a_kill() {
    let place = Place::new();
    let mut command = place.program("leaves_out");
    command.env("TELEMETRY_CAPTURE__RULES", "[{activity: '*', sample: 0}]");
    // Nothing is written before the kill: what is found then was in shared memory alone.
    command.env("TELEMETRY_JOURNAL__DRAIN_INTERVAL_MS", "86400000");
    Running::start(command).kill();
    let counted = "select activity_id, calls, errors, left_out from activities order by activity_id";
    let expected = "failing|1|1|1\nleaf|0|0|10504\nswallowing|1|0|1\n";
    for _ in 0..2 {
        place.recover();
        assert_eq!(place.table(counted), expected);
    }
    assert_eq!(place.table("select count(*), min(name) from workflows"), "1|leaves_out\n");
}

#[test]
fn what_was_left_out_is_counted_while_the_program_runs_and_when_it_ends() {
    let place = Place::new();
    let mut command = place.program("leaves_out");
    command.env("TELEMETRY_CAPTURE__RULES", "[{activity: '*::leaf', sample: 0}]");
    Running::start(command).end();
    let counted = "select activity_id, calls, left_out from activities order by activity_id";
    assert_eq!(place.table(counted), "failing|2|0\nleaf|0|10504\nswallowing|2|0\n");
}

#[test]
fn a_child_process_follows_the_task_that_started_it() {
    let place = Place::new();
    let mut command = place.program("starts_a_child");
    command.env("TELEMETRY_CAPTURE__RULES", "[{activity: '*::starter', sample: 0}]");
    succeed(command.output());
    assert_eq!(place.table("select count(*) from tasks"), "0\n");
    let child = "select p.name, w.parent_task_id, (
            select sum(left_out) > 0 from activities a where a.workflow_id = w.workflow_id)
        from workflows w join workflows p on p.workflow_id = w.parent_workflow_id";
    assert_eq!(place.table(child), "starts_a_child|null|1\n");
}
