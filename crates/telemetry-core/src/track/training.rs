//! The loops that train a model.

use serde::Serialize;

use super::{Mode, Track};
use crate::encoder::ValueEncoder;
use crate::inspect::Inspectable;
use crate::model::{Model, register};
use crate::runtime::Context;

/// A loop over the epochs of a training: activity `epochs_loop_iteration`, with `i` and `epoch` as what it used.
///
/// `instrumentation.model.epoch_loop` says how an epoch is recorded, and `capture_epochs_at_every` that only every
/// so many of them are: the others are left out with all that is below them, and counted. The model is registered, if
/// `register_workflow` says so, and the metadata of each epoch names it.
pub fn epochs<M: Model, I: IntoIterator<Item: Serialize>>(model: &M, items: I) -> Track<I::IntoIter> {
    let show = |item: &I::Item, value: &mut ValueEncoder<'_>| value.serialize(item);
    let mut epochs = Track::new("epochs_loop_iteration".to_owned(), "epoch", items.into_iter(), show);
    epochs.mode = Mode::Epochs;
    epochs.model = register(model);
    epochs
}

/// A loop over batches: activity `<step>_batch_iteration`, with `i` and `batch` as what it used. Of a tensor only its
/// shape and size are recorded.
///
/// `instrumentation.model.batch_loop` says how a batch is recorded. Within an epoch take
/// [`Iteration::batches`](super::Iteration::batches).
pub fn batches<I: IntoIterator<Item: Inspectable>>(step: &str, items: I) -> Track<I::IntoIter> {
    batches_within(Context::current(), step, items)
}

pub(super) fn batches_within<I: IntoIterator<Item: Inspectable>>(
    within: Context,
    step: &str,
    items: I,
) -> Track<I::IntoIter> {
    let show = |item: &I::Item, value: &mut ValueEncoder<'_>| value.show(item);
    let mut batches = Track::new(format!("{step}_batch_iteration"), "batch", items.into_iter(), show);
    batches.mode = Mode::Batches;
    batches.within = within;
    batches
}
