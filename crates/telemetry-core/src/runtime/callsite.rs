//! Callsites: one static a recorded function, which remembers its activity and level.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::policy::{Plan, Policy};
use crate::encoder::HiddenKeys;
use crate::level::Level;
use crate::record::ActivityName;

/// The number of an activity that found no place in the name table.
pub(super) const NO_ACTIVITY: u32 = 0x0003_FFFF;

const PLAN_MASK: usize = 0x03FF;

/// A recorded function.
#[derive(Debug)]
pub struct Callsite {
    activity_id: &'static str,
    path: &'static str,
    file: &'static str,
    line: u32,
    level: Option<Level>,
    keys: &'static [&'static str],
    /// Where it is the forward of a model: what that is called, and its path.
    model: OnceLock<(&'static str, &'static str)>,
    /// `level:4 plan:10 activity:18 generation:32`, lowest first, of the policy that last met it.
    state: AtomicU64,
    /// The keys whose values are secret, under the same recording.
    hidden: AtomicU64,
}

/// What a policy says about a callsite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) activity: u32,
    pub(super) level: Level,
    pub(super) plan: &'static Plan,
}

impl Callsite {
    /// A function with this name, place and argument names; what the attribute puts into a static.
    pub const fn new(
        activity_id: &'static str,
        path: &'static str,
        file: &'static str,
        line: u32,
        level: Option<Level>,
        keys: &'static [&'static str],
    ) -> Self {
        Self {
            activity_id,
            path,
            file,
            line,
            level,
            keys,
            model: OnceLock::new(),
            state: AtomicU64::new(0),
            hidden: AtomicU64::new(0),
        }
    }

    /// Says that this is the forward of a model with this name and path: its activity, unless it has a name of its
    /// own. The settings say whether models are recorded.
    pub fn is_forward_of(&self, name: &'static str, path: &'static str) {
        let name = if self.activity_id.is_empty() { name } else { self.activity_id };
        self.model.get_or_init(|| (name, path));
    }

    /// The site under this policy.
    #[inline]
    pub(super) fn site(&self, policy: &'static Policy) -> Site {
        let state = self.state.load(Ordering::Acquire);
        if (state >> 32) as u32 == policy.generation() {
            let level = Level::from_code(state as u8 & 0x0F).unwrap_or(Level::Off);
            let plan = policy.plan((state >> 4) as usize & PLAN_MASK);
            return Site { activity: (state >> 14) as u32 & NO_ACTIVITY, level, plan };
        }
        self.register(policy)
    }

    #[cold]
    fn register(&self, policy: &'static Policy) -> Site {
        let (activity_id, path) = self.model.get().copied().unwrap_or((self.activity_id, self.path));
        let name = ActivityName {
            activity_id: activity_id.to_owned(),
            path: path.to_owned(),
            file: Some(self.file.to_owned()),
            line: Some(self.line),
            keys: self.keys.iter().map(|key| (*key).to_owned()).collect(),
        };
        let is_off =
            self.model.get().is_some() && policy.recording().settings().instrumentation.model.what.is_none();
        let (level, plan) = policy.choose(path, self.level.or(is_off.then_some(Level::Off)));
        let activity = policy.activity(&name, level);
        let state = u64::from(level.code())
            | (plan as u64) << 4
            | u64::from(activity) << 14
            | u64::from(policy.generation()) << 32;
        let redactor = policy.recording().redactor();
        self.hidden.store(HiddenKeys::mask(redactor, self.keys), Ordering::Relaxed);
        // Who sees this state sees the keys that belong to it.
        self.state.store(state, Ordering::Release);
        Site { activity, level, plan: policy.plan(plan) }
    }

    /// The keys whose values are secret under the recording that last met it.
    #[inline]
    pub fn hidden_keys(&self) -> HiddenKeys {
        HiddenKeys::new(self.hidden.load(Ordering::Relaxed), self.keys)
    }
}

// A rule has its number in the state, and so has the plan of no rule.
const _: () = assert!(crate::settings::RULES_MAX <= PLAN_MASK);
