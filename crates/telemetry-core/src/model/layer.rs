//! A layer: a module with a name, each call of which is recorded.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Anchor, Describe, Description};
use crate::encoder::Encoder;
use crate::inspect::Inspectable;
use crate::record::Field;
use crate::runtime::{Choice, StartedTask, Step};
use crate::settings::{Settings, What};

/// A module with a name: each call is a task of this activity with subtype `child_forward`, below the forward of the
/// model, or below the layer that calls it.
///
/// With the feature `candle`, a layer around a module of candle is such a module itself. Any other is called by
/// [`call`](Self::call):
///
/// ```
/// use telemetry_core::model::Layer;
///
/// let double = Layer::new("double", |xs: &Vec<f32>| xs.iter().map(|x| 2.0 * x).collect::<Vec<f32>>());
/// let ys = double.call(&vec![1.0, 2.0], |module, xs| module(xs));
/// assert_eq!(ys, [2.0, 4.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Layer<M> {
    name: Cow<'static, str>,
    module: M,
    number: u64,
}

impl<M> Layer<M> {
    /// Gives a module a name.
    pub fn new(name: impl Into<Cow<'static, str>>, module: M) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self { name: name.into(), module, number: NUMBERS.fetch_add(1, Ordering::Relaxed) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module.
    pub fn into_module(self) -> M {
        self.module
    }

    /// Calls the module by `forward` and records the call.
    pub fn call<I: Inspectable + ?Sized, O: LayerOutput>(
        &self,
        input: &I,
        forward: impl FnOnce(&M, &I) -> O,
    ) -> O {
        self.call_with(input, None, |input| forward(&self.module, input))
    }

    /// Like [`call`](Self::call), for a module that changes itself.
    pub fn call_mut<I: Inspectable + ?Sized, O: LayerOutput>(
        &mut self,
        input: &I,
        forward: impl FnOnce(&mut M, &I) -> O,
    ) -> O {
        let Some(started) = self.start(input, None) else { return forward(&mut self.module, input) };
        started.run(|| forward(&mut self.module, input), |encoder, output| output.write(encoder))
    }

    #[inline]
    pub(super) fn call_with<I: Inspectable + ?Sized, O: LayerOutput>(
        &self,
        input: &I,
        is_training: Option<bool>,
        forward: impl FnOnce(&I) -> O,
    ) -> O {
        let Some(started) = self.start(input, is_training) else { return forward(input) };
        started.run(|| forward(input), |encoder, output| output.write(encoder))
    }

    #[inline]
    fn start<I: Inspectable + ?Sized>(&self, input: &I, is_training: Option<bool>) -> Option<StartedTask> {
        Step { activity_id: &self.name, within: None }.start(choose, |encoder| {
            encoder.text(Field::Subtype, "child_forward");
            if let Some(is_training) = is_training {
                encoder.metadata("is_training", |value| value.boolean(is_training));
            }
            encoder.used_named("tensor", |value| value.show(input));
        })
    }
}

fn choose(settings: &Settings) -> Choice {
    let model = &settings.instrumentation.model;
    match model.what {
        Some(What::ParentAndChildren) => Choice::Recorded(Some(model.children_mode.level())),
        _ => Choice::NotRecorded,
    }
}

/// What a layer returns: something that can be inspected, or a `Result` of it.
pub trait LayerOutput {
    /// Writes what was generated, or the error.
    fn write(&self, encoder: &mut Encoder);
}

impl<T: Inspectable> LayerOutput for T {
    fn write(&self, encoder: &mut Encoder) {
        encoder.generated_named("tensor", |value| value.show(self));
    }
}

impl<T: Inspectable, E: Display> LayerOutput for Result<T, E> {
    fn write(&self, encoder: &mut Encoder) {
        match self {
            Ok(output) => output.write(encoder),
            Err(error) => encoder.error(|value| value.display(error)),
        }
    }
}

impl<M> Deref for Layer<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.module
    }
}

impl<M> DerefMut for Layer<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.module
    }
}

/// A layer is its module, with another name in the tree.
impl<M: Describe> Describe for Layer<M> {
    fn describe(&self, module: &mut Description) {
        self.module.describe(module);
    }

    fn add_to(&self, _name: &str, parent: &mut Description) {
        self.module.add_to(&self.name, parent);
    }
}

impl<M> Anchor for Layer<M> {
    fn first_layer(&self) -> Option<u64> {
        Some(self.number)
    }

    fn outline(&self, _name: &str, module: &mut Description) {
        module.child(&self.name, Description::of::<M>());
    }
}
