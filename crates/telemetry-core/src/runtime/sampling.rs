//! Sampling: which tasks are left out, how they are counted, and how a failed one comes back.
//!
//! It is drawn at the first task on the way down whose rule samples; everything below follows, so a
//! task that is recorded has all its ancestors recorded. A task that is left out is counted in shared
//! memory and costs no record. If it fails, its START and those of its open ancestors are written after
//! all, and their ENDs when they end; such a START says that its task was counted as left out, so that
//! the sum stays exact whenever the process dies.

use std::sync::atomic::{AtomicU64, Ordering};

use telemetry_journal::DropReason;
use telemetry_journal::clock::ticks;

use super::callsite::Site;
use super::current::{Bits, Current, Fate};
use super::local::Local;
use super::open::{self, Marked, OpenTask, Skeleton};
use super::recording::{Recording, lock};
use super::task::{Ending, StartedTask, recording_of};
use crate::encoder::Encoder;
use crate::id::TaskId;
use crate::level::Level;
use crate::record::{FixedWords, Head, TaskEnd, TaskStart};
use crate::settings::Rule;
use crate::status::Status;

/// How a rule samples: what passes both is kept.
#[derive(Debug)]
pub(super) struct Draw {
    /// The share of 2⁶⁴ that is kept.
    share: Option<u64>,
    window: Option<Window>,
}

impl Draw {
    /// The sampling of a rule; none where it has none.
    pub(super) fn new(rule: &Rule) -> Option<Self> {
        let share = rule.sample.filter(|share| *share < 1.0).map(|share| (share * 2f64.powi(64)) as u64);
        let window = rule.per_second.map(|per_second| Window { per_second, state: AtomicU64::new(0) });
        (share.is_some() || window.is_some()).then_some(Self { share, window })
    }

    #[inline(never)]
    pub(super) fn draw(&self, local: &Local, recording: &Recording) -> Fate {
        let is_kept = self.share.is_none_or(|share| local.next_random() < share)
            && self
                .window
                .as_ref()
                .is_none_or(|window| window.take(recording.clock().elapsed_ms(ticks()) as u32 / 1000));
        if is_kept { Fate::Kept } else { Fate::LeftOut }
    }
}

/// Keeps so many in each second since the recording began, of all activities of a rule together.
#[derive(Debug)]
struct Window {
    per_second: u32,
    /// `kept:32 second:32`, lowest first.
    state: AtomicU64,
}

impl Window {
    fn take(&self, second: u32) -> bool {
        let next = |state: u64| {
            let (kept, latest) = (state as u32, (state >> 32) as u32);
            // A thread that read the clock a moment ago belongs to the second that has begun meanwhile.
            let kept = if second > latest { 0 } else { kept };
            let second = second.max(latest);
            (kept < self.per_second).then_some(u64::from(kept + 1) | u64::from(second) << 32)
        };
        self.state.try_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}

/// Counts a task and answers it as one that is left out.
#[inline(never)]
pub(super) fn leave_out(local: &Local, recording: &Recording, site: Site, caller: Current) -> StartedTask {
    let [high, low] = caller.workflow.words();
    if !local.tally(recording, [high, low, u64::from(site.activity)]) {
        local.refuse(recording, DropReason::Full);
    }
    let current = caller.left_out(site);
    if !site.plan.keeps_errors {
        return StartedTask { current };
    }
    let (id, now) = local.next_id(recording);
    let id = Bits::new(id);
    let current = if caller.task.is_none() || caller.root.is_none() {
        Current { root: id, depth: 0, ..current }
    } else {
        Current { depth: caller.depth.saturating_add(1), ..current }
    };
    let (parent, anchor) = match caller.open_task() {
        Some(parent) => (parent, parent.anchor()),
        None => (OpenTask::NONE, caller.task),
    };
    let skeleton = Skeleton {
        id,
        anchor,
        workflow: caller.workflow,
        parent,
        ticks: now,
        activity: site.activity,
        depth: current.depth,
        thread: local.thread.get(),
    };
    StartedTask { current: Current { task: Bits::of_open(open::open(local, &skeleton)), ..current } }
}

/// Ends a task that was left out: it is written if it failed, or if something below it did.
pub(super) fn end_left_out(
    current: Current,
    local: &Local,
    ending: Ending,
    write: impl FnOnce(&mut Encoder),
) {
    let Some(task) = current.open_task().filter(|task| task.is_some()) else { return };
    let recording = recording_of(local, current).filter(|_| !local.is_encoding());
    let Some(recording) = recording else { return open::free(local, task) };
    local.encode(|encoder| {
        encoder.reset(current.limits());
        encoder.keep_values(false);
        encoder.redact_with(recording.redactor());
        write(encoder);
        let is_error = ending.status(encoder.has_error()).0 == Status::Error;
        if is_error || !open::close(local, task) {
            write_end(local, recording, current, task, (ending, encoder));
        }
    });
}

#[cold]
fn write_end(
    local: &Local,
    recording: &Recording,
    current: Current,
    task: OpenTask,
    (ending, encoder): (Ending, &mut Encoder),
) {
    let now = ticks();
    let (status, error_kind) = ending.status(encoder.has_error());
    // Whoever writes an open task holds this, so what it writes does not end meanwhile.
    let _held = lock(recording.bringing_back());
    if status == Status::Error {
        bring_back(local, recording, task, current.root);
    }
    if let Some(skeleton) = open::read(task) {
        let (task, activity) = (skeleton.task_id(), skeleton.activity);
        let end = TaskEnd { task, ticks: now, status, error_kind, activity, snapshot: None };
        local.offer(recording, encoder.outgoing(&end));
    }
    open::free(local, task);
}

/// Writes the STARTs of a task that was left out and of its open ancestors, as far as they are not written.
///
/// Two walks upward, since the root is known only at the top, and nothing here may take memory or stack
/// that grows with the depth.
fn bring_back(local: &Local, recording: &Recording, task: OpenTask, root_of_caller: Bits) {
    let mut top = None;
    let mut at = task;
    let above = loop {
        match open::mark(at) {
            Marked::Now(skeleton) => {
                top = Some((at, skeleton));
                at = skeleton.parent;
            }
            Marked::Before(skeleton, root) => break Some((skeleton.id, root)),
            Marked::Gone => break None,
        }
    };
    let Some((top, skeleton)) = top else { return };
    let (parent, root) = above.unwrap_or_else(|| {
        let is_below_none = skeleton.anchor.is_none();
        (skeleton.anchor, if is_below_none { skeleton.id } else { root_of_caller })
    });
    write_starts(local, recording, (task, top), (parent, root));
}

/// Writes the STARTs from the first task up to the top, which has this parent; all have this root.
fn write_starts(
    local: &Local,
    recording: &Recording,
    (first, top): (OpenTask, OpenTask),
    (parent_of_top, root): (Bits, Bits),
) {
    let mut at = first;
    while let Some(skeleton) = open::read(at) {
        let above = (at != top).then(|| open::read(skeleton.parent)).flatten();
        let parent = above.map_or(parent_of_top, |parent| parent.id);
        open::set_root(at, root);
        let start = skeleton.start(parent, root);
        local.offer(recording, start.outgoing(&mut Head::default()));
        if at == top {
            return;
        }
        at = skeleton.parent;
    }
}

impl Skeleton {
    fn task_id(&self) -> TaskId {
        self.id.task().unwrap_or(TaskId::from_u128(0))
    }

    fn start(&self, parent: Bits, root: Bits) -> TaskStart {
        TaskStart {
            task: self.task_id(),
            parent: parent.task(),
            workflow: self.workflow.workflow(),
            ticks: self.ticks,
            activity: self.activity,
            depth: self.depth,
            level: Level::Lightweight,
            thread: self.thread,
            root: root.task().filter(|_| !parent.is_none()),
            snapshot: None,
            was_left_out: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn rule() -> Rule {
        let text = "capture: {rules: [{activity: '*'}]}";
        let loaded = Settings::from_yaml(text, "x.yaml".as_ref()).expect("the rule is sound");
        loaded.settings.capture.rules[0].clone()
    }

    #[test]
    fn a_window_keeps_so_many_in_each_second() {
        let window = Window { per_second: 3, state: AtomicU64::new(0) };
        let kept = |second: u32| (0..10).filter(|_| window.take(second)).count();
        assert_eq!([kept(0), kept(0), kept(1), kept(0), kept(5)], [3, 0, 3, 0, 3]);
    }

    #[test]
    fn the_share_of_a_rule_is_that_of_the_draws() {
        let local = Local::for_tests(0x0123_4567_89AB_CDEF);
        for share in [0.0, 0.01, 0.5, 0.999] {
            let rule = Rule { sample: Some(share), ..rule() };
            let threshold = Draw::new(&rule).and_then(|draw| draw.share).expect("it samples");
            let draws = 200_000;
            let kept = (0..draws).filter(|_| local.next_random() < threshold).count() as f64;
            let sigma = (f64::from(draws) * share * (1.0 - share)).sqrt();
            assert!((kept - f64::from(draws) * share).abs() <= 3.0 * sigma, "{kept} of {draws} at {share}");
        }
        let always = Rule { sample: Some(1.0), ..rule() };
        assert!(Draw::new(&always).is_none());
    }
}
