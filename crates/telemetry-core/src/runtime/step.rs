//! Steps that are no functions: iterations of loops, layers of models. What is recorded of them is for the settings
//! to say.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::current::{Bits, Context};
use super::local::Local;
use super::recording::active_generation;
use super::sampling::leave_out;
use super::task::{Ending, StartedTask, panic_message};
use crate::encoder::Encoder;
use crate::id::TaskId;
use crate::level::Level;
use crate::settings::Settings;

/// A step with a name.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Its activity; rules match it as a path.
    pub activity_id: &'a str,
    /// The context that it stands in; none for that of the calling code.
    pub within: Option<Context>,
}

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It is no task: what is below it hangs one level up.
    NotRecorded,
    /// It is a task of this level, unless a rule says another; with none, of the level by default.
    Recorded(Option<Level>),
    /// It is left out with everything below it, and counted, as sampling does it.
    LeftOut,
}

impl Step<'_> {
    /// Starts the step as `choose` says; none where it is not recorded.
    pub fn start(
        &self,
        choose: impl FnOnce(&Settings) -> Choice,
        write: impl FnOnce(&mut Encoder),
    ) -> Option<StartedTask> {
        let generation = active_generation();
        if generation == 0 {
            return None;
        }
        Local::with(|local| {
            let policy = local.policy(generation)?;
            let recording = policy.recording();
            let choice = choose(recording.settings());
            let in_code = match choice {
                Choice::NotRecorded => return None,
                Choice::Recorded(level) => level,
                Choice::LeftOut => None,
            };
            let site = policy.site_by_name(self.activity_id, in_code);
            if choice != Choice::LeftOut {
                return StartedTask::start(local, recording, site, |encoder| {
                    write(encoder);
                    self.within
                });
            }
            let mut caller = self.within.map_or_else(|| local.current.get(), |within| within.current);
            if caller.workflow.is_none() {
                caller.workflow = Bits::new(recording.oldest_workflow());
            }
            (site.level != Level::Off).then(|| leave_out(local, recording, site, caller))
        })
    }

    /// An id for what the steps of one loop have in common; none where nothing records.
    pub fn new_group() -> Option<TaskId> {
        let generation = active_generation();
        if generation == 0 {
            return None;
        }
        Local::with(|local| {
            let recording = local.policy(generation)?.recording();
            Some(TaskId::from_u128(local.next_id(recording).0))
        })
    }
}

impl StartedTask {
    /// Runs `body` within the task and ends it with what came of it: `ended` writes the result.
    pub fn run<R>(self, body: impl FnOnce() -> R, ended: impl FnOnce(&mut Encoder, &R)) -> R {
        match self.context().run(|| catch_unwind(AssertUnwindSafe(body))) {
            Ok(result) => {
                self.end(Ending::Returned, |encoder| ended(encoder, &result));
                result
            }
            Err(payload) => {
                self.end(Ending::Panicked, |encoder| panic_message(encoder, &*payload));
                resume_unwind(payload)
            }
        }
    }
}
