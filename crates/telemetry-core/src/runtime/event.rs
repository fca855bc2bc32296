//! Recording events: a series is looked up once a callsite, or once a thread for each set of labels.
//!
//! The allow-list is asked when a series is looked up, and its answer remembered like the series itself:
//! an event that is not allowed costs two loads and never reaches a lane.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use telemetry_journal::DropReason;
use telemetry_journal::clock::ticks;

use super::current::Bits;
use super::fault::contained;
use super::keeper;
use super::local::Local;
use super::policy::Policy;
use super::recording::{Recording, active_generation};
use crate::encoder::guarded;
use crate::event::{Category, EventKind, EventValue};
use crate::record::{Event, FixedWords, Head, SeriesName};

/// The series of an event that is not recorded.
const NOT_ALLOWED: u32 = u32::MAX;
/// The series of an event that finds no room in the name table.
const NO_ROOM: u32 = u32::MAX - 1;
/// Longer names, units and labels are shortened: they stay for as long as the process lives.
const TEXT_BYTES_MAX: usize = 256;
/// How many sets of labels a thread remembers at once.
const CACHE_MAX: usize = 4096;
/// The label of events whose own labels found no room.
const OVERFLOW: &str = "telemetry_overflow";

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured<'a> {
    /// What it is about.
    pub category: Category,
    /// Its name.
    pub name: &'a str,
    /// How its values are to be read.
    pub kind: EventKind,
    /// What they count.
    pub unit: Option<&'a str>,
}

/// A label whose value is known when the event happens.
type Label<'a> = (&'a str, &'a dyn Display);

/// A place in the code that records events.
#[derive(Debug)]
pub struct EventSite {
    measured: Measured<'static>,
    labels: &'static [(&'static str, &'static str)],
    /// `series:32 generation:32`, lowest first, of the policy that last met it.
    state: AtomicU64,
}

impl EventSite {
    /// A place with these labels in the code; what the macro puts into a static.
    pub const fn new(measured: Measured<'static>, labels: &'static [(&'static str, &'static str)]) -> Self {
        Self { measured, labels, state: AtomicU64::new(0) }
    }

    /// Records an event. Without a recording this is one relaxed load.
    #[inline]
    pub fn record(&self, value: impl Into<EventValue>) {
        let generation = active_generation();
        if generation != 0 {
            self.record_in(generation, value.into());
        }
    }

    /// Records an event with further labels.
    #[inline]
    pub fn record_with(&self, value: impl Into<EventValue>, labels: &[Label<'_>]) {
        if active_generation() != 0 {
            record_labelled(&self.measured, self.labels, labels, value.into());
        }
    }

    #[inline]
    fn record_in(&self, generation: u32, value: EventValue) {
        let record = |local: &Local| {
            if let Some(policy) = local.policy(generation) {
                offer(local, policy.recording(), self.series(policy), value);
            }
        };
        contained(|| Local::with(record));
    }

    #[inline]
    fn series(&self, policy: &Policy) -> u32 {
        let state = self.state.load(Ordering::Relaxed);
        if (state >> 32) as u32 == policy.generation() { state as u32 } else { self.register(policy) }
    }

    #[cold]
    fn register(&self, policy: &Policy) -> u32 {
        let series = find(policy, &self.measured, self.labels.iter().copied());
        let state = u64::from(series) | u64::from(policy.generation()) << 32;
        self.state.store(state, Ordering::Relaxed);
        series
    }
}

/// Records an event whose name and labels are known only when it happens.
pub fn record_event(measured: &Measured<'_>, labels: &[Label<'_>], value: EventValue) {
    if active_generation() != 0 {
        record_labelled(measured, &[], labels, value);
    }
}

#[inline(never)]
fn record_labelled(measured: &Measured<'_>, fixed: &[(&str, &str)], labels: &[Label<'_>], value: EventValue) {
    let record = |local: &Local| {
        let Some(policy) = local.policy(active_generation()) else { return };
        let series = keeper::with_series(|cache| cache.series(policy, measured, fixed, labels));
        offer(local, policy.recording(), series, value);
    };
    contained(|| Local::with(record));
}

#[inline]
fn offer(local: &Local, recording: &Recording, series: u32, value: EventValue) {
    match series {
        NOT_ALLOWED => return,
        NO_ROOM => return local.refuse(recording, DropReason::Oversize),
        _ => {}
    }
    let current = local.current.get();
    let workflow =
        if current.workflow.is_none() { Bits::new(recording.oldest_workflow()) } else { current.workflow };
    let (task, workflow) = (current.task_id(), workflow.workflow());
    let event = Event { ticks: ticks(), value, series, task, workflow };
    local.offer(recording, event.outgoing(&mut Head::default()));
}

/// The number of a series in the name table; without its labels where there is no room for more of them.
#[cold]
fn find<'a>(
    policy: &Policy,
    measured: &Measured<'_>,
    labels: impl Iterator<Item = (&'a str, &'a str)>,
) -> u32 {
    if !policy.allows_event(measured.name) {
        return NOT_ALLOWED;
    }
    let recording = policy.recording();
    let shown = |text: &str| recording.without_secrets(cut(text)).into_owned();
    let mut series = SeriesName {
        category: measured.category.as_str().to_owned(),
        name: shown(measured.name),
        kind: measured.kind.as_str().to_owned(),
        unit: measured.unit.map(shown),
        labels: labels.map(|(key, value)| (cut(key).to_owned(), hidden(recording, key, value))).collect(),
    };
    recording.series(&series).unwrap_or_else(|| {
        series.labels = BTreeMap::from([(OVERFLOW.to_owned(), "true".to_owned())]);
        recording.series_at_any_rate(&series).unwrap_or(NO_ROOM)
    })
}

/// The value of a label as it may be seen.
fn hidden(recording: &Recording, key: &str, value: &str) -> String {
    match recording.redactor().and_then(|redactor| redactor.name(key)) {
        Some(kind) => format!("[redacted:{kind}]"),
        None => cut(&recording.without_secrets(value)).to_owned(),
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

/// The series that a thread has met, by what they are measured by and labelled with.
#[derive(Debug, Default)]
pub(super) struct SeriesCache {
    generation: u32,
    /// What the series of the event in hand is told by.
    key: Vec<u8>,
    texts: Vec<String>,
    by_key: Option<HashMap<Vec<u8>, u32>>,
}

impl SeriesCache {
    pub(super) const fn new() -> Self {
        Self { generation: 0, key: Vec::new(), texts: Vec::new(), by_key: None }
    }

    fn series(
        &mut self,
        policy: &Policy,
        measured: &Measured<'_>,
        fixed: &[(&str, &str)],
        labels: &[Label<'_>],
    ) -> u32 {
        self.write_texts(labels);
        self.write_key(measured, fixed, labels);
        let by_key = self.by_key.get_or_insert_default();
        if self.generation != policy.generation() || by_key.len() >= CACHE_MAX {
            by_key.clear();
            self.generation = policy.generation();
        }
        if let Some(series) = by_key.get(&self.key) {
            return *series;
        }
        let texts = labels.iter().zip(&self.texts).map(|((key, _), text)| (*key, text.as_str()));
        let series = find(policy, measured, fixed.iter().copied().chain(texts));
        by_key.insert(self.key.clone(), series);
        series
    }

    /// Writes the labels out. They are the user's code, which may panic: then the label is empty.
    fn write_texts(&mut self, labels: &[Label<'_>]) {
        self.texts.resize_with(labels.len().max(self.texts.len()), String::new);
        for ((_, label), text) in labels.iter().zip(&mut self.texts) {
            text.clear();
            if guarded(|| write!(text, "{label}")).is_none() {
                text.clear();
            }
        }
    }

    fn write_key(&mut self, measured: &Measured<'_>, fixed: &[(&str, &str)], labels: &[Label<'_>]) {
        let Self { key, texts, .. } = self;
        key.clear();
        key.extend([measured.category.code(), measured.kind.code()]);
        let mut add = |text: &str| {
            key.extend_from_slice(&(text.len() as u32).to_le_bytes());
            key.extend_from_slice(text.as_bytes());
        };
        add(measured.name);
        add(measured.unit.unwrap_or_default());
        for (name, value) in fixed {
            add(name);
            add(value);
        }
        for ((name, _), text) in labels.iter().zip(texts) {
            add(name);
            add(text);
        }
    }
}
