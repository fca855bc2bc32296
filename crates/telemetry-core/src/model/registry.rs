//! Models as workflows of their own.

use std::sync::{Mutex, PoisonError};

use super::{Model, Profile};
use crate::id::WorkflowId;
use crate::record::Field;
use crate::runtime::{Callsite, Recording, StartedWorkflow, active_recording, is_recording};

/// More models of one type are registered again when they come back.
const MODELS_MAX: usize = 1024;

/// The models of one type that are registered.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Registry {
    known: Mutex<Vec<(Key, Option<WorkflowId>)>>,
}

/// The address of the recording, which lives as long as the process, and the model's own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(usize, Option<u64>);

impl Registry {
    /// Of a type of which no model is registered yet.
    pub const fn new() -> Self {
        Self { known: Mutex::new(Vec::new()) }
    }

    fn get_or_add(&self, key: Key, add: impl FnOnce() -> Option<WorkflowId>) -> Option<WorkflowId> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, workflow)) = known.iter().rev().find(|(other, _)| *other == key) {
            return *workflow;
        }
        if known.len() >= MODELS_MAX {
            known.clear();
        }
        let workflow = add();
        known.push((key, workflow));
        workflow
    }
}

/// Stores a model as a workflow, once a recording; answers its id. None where nothing records, or where
/// `instrumentation.model` says that models are not registered.
///
/// The workflow has the subtype `model`, the profile of the model in its metadata, and how the model is recorded as
/// what it used.
pub fn register<M: Model>(model: &M) -> Option<WorkflowId> {
    let recording = active_recording()?;
    let settings = &recording.settings().instrumentation.model;
    if !settings.register_workflow || settings.what.is_none() {
        return None;
    }
    let key = Key(std::ptr::from_ref(recording).addr(), model.identity());
    M::registry().get_or_add(key, || store(model, recording))
}

fn store<M: Model>(model: &M, recording: &Recording) -> Option<WorkflowId> {
    let settings = &recording.settings().instrumentation.model;
    StartedWorkflow::store(M::NAME, |encoder| {
        encoder.text(Field::Subtype, "model");
        encoder.metadata("workflow_type", |value| value.text("Model"));
        encoder.metadata("path", |value| value.text(M::PATH));
        encoder.description("model_profile", &Profile::of(model));
        encoder.used_named("capture_epochs_at_every", |value| {
            value.unsigned(settings.capture_epochs_at_every.into());
        });
        encoder.used_named("children_mode", |value| value.text(settings.children_mode.as_str()));
    })
}

/// What a method with `#[forward]` does first: its activity is the model, which is registered.
#[doc(hidden)]
#[inline]
pub fn begin_forward<M: Model>(callsite: &'static Callsite, model: &M) -> Option<WorkflowId> {
    if !is_recording() {
        return None;
    }
    callsite.is_forward_of(M::NAME, M::PATH);
    register(model)
}
