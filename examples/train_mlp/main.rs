//! Trains a small network with candle, recorded: epochs, batches, layers and losses, and then SQL over them.
//!
//! Run it with `cargo run --release --features candle --example train_mlp`. With `-- --bare` it trains the same
//! network without any recording, as in [`bare`]: what `cargo xtask cost` compares. `--epochs N` trains for longer.
#![expect(clippy::print_stdout, reason = "an example that shows something")]

mod bare;
mod data;

use std::error::Error;
use std::time::Duration;

use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::{Activation, AdamW, Linear, Optimizer, VarBuilder, VarMap, linear, loss};
use telemetry::export::{duration, table, tree};
use telemetry::store::{QueryLimits, Reader, TreeRow};
use telemetry::{Layer, Recorder, Settings, epochs, forward, model, workflow};

use data::{BATCH_SIZE, BATCHES, CLASSES, EPOCHS, FEATURES, HIDDEN, NARROW, RATE};

/// The layers are those of `candle_nn`; each has a name.
#[model]
struct Mlp {
    fc1: Layer<Linear>,
    relu: Layer<Activation>,
    fc2: Layer<Linear>,
    out: Layer<Linear>,
}

impl Mlp {
    fn new(builder: &VarBuilder) -> Result<Self> {
        Ok(Self {
            fc1: Layer::new("fc1", linear(FEATURES, HIDDEN, builder.pp("fc1"))?),
            relu: Layer::new("relu", Activation::Relu),
            fc2: Layer::new("fc2", linear(HIDDEN, NARROW, builder.pp("fc2"))?),
            out: Layer::new("out", linear(NARROW, CLASSES, builder.pp("out"))?),
        })
    }
}

impl Module for Mlp {
    #[forward]
    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        xs.apply(&self.fc1)?.apply(&self.relu)?.apply(&self.fc2)?.apply(&self.out)
    }
}

#[workflow(name = "train_mlp")]
fn train(count: usize) -> Result<()> {
    let variables = VarMap::new();
    let mlp = Mlp::new(&VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu))?;
    let mut optimizer = AdamW::new_lr(variables.all_vars(), RATE)?;
    let batches = data::batches(BATCHES, BATCH_SIZE)?;
    for epoch in epochs(&mlp, 0..count) {
        let mut sum = 0.0;
        for batch in epoch.batches("train", &batches) {
            let (images, labels) = *batch;
            let loss = loss::cross_entropy(&mlp.forward(images)?, labels)?;
            optimizer.backward_step(&loss)?;
            let loss = loss.to_scalar::<f32>()?;
            batch.generated("loss", loss);
            sum += loss;
        }
        epoch.generated("loss", sum / BATCHES as f32);
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_given = |name: &str| arguments.iter().any(|argument| argument == name);
    let given = arguments.iter().skip_while(|argument| *argument != "--epochs").nth(1);
    let epochs = given.map_or(Ok(EPOCHS), |number| number.parse())?;
    if is_given("--bare") {
        return Ok(bare::train(epochs)?);
    }
    let recorder = Recorder::start(Settings::load()?.settings)?;
    train(epochs)?;
    recorder.flush(Duration::from_secs(10));
    if is_given("--quiet") { Ok(()) } else { show(&recorder) }
}

/// Everything above is in the database by now; any SQLite client could ask the same.
fn show(recorder: &Recorder) -> std::result::Result<(), Box<dyn Error>> {
    let database = recorder.database().ok_or("recording is switched off in settings.yaml")?;
    let reader = Reader::open(&database)?;
    let workflow = reader.resolve("@last")?;
    let tasks = reader.tree(workflow.id())?;
    let lines: Vec<_> = tasks.iter().take(13).map(line).collect();
    println!("The first tasks of {}:\n\n{}", tasks.len(), tree::draw(&lines));
    for question in [
        "select used ->> '$.epoch' as epoch, generated ->> '$.loss' as loss, duration_ns / 1000000 as ms
from tasks where workflow_id = ? and activity_id = 'epochs_loop_iteration' order by epoch",
        "select activity_id, subtype, count(*) as calls, round(avg(duration_ns) / 1e3) as mean_us,
    generated ->> '$.tensor.shape' as shape, round(avg(generated ->> '$.tensor.density'), 2) as density
from tasks where workflow_id = ? and subtype like '%_forward' group by activity_id order by min(started_at)",
        "select name, custom_metadata ->> '$.model_profile.params' as params,
    custom_metadata ->> '$.model_profile.max_width' as max_width from workflows where parent_workflow_id = ?",
    ] {
        let answer = reader.query(question, &[workflow.id().into()], QueryLimits::default())?;
        println!("{question}\n\n{}", table::draw(&answer));
    }
    println!("All of it is in {}", database.display());
    Ok(())
}

fn line(row: &TreeRow) -> tree::Line {
    let activity = row.activity_id.as_deref().unwrap_or("?");
    let took = row.duration_ns.map(|ns| duration(ns.unsigned_abs())).unwrap_or_default();
    tree::Line { depth: row.indent as usize, text: format!("{activity} {} {took}", row.status) }
}
