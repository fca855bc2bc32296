//! A call whose body stays in place, where neither its result nor the payload of its panic can be seen.

use std::thread::panicking;

use super::callsite::Callsite;
use super::current::Entered;
use super::fault::contained;
use super::local::Local;
use super::more::More;
use super::recording::active_generation;
use super::task::{Ending, StartedTask};
use crate::encoder::Encoder;

/// The record of a call, from where it is entered to the end of its scope: `FINISHED`, or `ERROR` without a message
/// if the scope is left by a panic.
#[derive(Debug)]
#[must_use = "the task ends when its guard is dropped"]
pub struct Guard {
    running: Option<(StartedTask, Entered)>,
    /// Whether the call is made by a destructor that runs because of an earlier panic.
    was_panicking: bool,
}

impl Guard {
    /// Starts recording a call.
    #[inline]
    pub fn enter<P: More>(callsite: &'static Callsite, used: impl FnOnce(&mut Encoder) -> P) -> Self {
        match active_generation() {
            0 => Self { running: None, was_panicking: false },
            generation => Self::enter_recorded(generation, callsite, used),
        }
    }

    #[inline(never)]
    fn enter_recorded<P: More>(
        generation: u32,
        callsite: &'static Callsite,
        used: impl FnOnce(&mut Encoder) -> P,
    ) -> Self {
        let start = |local: &Local| {
            let policy = local.policy(generation)?;
            StartedTask::start(local, policy.recording(), callsite.site(policy), |encoder| {
                encoder.hide(callsite.hidden_keys());
                used(encoder)
            })
        };
        let task = contained(|| Local::with(start)).flatten();
        let running = task.map(|task| {
            let entered = task.context().enter();
            (task, entered)
        });
        Self { running, was_panicking: panicking() }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        let Some((task, entered)) = self.running.take() else { return };
        drop(entered);
        let is_panic = panicking() && !self.was_panicking;
        task.end(if is_panic { Ending::Panicked } else { Ending::Returned }, |_| {});
    }
}
