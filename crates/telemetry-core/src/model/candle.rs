//! Modules of `candle_nn`: layers around them are modules, and their build is known.

use candle_core::{ModuleT, Result, Tensor, Var};
use candle_nn::{Activation, BatchNorm, Conv1d, Conv2d, Dropout, Embedding, GroupNorm, LayerNorm, Linear};
use candle_nn::{PReLU, RmsNorm};

use super::{Describe, Description, Layer};

impl<M: candle_core::Module> candle_core::Module for Layer<M> {
    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        self.call_with(xs, None, |xs| candle_core::Module::forward(&**self, xs))
    }
}

impl<M: ModuleT> Layer<M> {
    /// Calls a module that does something else while it is trained.
    pub fn forward_t(&self, xs: &Tensor, is_training: bool) -> Result<Tensor> {
        self.call_with(xs, Some(is_training), |xs| ModuleT::forward_t(&**self, xs, is_training))
    }
}

/// Modules of which nothing but the type can be seen.
macro_rules! opaque {
    ($($type:ident)+) => {
        $(
            impl Describe for $type {
                fn describe(&self, module: &mut Description) {
                    module.kind(stringify!($type));
                }
            }
        )+
    };
}

opaque! { Dropout GroupNorm PReLU }

impl Describe for Linear {
    fn describe(&self, module: &mut Description) {
        module.kind("Linear");
        if let [outputs, inputs] = self.weight().dims() {
            module.attribute("in_features", inputs).attribute("out_features", outputs);
            module.width(*inputs.max(outputs));
        }
        weights(module, self.weight(), self.bias());
    }
}

impl Describe for Embedding {
    fn describe(&self, module: &mut Description) {
        let count = self.embeddings().elem_count();
        let size = self.hidden_size();
        module.kind("Embedding").attribute("num_embeddings", count / size.max(1));
        module.attribute("embedding_dim", size).parameters(count).width(size);
    }
}

impl Describe for Conv1d {
    fn describe(&self, module: &mut Description) {
        let config = self.config();
        convolution(module.kind("Conv1d"), self.weight(), self.bias());
        module.attribute("padding", config.padding).attribute("stride", config.stride);
    }
}

impl Describe for Conv2d {
    fn describe(&self, module: &mut Description) {
        let config = self.config();
        convolution(module.kind("Conv2d"), self.weight(), self.bias());
        module.attribute("padding", config.padding).attribute("stride", config.stride);
    }
}

impl Describe for LayerNorm {
    fn describe(&self, module: &mut Description) {
        module.kind("LayerNorm").attribute("eps", self.eps()).width(self.weight().elem_count());
        weights(module, self.weight(), self.bias());
    }
}

impl Describe for RmsNorm {
    fn describe(&self, module: &mut Description) {
        module.kind("RmsNorm").attribute("eps", self.eps()).width(self.weight().elem_count());
        weights(module, self.weight(), None);
    }
}

impl Describe for BatchNorm {
    fn describe(&self, module: &mut Description) {
        module.kind("BatchNorm").attribute("eps", self.eps()).attribute("momentum", self.momentum());
        module.width(self.running_mean().elem_count());
        if let Some((weight, bias)) = self.weight_and_bias() {
            weights(module, weight, Some(bias));
        }
    }
}

impl Describe for Activation {
    fn describe(&self, module: &mut Description) {
        module.kind("Activation").attribute("function", self);
    }
}

/// A tensor that is a field of a model counts as its parameter.
impl Describe for Tensor {
    fn describe(&self, module: &mut Description) {
        module.kind("Tensor").attribute("shape", self.dims()).parameters(self.elem_count());
    }
}

impl Describe for Var {
    fn describe(&self, module: &mut Description) {
        self.as_tensor().describe(module);
    }
}

fn convolution(module: &mut Description, weight: &Tensor, bias: Option<&Tensor>) {
    if let [outputs, inputs, kernel @ ..] = weight.dims() {
        module.attribute("in_channels", inputs).attribute("out_channels", outputs);
        module.attribute("kernel_size", kernel).width(*inputs.max(outputs));
    }
    weights(module, weight, bias);
}

fn weights(module: &mut Description, weight: &Tensor, bias: Option<&Tensor>) {
    module.attribute("bias", bias.is_some());
    module.parameters(weight.elem_count() + bias.map_or(0, Tensor::elem_count));
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, Profile};
    use candle_core::{DType, Device};
    use candle_nn::{VarBuilder, VarMap, linear};

    #[test]
    fn a_linear_layer_says_how_it_is_built() -> candle_core::Result<()> {
        let variables = VarMap::new();
        let builder = VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu);
        let layer = Layer::new("fc", linear(3, 5, builder)?);
        let profile = serde_json::to_value(Profile::of(&layer)).unwrap();
        let attributes = serde_json::json!({"in_features": 3, "out_features": 5, "bias": true});
        let expected = serde_json::json!({
            "params": 20, "max_width": 5, "n_modules": 1,
            "modules": {"type": "Linear", "attributes": attributes, "params": 20},
        });
        assert_eq!(profile, expected);
        Ok(())
    }
}
