//! Loops whose iterations are tasks.
//!
//! [`track`] is for any loop, [`epochs`] and [`batches`] are for those that train a model, and do what the section
//! `instrumentation.model` of the settings says.

mod iteration;
mod training;

pub use iteration::{Iteration, IterationTask};
pub use training::{batches, epochs};

use std::borrow::Cow;

use serde::Serialize;

use crate::encoder::ValueEncoder;
use crate::id::{TaskId, WorkflowId};
use crate::level::Level;
use crate::runtime::{Choice, Context, Scope, Step};
use crate::settings::Settings;

/// Records each iteration of a loop as a task: its index and its item are what it used, and what the body says by
/// [`IterationTask::generated`] is what it generated.
///
/// An iteration ends where its item is dropped, so nothing is lost by `break`, `continue`, `?` or a panic. The activity
/// is the name with `_iteration` behind it; `group_id` is the same for all iterations of one loop.
///
/// ```
/// for iteration in telemetry_core::track::track("files", ["a.csv", "b.csv"]) {
///     let rows = iteration.len(); // an iteration is used like its item
///     iteration.generated("rows", rows);
/// }
/// ```
pub fn track<I: IntoIterator<Item: Serialize>>(name: &str, items: I) -> Track<I::IntoIter> {
    track_by(name, items, |item, value| value.serialize(item))
}

/// Like [`track`], for items that are not `Serialize`: `show` writes what is recorded of one.
///
/// ```
/// use std::process::Command;
/// use telemetry_core::track::track_by;
///
/// let commands = [Command::new("true")];
/// for mut iteration in track_by("commands", commands, |command, value| value.os_text(command.get_program())) {
///     let status = iteration.item.status();
///     # let _ = status;
/// }
/// ```
pub fn track_by<I: IntoIterator>(
    name: &str,
    items: I,
    show: fn(&I::Item, &mut ValueEncoder<'_>),
) -> Track<I::IntoIter> {
    let activity_id = format!("{name}_iteration");
    Track::new(activity_id, "item", items.into_iter(), show)
}

/// A loop whose iterations are tasks; see [`track`].
#[derive(Debug)]
#[must_use = "a loop does nothing unless it is iterated"]
pub struct Track<I: Iterator> {
    items: I,
    show: fn(&I::Item, &mut ValueEncoder<'_>),
    activity_id: String,
    item_name: Cow<'static, str>,
    mode: Mode,
    within: Context,
    group: Option<TaskId>,
    model: Option<WorkflowId>,
    index: u64,
    /// The iteration that was started last, while it is not known whether there is another.
    last: Option<TaskId>,
}

/// Who says how an iteration is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The code, or else the settings for any task.
    Any(Option<Level>),
    /// `epoch_loop` and `capture_epochs_at_every`.
    Epochs,
    /// `batch_loop`.
    Batches,
}

impl Mode {
    fn choose(self, settings: &Settings, index: u64) -> Choice {
        let model = &settings.instrumentation.model;
        let mode = match self {
            Self::Any(level) => return Choice::Recorded(level),
            Self::Epochs if !index.is_multiple_of(u64::from(model.capture_epochs_at_every.max(1))) => {
                return Choice::LeftOut;
            }
            Self::Epochs => model.epoch_loop,
            Self::Batches => model.batch_loop,
        };
        mode.map_or(Choice::NotRecorded, |mode| Choice::Recorded(Some(mode.level())))
    }
}

impl<I: Iterator> Track<I> {
    fn new(
        activity_id: String,
        item_name: &'static str,
        items: I,
        show: fn(&I::Item, &mut ValueEncoder<'_>),
    ) -> Self {
        Self {
            items,
            show,
            activity_id,
            item_name: Cow::Borrowed(item_name),
            mode: Mode::Any(None),
            within: Context::current(),
            group: None,
            model: None,
            index: 0,
            last: None,
        }
    }

    /// Says what an item is called, instead of `item`.
    pub fn item_name(mut self, name: &str) -> Self {
        self.item_name = Cow::Owned(name.to_owned());
        self
    }

    /// Says how much is captured of an iteration; a rule of the settings has the last word.
    pub fn level(mut self, level: Level) -> Self {
        self.mode = Mode::Any(Some(level));
        self
    }

    fn start(&mut self, item: &I::Item) -> Scope {
        let group = *self.group.get_or_insert_with(|| Step::new_group().unwrap_or(TaskId::from_u128(0)));
        let (index, mode) = (self.index, self.mode);
        let step = Step { activity_id: &self.activity_id, within: Some(self.within) };
        let started = step.start(
            |settings| mode.choose(settings, index),
            |encoder| {
                encoder.text(crate::record::Field::Subtype, "iteration");
                encoder.display(crate::record::Field::Group, &group);
                if let Some(model) = self.model {
                    encoder.metadata("model_workflow_id", |value| value.display(&model));
                }
                encoder.used_named("i", |value| value.unsigned(index));
                encoder.used_named(&self.item_name, |value| (self.show)(item, value));
            },
        );
        Scope::enter(started)
    }
}

impl<I: Iterator> Iterator for Track<I> {
    type Item = Iteration<I::Item>;

    fn next(&mut self) -> Option<Self::Item> {
        self.last = None;
        let item = self.items.next()?;
        let scope = self.start(&item);
        self.last = scope.id();
        let index = self.index;
        self.index += 1;
        Some(Iteration { item, task: IterationTask::new(scope, index) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Track<I> {}

/// A loop that is dropped before it has ended is left by `break`, `return`, `?` or a panic.
impl<I: Iterator> Drop for Track<I> {
    fn drop(&mut self) {
        if let Some(iteration) = self.last.take() {
            Scope::was_left(iteration);
        }
    }
}
