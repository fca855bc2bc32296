//! What is captured of which activity: what the settings say, made ready for the hot path.
//!
//! A policy never changes. A reload makes the next one, with a generation of its own, and callsites
//! that remember the last generation look up what they are under the new one. So a reload costs a call
//! nothing: it compares the generation anyway, to tell one recording from the next.

use std::collections::HashMap;
use std::sync::Mutex;

use super::callsite::{NO_ACTIVITY, Site};
use super::current::Fate;
use super::local::Local;
use super::recording::{Recording, lock, next_generation};
use super::sampling::Draw;
use crate::encoder::Limits;
use crate::glob::matches;
use crate::level::Level;
use crate::record::ActivityName;
use crate::settings::{Capture, RULES_MAX, Rule};

/// How many tasks by hand have their site remembered; the name table of a journal holds no more.
const NAMES_MAX: usize = 1 << 16;
/// Longer names of activities are shortened: they are kept in memory for as long as the process lives.
const ACTIVITY_BYTES_MAX: usize = 1024;

/// What is captured, from one reload to the next. Lives as long as the process, since threads and
/// contexts hold on to it.
#[derive(Debug)]
pub(super) struct Policy {
    generation: u32,
    recording: &'static Recording,
    default_level: Level,
    rules: Vec<Rule>,
    /// Globs over the names of the events that are recorded.
    events: Vec<String>,
    /// One a rule, after the first, which is for what no rule matches.
    plans: Box<[Plan]>,
    /// The sites of tasks that have a name and no callsite, by the level that the code gives them.
    by_name: Mutex<HashMap<Option<Level>, Sites>>,
}

/// The activity, the level and the number of the plan, by the name of the activity.
type Sites = HashMap<String, (u32, Level, usize)>;

/// How a task is captured, beside its level.
#[derive(Debug)]
pub(super) struct Plan {
    /// The generation of the recording that this is a plan of.
    pub(super) recording: u32,
    pub(super) limits: Limits,
    draw: Option<Draw>,
    pub(super) keeps_errors: bool,
}

/// Two plans are the same only if they are one.
impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Plan {}

impl Policy {
    pub(super) fn new(recording: &'static Recording, capture: &Capture) -> &'static Self {
        let rules: Vec<Rule> = capture.rules.iter().take(RULES_MAX).cloned().collect();
        let plans = std::iter::once(None).chain(rules.iter().map(Some));
        Box::leak(Box::new(Self {
            generation: next_generation(),
            recording,
            default_level: capture.default_level,
            plans: plans.map(|rule| Plan::new(recording.generation(), capture, rule)).collect(),
            rules,
            events: capture.events.clone(),
            by_name: Mutex::default(),
        }))
    }

    #[inline]
    pub(super) fn generation(&self) -> u32 {
        self.generation
    }

    #[inline]
    pub(super) fn recording(&self) -> &'static Recording {
        self.recording
    }

    /// The plan with this number; that of no rule where there is none.
    #[inline]
    pub(super) fn plan(&'static self, number: usize) -> &'static Plan {
        self.plans.get(number).unwrap_or(&self.plans[0])
    }

    /// How much an activity captures, and the number of its plan: by the first rule that matches, else by
    /// what the code says, else by default.
    pub(super) fn choose(&self, path: &str, in_code: Option<Level>) -> (Level, usize) {
        let rule = self.rules.iter().position(|rule| matches(&rule.activity, path));
        let level = rule.and_then(|rule| self.rules[rule].level).or(in_code);
        (level.unwrap_or(self.default_level), rule.map_or(0, |rule| rule + 1))
    }

    /// Whether events of this name are recorded.
    pub(super) fn allows_event(&self, name: &str) -> bool {
        self.events.iter().any(|glob| matches(glob, name))
    }

    /// The number of an activity in the name table; none that the table has where nothing is recorded of it.
    pub(super) fn activity(&self, name: &ActivityName, level: Level) -> u32 {
        match level {
            Level::Off => NO_ACTIVITY,
            _ => self.recording.activity(name).unwrap_or(NO_ACTIVITY),
        }
    }

    /// The site of a task that is started by hand, at this level unless a rule says another.
    pub(super) fn site_by_name(&'static self, activity_id: &str, in_code: Option<Level>) -> Site {
        let activity_id = &activity_id[..activity_id.floor_char_boundary(ACTIVITY_BYTES_MAX)];
        let mut by_level = lock(&self.by_name);
        let by_name = by_level.entry(in_code).or_default();
        let (activity, level, plan) = by_name.get(activity_id).copied().unwrap_or_else(|| {
            let (level, plan) = self.choose(activity_id, in_code);
            let shown = self.recording.without_secrets(activity_id).into_owned();
            let name = ActivityName { activity_id: shown.clone(), path: shown, ..ActivityName::default() };
            let found = (self.activity(&name, level), level, plan);
            if by_name.len() < NAMES_MAX {
                by_name.insert(activity_id.to_owned(), found);
            }
            found
        });
        Site { activity, level, plan: self.plan(plan) }
    }
}

impl Plan {
    fn new(recording: u32, capture: &Capture, rule: Option<&Rule>) -> Self {
        let of_rule = |limit: fn(&Rule) -> Option<u32>| rule.and_then(limit);
        let limits = Limits {
            value_bytes_max: of_rule(|rule| rule.value_bytes_max).unwrap_or(capture.value_bytes_max),
            record_bytes_max: of_rule(|rule| rule.record_bytes_max).unwrap_or(capture.record_bytes_max),
            depth_max: of_rule(|rule| rule.depth_max).unwrap_or(capture.depth_max),
            items_max: of_rule(|rule| rule.items_max).unwrap_or(capture.items_max),
        };
        let keeps_errors = capture.sampling.keep_errors;
        Self { recording, limits, draw: rule.and_then(Draw::new), keeps_errors }
    }

    /// What becomes of a task with this plan: as above it, or as is drawn here.
    #[inline]
    pub(super) fn fate_below(&self, above: Fate, local: &Local, recording: &Recording) -> Fate {
        match (&self.draw, above) {
            (Some(draw), Fate::Undecided) => draw.draw(local, recording),
            _ => above,
        }
    }
}
