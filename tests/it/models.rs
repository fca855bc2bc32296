//! Models: what is recorded of a training, under each mode of the settings.

use std::panic::catch_unwind;

use serde_json::{Value, json};
use telemetry::testing::{Recorded, record_with};
use telemetry::{Describe, Description, Layer, Settings, batches, epochs, forward, model, task, workflow};

use crate::programs::{Place, succeed};

const PAGE: &str = include_str!("../../docs/models.md");

type Batch = Vec<f32>;

/// A layer by hand: every output is a weighted sum of all inputs.
struct Dense {
    weights: Vec<Vec<f32>>,
}

impl Dense {
    fn new(inputs: usize, outputs: usize) -> Self {
        Self { weights: vec![vec![1.0 / inputs as f32; inputs]; outputs] }
    }

    fn forward(&self, xs: &Batch) -> Batch {
        let rows = xs.chunks(self.weights[0].len());
        let outputs = |row: &[f32]| -> Batch {
            let sum = |weights: &Batch| weights.iter().zip(row).map(|(weight, x)| weight * x).sum();
            self.weights.iter().map(sum).collect()
        };
        rows.flat_map(outputs).collect()
    }
}

impl Describe for Dense {
    fn describe(&self, module: &mut Description) {
        let (inputs, outputs) = (self.weights[0].len(), self.weights.len());
        module.kind("Dense").attribute("inputs", inputs).parameters(inputs * outputs);
        module.width(inputs.max(outputs));
    }
}

/// A module that does not say how it is built.
struct Relu;

impl Relu {
    fn forward(&self, xs: &Batch) -> Batch {
        let Self = self;
        xs.iter().map(|x| x.max(0.0)).collect()
    }
}

/// Four layers, one of them of a type of which nothing is known.
#[model]
struct Net {
    fc1: Layer<Dense>,
    relu: Layer<Relu>,
    hidden: Vec<Layer<Dense>>,
    width: usize,
    /// No part of the build.
    lock: std::sync::Mutex<()>,
}

impl Net {
    fn new(width: usize) -> Self {
        Self {
            fc1: Layer::new("fc1", Dense::new(width, width)),
            relu: Layer::new("relu", Relu),
            hidden: vec![
                Layer::new("fc2", Dense::new(width, width)),
                Layer::new("fc3", Dense::new(width, 1)),
            ],
            width,
            lock: std::sync::Mutex::default(),
        }
    }

    #[forward]
    fn forward(&self, xs: &Batch) -> Result<Batch, String> {
        let ys = self.fc1.call(xs, Dense::forward);
        let mut ys = self.relu.call(&ys, Relu::forward);
        for layer in &self.hidden {
            ys = layer.call(&ys, Dense::forward);
        }
        if xs.iter().any(|x| x.is_nan()) { Err("not a number".to_owned()) } else { Ok(ys) }
    }
}

#[task(skip_all)]
fn evaluate(net: &Net) -> usize {
    net.width
}

fn loss(ys: &[f32]) -> f32 {
    ys.iter().sum::<f32>() / ys.len() as f32
}

fn train(net: &Net, epoch_count: usize, batch_count: usize) -> Result<(), String> {
    for epoch in epochs(net, 0..epoch_count) {
        let mut losses = 0.0;
        for batch in epoch.batches("train", vec![vec![1.0; 8 * net.width]; batch_count]) {
            let batch_loss = loss(&net.forward(&batch)?) / (1 + *epoch) as f32;
            batch.generated("loss", batch_loss);
            losses += batch_loss;
        }
        epoch.generated("loss", losses / batch_count as f32);
    }
    Ok(())
}

fn settings(model: &str) -> Settings {
    let text = format!("capture: {{default_level: data}}\ninstrumentation: {{model: {{{model}}}}}");
    Settings::from_yaml(&text, "settings.yaml".as_ref()).expect("the settings are good").settings
}

/// The activities, each below its parent, one character deeper.
fn outline(recorded: &Recorded) -> String {
    fn add(recorded: &Recorded, parent: Option<telemetry::TaskId>, depth: usize, text: &mut String) {
        for task in recorded.tasks().iter().filter(|task| task.parent == parent) {
            *text += &format!("{}{}\n", ".".repeat(depth), task.activity);
            add(recorded, Some(task.id), depth + 1, text);
        }
    }
    let mut text = String::new();
    add(recorded, None, 0, &mut text);
    text
}

#[track_caller]
fn check(model: &str, expected: &str) {
    let recorded = record_with(settings(model), || train(&Net::new(2), 1, 1).expect("the training is good"));
    assert_eq!(outline(&recorded).trim_end(), expected, "for {model}");
}

#[test]
fn what_is_not_recorded_leaves_its_children_one_level_up() {
    let layers = |depth: usize| {
        let dots = ".".repeat(depth);
        format!("\n{dots}fc1\n{dots}relu\n{dots}fc2\n{dots}fc3")
    };
    let all = format!("epochs_loop_iteration\n.train_batch_iteration\n..Net{}", layers(3));
    check("", &all);
    check("what: parent_only", "epochs_loop_iteration\n.train_batch_iteration\n..Net");
    check("what: ~", "epochs_loop_iteration\n.train_batch_iteration");
    check("epoch_loop: ~", &format!("train_batch_iteration\n.Net{}", layers(2)));
    check("batch_loop: ~", &format!("epochs_loop_iteration\n.Net{}", layers(2)));
    check("epoch_loop: ~, batch_loop: ~", &format!("Net{}", layers(1)));
}

#[test]
fn every_second_epoch_is_captured_and_the_others_are_counted() {
    let train = || {
        let net = Net::new(2);
        for epoch in epochs(&net, 0..5) {
            for batch in epoch.batches("train", [vec![1.0; 4], vec![2.0; 4]]) {
                net.forward(&batch).unwrap();
            }
            evaluate(&net);
        }
        evaluate(&net);
    };
    let recorded = record_with(settings("capture_epochs_at_every: 2"), train);
    let of = |activity: &'static str| recorded.tasks().iter().filter(move |task| task.activity == activity);
    let captured: Vec<&Value> = of("epochs_loop_iteration").map(|task| &task.used["epoch"]).collect();
    assert_eq!(captured, [&json!(0), &json!(2), &json!(4)]);
    assert_eq!((of("train_batch_iteration").count(), of("Net").count(), of("fc3").count()), (6, 6, 6));
    assert_eq!(of("evaluate").count(), 4, "three in epochs, one behind them");
    assert_eq!(recorded.left_out()["epochs_loop_iteration"], 2);
    assert_eq!((recorded.left_out()["Net"], recorded.left_out()["fc1"]), (4, 4));
    let without_loop = record_with(settings("capture_epochs_at_every: 2"), || {
        Net::new(2).forward(&vec![1.0; 4]).unwrap();
    });
    assert_eq!(without_loop.tasks().len(), 5, "a forward outside of any epoch is captured");
}

#[test]
fn a_failure_in_an_epoch_that_is_not_captured_comes_back() {
    let recorded = record_with(settings("capture_epochs_at_every: 2"), || {
        let net = Net::new(2);
        for epoch in epochs(&net, 0..2) {
            let batch = vec![if *epoch == 1 { f32::NAN } else { 1.0 }; 4];
            let _ = net.forward(&batch);
        }
    });
    let failed: Vec<String> =
        recorded.tasks().iter().filter(|task| task.error_kind.is_some()).map(ToString::to_string).collect();
    assert_eq!(failed, ["Net ERROR err: not a number"]);
    assert_eq!(recorded.tasks().iter().filter(|task| task.activity == "epochs_loop_iteration").count(), 2);
}

#[test]
fn layers_say_what_their_tensors_are_and_never_their_data() {
    let recorded = record_with(settings(""), || {
        Net::new(2).forward(&vec![1.0, 0.0, -3.0, 1.5]).unwrap();
    });
    let find = |activity: &str| recorded.tasks().iter().find(|task| task.activity == activity).unwrap();
    let tensor = |shape: usize, density: f64| json!({"shape": [shape], "dtype": "f32", "device": "cpu", "nbytes": 4 * shape, "numel": shape, "density": density});
    let (net, relu) = (find("Net"), find("relu"));
    assert_eq!((&net.used["xs"], &net.generated["tensor"]), (&tensor(4, 0.75), &tensor(2, 0.5)));
    assert_eq!((&relu.used["tensor"], &relu.generated["tensor"]), (&tensor(4, 1.0), &tensor(4, 0.5)));
    assert_eq!(
        (&net.more["subtype"], &relu.more["subtype"]),
        (&json!("parent_forward"), &json!("child_forward"))
    );
}

#[test]
fn a_batch_is_shown_without_its_data() {
    let recorded =
        record_with(settings(""), || for _batch in batches("eval", [(vec![0.0_f32; 6], 3_u32)]) {});
    let batch = &recorded.tasks()[0];
    assert_eq!(batch.activity, "eval_batch_iteration");
    assert_eq!(batch.used["batch"][0]["shape"], json!([6]));
    assert_eq!(batch.used["batch"][1], json!(3));
}

#[test]
fn layers_stand_in_layers_and_fail_with_their_errors_and_panics() {
    let recorded = record_with(settings(""), || {
        let inner = Layer::new("inner", |x: &Batch| -> Result<Batch, String> {
            if x.is_empty() { Err("empty".to_owned()) } else { Ok(x.clone()) }
        });
        let outer = Layer::new("outer", inner);
        let run = |xs: &Batch| outer.call(xs, |inner, xs| inner.call(xs, |module, xs| module(xs)));
        let _ = (run(&vec![1.0]), run(&Batch::new()));
        let panics = Layer::new("panics", ());
        let _ = catch_unwind(|| {
            panics.call(&[1_u8], |(), _| -> u8 { std::panic::resume_unwind(Box::new("no")) })
        });
        let mut counter = Layer::new("counter", 0);
        assert_eq!(
            counter.call_mut(&7, |count, by| {
                *count += by;
                *count
            }),
            7
        );
    });
    let lines: Vec<String> = recorded
        .tasks()
        .iter()
        .map(|task| format!("{} {} {}", task.activity, task.status, task.error.as_deref().unwrap_or("-")))
        .collect();
    let expected = [
        "outer FINISHED -",
        "inner FINISHED -",
        "outer ERROR empty",
        "inner ERROR empty",
        "panics ERROR no",
        "counter FINISHED -",
    ];
    assert_eq!(lines, expected);
}

/// A model whose forward is that of a trait, changes itself, and has a name and options of its own.
#[model(name = "recurrent", skip(secret))]
struct Recurrent<T> {
    cell: Layer<Dense>,
    state: Batch,
    secret: T,
}

trait Run {
    fn run(&mut self, xs: &Batch, mask: Option<Batch>, note: &str) -> (Batch, usize);
}

impl<T> Run for Recurrent<T> {
    #[forward(outputs("state", "steps"), skip(note), metadata(is_training = true))]
    fn run(&mut self, xs: &Batch, mask: Option<Batch>, note: &str) -> (Batch, usize) {
        let _ = (mask, note, &self.secret);
        self.state = self.cell.call(xs, Dense::forward);
        (self.state.clone(), 1)
    }
}

#[test]
fn a_forward_may_be_any_method_of_a_model() {
    let recorded = record_with(settings(""), || {
        let mut recurrent =
            Recurrent { cell: Layer::new("cell", Dense::new(2, 2)), state: Batch::new(), secret: "s" };
        recurrent.run(&vec![1.0, 2.0], Some(vec![0.0]), "n");
    });
    let forward = &recorded.tasks()[0];
    assert_eq!((forward.activity.as_str(), forward.used.len()), ("recurrent", 2));
    assert_eq!((&forward.used["mask"]["numel"], &forward.generated["steps"]), (&json!(1), &json!(1)));
    assert_eq!(forward.generated["state"]["shape"], json!([2]));
    assert_eq!(forward.more["metadata"]["is_training"], json!(true));
}

/// Trains as the promise says: 3 epochs of 20 batches on 4 layers, each layer long enough to have a time.
#[workflow(name = "training")]
pub(crate) fn trains() {
    train(&Net::new(192), 3, 20).expect("the training is good");
}

#[workflow(name = "training")]
pub(crate) fn trains_little() {
    train(&Net::new(4), 2, 2).expect("the training is good");
}

#[test]
fn a_training_is_exactly_its_tree() {
    let place = Place::new();
    place.run("trains");
    let tree = place.table(
        "select depth, parent.activity_id, task.activity_id, task.subtype, count(*), sum(task.status = 'FINISHED'),
            sum(task.duration_ns > 0), count(distinct task.group_id), count(distinct task.parent_task_id)
        from tasks as task left join (select task_id as id, activity_id from tasks) as parent
            on parent.id = task.parent_task_id
        group by 1, 2, 3, 4 order by 1, min(task.started_at)",
    );
    let expected = "\
0|null|epochs_loop_iteration|iteration|3|3|3|1|0
1|epochs_loop_iteration|train_batch_iteration|iteration|60|60|60|3|3
2|train_batch_iteration|Net|parent_forward|60|60|60|0|60
3|Net|fc1|child_forward|60|60|60|0|60
3|Net|relu|child_forward|60|60|60|0|60
3|Net|fc2|child_forward|60|60|60|0|60
3|Net|fc3|child_forward|60|60|60|0|60
";
    assert_eq!(tree, expected);
    let order = "select group_concat(activity_id, ' ') from (select activity_id from tasks where parent_task_id =
        (select task_id from tasks where subtype = 'parent_forward' order by started_at limit 1) order by started_at)";
    assert_eq!(place.table(order), "fc1 relu fc2 fc3\n");
    let losses = "select used ->> '$.epoch', round(generated ->> '$.loss', 3) from tasks
        where activity_id = 'epochs_loop_iteration' order by 1";
    assert_eq!(place.table(losses), "0|1.0\n1|0.5\n2|0.333\n", "on default settings");
    // The median: a reading of the machine, or another program, may fall between two layers of one forward.
    let shares = "select sum(layer.duration_ns) * 1.0 / model.duration_ns as share from tasks as model
        join tasks as layer on layer.parent_task_id = model.task_id
        where model.subtype = 'parent_forward' group by model.task_id order by share limit 1 offset 30";
    let share = place.rows(shares)[0]["share"].as_f64().expect("a number");
    assert!((0.95..=1.0).contains(&share), "the layers take {share} of their model");
}

#[test]
fn a_model_is_a_workflow_with_its_profile() {
    let place = Place::new();
    place.run("trains_little");
    let rows = place.rows(
        "select name, subtype, status, used, custom_metadata, parent_workflow_id = (select workflow_id from workflows
            where name = 'training') as is_within, workflow_id from workflows where name = 'Net'",
    );
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "two epochs, one model");
    let row = &rows[0];
    assert_eq!(
        (&row["subtype"], &row["status"], &row["is_within"]),
        (&json!("model"), &json!("FINISHED"), &json!(1))
    );
    let read = |column: &str| -> Value { serde_json::from_str(row[column].as_str().unwrap()).unwrap() };
    let metadata = read("custom_metadata");
    let dense = |inputs: usize, params: usize| json!({"type": "Dense", "attributes": {"inputs": inputs}, "params": params});
    let modules = json!({
        "fc1": dense(4, 16), "relu": {"type": "Relu"}, "fc2": dense(4, 16), "fc3": dense(4, 4),
    });
    let profile = json!({
        "params": 36, "max_width": 4, "n_modules": 5,
        "modules": {"type": "Net", "attributes": {"width": 4}, "modules": modules},
    });
    assert_eq!(metadata["model_profile"], profile);
    assert_eq!(metadata["workflow_type"], "Model");
    assert_eq!(read("used")["capture_epochs_at_every"], 1);
    let named = format!(
        "select count(*) from tasks where custom_metadata ->> '$.model_workflow_id' = '{}'",
        row["workflow_id"].as_str().unwrap()
    );
    assert_eq!(place.table(&named), "6\n", "two epochs and four forwards");
}

#[test]
fn the_queries_of_the_page_have_answers() {
    let place = Place::new();
    place.run("trains_little");
    let queries: Vec<&str> =
        PAGE.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(queries.len(), 2);
    for query in queries {
        assert_ne!(place.table(query), "", "{query}");
    }
}

#[test]
fn a_model_is_registered_once_unless_the_settings_say_never() {
    let count = |model: &str| {
        let place = Place::new();
        let mut program = place.program("trains_little");
        if let Some((key, value)) = model.split_once('=') {
            program.env(format!("TELEMETRY_INSTRUMENTATION__MODEL__{key}"), value);
        }
        succeed(program.output());
        place.table("select count(*) from workflows where subtype = 'model'")
    };
    assert_eq!(
        (count(""), count("REGISTER_WORKFLOW=false"), count("WHAT=~")),
        ("1\n".into(), "0\n".into(), "0\n".into())
    );
}

/// The table of docs/models.md: the setting, and what epochs, batches, the model and its layers then have.
fn documented_modes() -> Vec<(String, Vec<String>)> {
    let rows = PAGE.lines().skip_while(|line| !line.starts_with("| setting |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
            (cells.next().expect("a setting").replace('`', ""), cells.collect())
        })
        .collect()
}

/// What one kind of task has, in the words of the table.
fn fields_of(place: &Place, condition: &str) -> String {
    let rows = place.rows(&format!(
        "select count(*) as tasks, count(ended_at) as ended, count(duration_ns) as durations,
            sum(used != '{{}}') as used, sum(generated != '{{}}') as generated,
            count(telemetry_at_start) as starts, count(telemetry_at_end) as ends
        from tasks where {condition}"
    ));
    let number = |column: &str| rows[0][column].as_i64().unwrap_or(0);
    let all = number("tasks");
    if all == 0 {
        return "–".to_owned();
    }
    assert_eq!((number("ended"), number("durations")), (all, all), "{condition}: times are always there");
    let is_all = |columns: [&str; 2]| {
        let counts = columns.map(number);
        assert!(counts == [all; 2] || counts == [0; 2], "{condition}: {rows}");
        counts == [all; 2]
    };
    match (is_all(["used", "generated"]), is_all(["starts", "ends"])) {
        (false, false) => "times",
        (true, false) => "times, values",
        (false, true) => "times, snapshots",
        (true, true) => "times, values, snapshots",
    }
    .to_owned()
}

#[test]
fn each_mode_has_exactly_the_fields_that_the_table_says() {
    let modes = documented_modes();
    assert_eq!(modes.len(), 12, "{modes:?}");
    for (setting, expected) in modes {
        let place = Place::new();
        let mut program = place.program("trains_little");
        if let Some((key, value)) = setting.split_once(": ") {
            program.env(format!("TELEMETRY_INSTRUMENTATION__MODEL__{}", key.to_uppercase()), value);
        }
        succeed(program.output());
        let kinds = [
            "activity_id = 'epochs_loop_iteration'",
            "activity_id = 'train_batch_iteration'",
            "subtype = 'parent_forward'",
            "subtype = 'child_forward'",
        ];
        assert_eq!(kinds.map(|kind| fields_of(&place, kind)).to_vec(), expected, "for {setting}");
    }
}
