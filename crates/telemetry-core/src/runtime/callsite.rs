//! Callsites: one static a recorded function, which remembers its activity and level.

use std::sync::atomic::{AtomicU64, Ordering};

use super::recording::Recording;
use crate::level::Level;
use crate::record::ActivityName;

/// The number of an activity that found no place in the name table.
pub(super) const NO_ACTIVITY: u32 = 0x00FF_FFFF;

/// A recorded function.
#[derive(Debug)]
pub struct Callsite {
    activity_id: &'static str,
    path: &'static str,
    file: &'static str,
    line: u32,
    level: Option<Level>,
    keys: &'static [&'static str],
    /// `level:8 activity:24 generation:32`, lowest first, of the recording that last met it.
    state: AtomicU64,
}

/// What a recording knows about a callsite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) activity: u32,
    pub(super) level: Level,
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
        Self { activity_id, path, file, line, level, keys, state: AtomicU64::new(0) }
    }

    /// The site under this recording.
    #[inline]
    pub(super) fn site(&self, recording: &'static Recording) -> Site {
        let state = self.state.load(Ordering::Relaxed);
        if (state >> 32) as u32 == recording.generation() {
            let level = Level::from_code(state as u8).unwrap_or(Level::Off);
            return Site { activity: (state >> 8) as u32 & NO_ACTIVITY, level };
        }
        self.register(recording)
    }

    #[cold]
    fn register(&self, recording: &'static Recording) -> Site {
        let name = ActivityName {
            activity_id: self.activity_id.to_owned(),
            path: self.path.to_owned(),
            file: Some(self.file.to_owned()),
            line: Some(self.line),
            keys: self.keys.iter().map(|key| (*key).to_owned()).collect(),
        };
        let level = recording.level_of(self.path, self.level);
        let activity = match level {
            Level::Off => NO_ACTIVITY,
            _ => recording.activity(&name).unwrap_or(NO_ACTIVITY),
        };
        let state =
            u64::from(level.code()) | u64::from(activity) << 8 | u64::from(recording.generation()) << 32;
        self.state.store(state, Ordering::Relaxed);
        Site { activity, level }
    }
}
