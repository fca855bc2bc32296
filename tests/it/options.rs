//! What the options of `#[task]` and `current_task()` say about a task, and those of `#[workflow]` about a workflow.

use serde_json::{Value, json};
use telemetry::{Context, Level, Settings, Task, TaskId, current_task, task, testing, workflow};

use crate::programs::Place;

#[task(redact(secret), capture(length = secret.len(), sum = points.iter().sum::<i32>()))]
fn sent(secret: &str, points: &[i32]) -> usize {
    secret.len() + points.len()
}

#[task(redact(secret), capture(both = format!("{a}{b}")), subtype = "io", tags("x", "y"))]
fn taken_apart((a, secret): (u8, u8), mut b: u8) -> u8 {
    b += a;
    b + secret
}

#[task(metadata(epoch = *epoch, half = *epoch as f64 / 2.0), group = format_args!("run-{epoch}"))]
async fn trained(epoch: u32) -> u32 {
    current_task().generated("loss", 0.5).tag("late");
    epoch + 1
}

#[task(parent = parent, depends_on = before.iter())]
fn placed(parent: Option<TaskId>, before: &[TaskId]) -> TaskId {
    let _ = (parent, before);
    current_task().id().expect("it is recorded")
}

#[task(skip_all, parent = context, depends_on = first)]
fn placed_by_context(context: Context, first: TaskId) {
    let _ = (context, first);
}

#[task(tags("guarded"), capture(twice = 2 * *x))]
#[track_caller]
fn in_place(x: u8) -> u8 {
    x
}

#[task(output = "y")]
fn adds(x: i64) -> i64 {
    current_task()
        .used("file", "a.csv")
        .metadata("host", "h")
        .tags(["a", "b"])
        .stdout(format_args!("{x} lines"));
    current_task().metadata("host", "other");
    helper();
    2 * x
}

/// No task: adds to the task that calls it.
fn helper() {
    current_task().generated("rows", [1, 2]);
}

struct Model(u8);

#[task(subtype = "layer", tags("model"))]
impl Model {
    fn forward(&self, x: u8) -> u8 {
        self.0 + x
    }
}

fn more(body: impl FnOnce()) -> Vec<(String, Value)> {
    let recorded = testing::record(body);
    let tasks = recorded.tasks().iter();
    tasks.map(|task| (task.to_string(), Value::Object(task.more.clone()))).collect()
}

#[test]
fn values_are_redacted_and_added() {
    let found = more(|| {
        sent("abc", &[1, 2]);
        taken_apart((1, 2), 3);
        in_place(4);
    });
    assert_eq!(
        found,
        [
            (
                r#"sent FINISHED {"secret":{"$redacted":"argument"},"points":[1,2],"length":3,"sum":3} → {"result":5}"#
                    .to_owned(),
                json!({})
            ),
            (
                r#"taken_apart FINISHED {"a":1,"secret":{"$redacted":"argument"},"b":3,"both":"13"} → {"result":6}"#
                    .to_owned(),
                json!({"subtype": "io", "tags": ["x", "y"]})
            ),
            (r#"in_place FINISHED {"x":4,"twice":8}"#.to_owned(), json!({"tags": ["guarded"]})),
        ]
    );
}

#[test]
fn metadata_and_groups_are_of_every_level() {
    let mut settings = Settings::default();
    settings.capture.default_level = Level::Lightweight;
    let recorded = testing::record_with(settings, || {
        let mut future = Box::pin(trained(4));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_ready());
    });
    assert_eq!(recorded.tree(), "trained FINISHED\n");
    let more = json!({"metadata": {"epoch": 4, "half": 2.0}, "group": "run-4", "tags": ["late"]});
    assert_eq!(Value::Object(recorded.tasks()[0].more.clone()), more);
}

#[test]
fn a_task_stands_below_another_and_depends_on_others() {
    let recorded = testing::record(|| {
        let (outer, other) = (Task::start("outer"), Task::start("other"));
        let (outer_id, other_id) = (outer.id(), other.id().expect("it is recorded"));
        let first = outer.run(|| placed(None, &[]));
        let second = placed(outer_id, &[first, other_id]);
        placed(Some(second), &[]);
        placed_by_context(other.context(), second);
        outer.end();
        other.end();
    });
    let tree: String =
        recorded.tree().lines().map(|line| line.split('{').next().unwrap_or("").to_owned() + "\n").collect();
    assert_eq!(
        tree,
        "outer FINISHED\n├─ placed FINISHED \n└─ placed FINISHED \n   └─ placed FINISHED \nother FINISHED\n└─ placed_by_context FINISHED\n"
    );
    let tasks = recorded.tasks();
    let ids: Vec<String> = tasks.iter().map(|task| task.id.to_string()).collect();
    assert_eq!(tasks[3].more["dependencies"], json!([ids[2], ids[1]]));
    assert_eq!(tasks[5].more["dependencies"], json!([ids[3]]));
}

#[test]
fn a_body_adds_to_its_task() {
    let found = more(|| {
        adds(1);
        Model(1).forward(1);
        current_task().generated("nobody", 1);
    });
    let expected = r#"adds FINISHED {"x":1,"file":"a.csv"} → {"rows":[1,2],"y":2}"#;
    let metadata = json!({"metadata": {"host": "other"}, "tags": ["a", "b"], "stdout": "1 lines"});
    assert_eq!(found[0], (expected.to_owned(), metadata));
    assert_eq!(found[1].1, json!({"subtype": "layer", "tags": ["model"]}));
    assert_eq!(found.len(), 2);
    assert_eq!(current_task().generated("x", 1).id(), None);
}

#[workflow("part", subtype = "inner")]
async fn part(number: u8) -> Result<u8, String> {
    tokio::task::yield_now().await;
    if number == 1 { Ok(number) } else { Err(format!("{number} is too many")) }
}

#[task(skip_all)]
async fn stage(number: u8) {
    let _ = part(number).await;
}

/// The program.
#[workflow(name = "batch", campaign = "spring", description = "two in one", subtype = "outer")]
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn nested_workflows() {
    tokio::join!(stage(1), stage(2));
}

#[test]
fn workflows_nest_and_say_what_they_are() {
    let place = Place::new();
    place.run("nested_workflows");
    place.recover();
    let found = place.table(
        "select w.name, w.campaign_id, w.subtype, w.status, w.generated,
            w.custom_metadata ->> 'workflow_description', p.name, t.activity_id
        from workflows w left join workflows p on p.workflow_id = w.parent_workflow_id
        left join tasks t on t.task_id = w.parent_task_id order by w.name, w.status",
    );
    assert_eq!(
        found,
        "batch|spring|outer|FINISHED|null|two in one|null|null\n\
         part|null|inner|ERROR|null|null|batch|stage\n\
         part|null|inner|FINISHED|{\"result\":1}|null|batch|stage\n"
    );
}
