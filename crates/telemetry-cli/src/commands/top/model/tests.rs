//! The model on records that were made by hand.

use telemetry_core::level::Level;

use super::*;

const MS: i64 = 1_000_000;

fn task(number: u128) -> TaskId {
    TaskId::from_u128(number)
}

fn workflow(number: u128) -> WorkflowId {
    WorkflowId::from_u128(number)
}

/// A model of one program, and what it sees at which millisecond.
struct Watched {
    model: Model,
    program: ProgramNumber,
}

impl Watched {
    fn new(wanted: Option<&str>) -> Self {
        let mut model = Model::new(wanted.map(str::to_owned));
        let program = model.add_program(Program { pid: 7, ..Program::default() });
        Self { model, program }
    }

    fn see(&mut self, at_ms: i64, what: What) {
        self.model.see(self.program, Seen::new(at_ms * MS, what));
    }

    fn start(&mut self, at_ms: i64, number: u128, activity: &str, parent: Option<u128>, of: u128) {
        let what = What::TaskStart {
            task: task(number),
            activity: Some(activity.to_owned()),
            parent: parent.map(task),
            workflow: Some(workflow(of)),
            depth: 0,
            level: Level::Full,
            thread: None,
            used: "{}".to_owned(),
        };
        self.see(at_ms, what);
    }

    fn end(&mut self, at_ms: i64, number: u128, activity: &str, status: Status) {
        let stderr = (status == Status::Error).then(|| "\"out of \\\"memory\\\"\"".to_owned());
        let (activity, generated) = (Some(activity.to_owned()), "{}".to_owned());
        self.see(
            at_ms,
            What::TaskEnd { task: task(number), activity, status, error_kind: None, stderr, generated },
        );
    }

    fn activity(&self, name: &str) -> &Activity {
        &self.model.activities[name]
    }
}

#[test]
fn calls_are_counted_when_they_end_and_run_until_then() {
    let mut watched = Watched::new(None);
    watched.start(0, 1, "step", None, 1);
    watched.start(1, 2, "step", None, 1);
    assert_eq!((watched.activity("step").calls, watched.activity("step").running), (0, 2));
    watched.end(4, 1, "step", Status::Finished);
    watched.end(9, 2, "step", Status::Error);
    let step = watched.activity("step");
    assert_eq!((step.calls, step.running, step.errors), (2, 0, 1));
    assert_eq!((step.durations.mean_ns(), step.durations.sum_ns()), (Some(6_000_000), 12_000_000));
    assert_eq!(step.slowest.iter().map(|it| it.task).collect::<Vec<_>>(), [task(2), task(1)]);
    assert_eq!(step.latest.front().unwrap().task, task(2));
    assert_eq!(step.failed.len(), 1);
    assert_eq!(step.failed[0].error.as_deref(), Some("out of \"memory\""));
}

#[test]
fn rates_are_of_what_came_after_the_first_tick() {
    let mut watched = Watched::new(None);
    watched.end(0, 1, "step", Status::Finished);
    watched.model.tick(0);
    (2..=21).for_each(|number| watched.end(500, number, "step", Status::Finished));
    watched.model.tick(2_000 * MS);
    assert!((watched.activity("step").pace.per_second() - 10.0).abs() < 1e-9);
    assert_eq!(watched.activity("step").durations.mean_ns(), None, "nobody saw them begin");
    watched.end(2_500, 30, "late", Status::Finished);
    watched.model.tick(4_000 * MS);
    assert!((watched.activity("late").pace.per_second() - 0.5).abs() < 1e-9);
}

#[test]
fn a_second_end_corrects_the_first() {
    let mut watched = Watched::new(None);
    watched.start(0, 1, "epoch", None, 1);
    watched.end(5, 1, "epoch", Status::Finished);
    watched.end(5, 1, "epoch", Status::Error);
    watched.end(5, 1, "epoch", Status::Finished);
    let epoch = watched.activity("epoch");
    assert_eq!((epoch.calls, epoch.errors, epoch.running, epoch.failed.len()), (1, 1, 0, 1));
    assert_eq!(epoch.failed[0].took_ns, Some(5_000_000));
    assert_eq!(epoch.slowest[0].status, Status::Error);
}

#[test]
fn what_a_dead_program_left_open_is_interrupted() {
    let mut watched = Watched::new(None);
    watched.see(
        0,
        What::WorkflowStart { workflow: workflow(1), name: None, parent_workflow: None, parent_task: None },
    );
    watched.start(0, 1, "train", None, 1);
    let other = watched.model.add_program(Program { pid: 8, ..Program::default() });
    watched.program = other;
    watched.start(0, 2, "train", None, 2);
    watched.model.end_program(0, 50 * MS);
    let train = watched.activity("train");
    assert_eq!((train.calls, train.running, train.errors), (0, 1, 0));
    assert_eq!((train.failed[0].status, train.failed[0].pid), (Status::Interrupted, 7));
    assert_eq!(watched.model.workflows[&workflow(1)].ended.unwrap().1, Status::Interrupted);
    assert_eq!(watched.model.workflows[&workflow(2)].ended, None);
}

#[test]
fn one_workflow_can_be_wanted_by_name_or_id() {
    let id = WorkflowId::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0001);
    for (wanted, calls) in [("nightly", 1), ("01990000", 1), ("other", 0)] {
        let mut watched = Watched::new(Some(wanted));
        let name = Some("\"nightly\"".to_owned());
        watched.see(0, What::WorkflowStart { workflow: id, name, parent_workflow: None, parent_task: None });
        watched.start(0, 1, "step", None, id.as_u128());
        watched.start(0, 2, "step", None, 2);
        watched.end(1, 1, "step", Status::Finished);
        watched.end(1, 2, "step", Status::Finished);
        let found = watched.model.activities.get("step").map_or(0, |step| step.calls);
        assert_eq!(found, calls, "{wanted}");
    }
}

#[test]
fn a_caller_that_nobody_saw_begin_is_asked_for_until_it_is_known() {
    let mut watched = Watched::new(None);
    watched.start(10, 2, "step", Some(1), 1);
    watched.start(10, 3, "step", Some(1), 1);
    assert_eq!(watched.model.questions(), [task(1)]);
    assert_eq!(watched.model.questions(), []);
    watched.model.answer(task(1), Answer::Unknown);
    assert_eq!(watched.model.questions(), [task(1)]);
    let running = Answer::Running { activity: "train".to_owned(), started_unix_ns: 0 };
    watched.model.answer(task(1), running);
    assert_eq!(watched.activity("train").running, 1);
    assert_eq!(watched.model.running("train")[0].0, task(1));
    watched.end(20, 1, "train", Status::Finished);
    assert_eq!(watched.activity("train").durations.mean_ns(), Some(20_000_000));
    assert_eq!(watched.model.questions(), []);
}

#[test]
fn a_task_whose_end_was_missed_does_not_run_for_ever() {
    let mut watched = Watched::new(None);
    watched.start(0, 1, "main", None, 1);
    watched.start(0, 2, "step", Some(1), 1);
    assert_eq!(watched.model.questions(), []);
    watched.model.miss(watched.program);
    let mut asked = watched.model.questions();
    asked.sort();
    assert_eq!(asked, [task(1), task(2)]);
    watched.model.answer(task(1), Answer::Running { activity: "main".to_owned(), started_unix_ns: 0 });
    watched.model.answer(task(2), Answer::Ended);
    assert_eq!((watched.activity("main").running, watched.activity("step").running), (1, 0));
    // The database may be behind: it is asked again.
    assert_eq!(watched.model.questions(), [task(1)]);
}
