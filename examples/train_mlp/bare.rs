//! The same training without a word about recording.

use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::{Activation, AdamW, Linear, Optimizer, VarBuilder, VarMap, linear, loss};

use crate::data::{self, BATCH_SIZE, BATCHES, CLASSES, FEATURES, HIDDEN, NARROW, RATE};

struct Mlp {
    fc1: Linear,
    relu: Activation,
    fc2: Linear,
    out: Linear,
}

impl Mlp {
    fn new(builder: &VarBuilder) -> Result<Self> {
        Ok(Self {
            fc1: linear(FEATURES, HIDDEN, builder.pp("fc1"))?,
            relu: Activation::Relu,
            fc2: linear(HIDDEN, NARROW, builder.pp("fc2"))?,
            out: linear(NARROW, CLASSES, builder.pp("out"))?,
        })
    }
}

impl Module for Mlp {
    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        xs.apply(&self.fc1)?.apply(&self.relu)?.apply(&self.fc2)?.apply(&self.out)
    }
}

/// Trains, and looks at the losses as the other one does.
pub(crate) fn train(epochs: usize) -> Result<()> {
    let variables = VarMap::new();
    let mlp = Mlp::new(&VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu))?;
    let mut optimizer = AdamW::new_lr(variables.all_vars(), RATE)?;
    let batches = data::batches(BATCHES, BATCH_SIZE)?;
    for _epoch in 0..epochs {
        let mut sum = 0.0;
        for (images, labels) in &batches {
            let loss = loss::cross_entropy(&mlp.forward(images)?, labels)?;
            optimizer.backward_step(&loss)?;
            sum += loss.to_scalar::<f32>()?;
        }
        std::hint::black_box(sum / BATCHES as f32);
    }
    Ok(())
}
