//! The entries of a journal's name table, read once each.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use telemetry_journal::Tap;

use crate::record::{ActivityName, NameKind, ProcessName, SeriesName, ThreadName};

/// What was read of the name table so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    activities: HashMap<u32, Option<ActivityName>>,
    threads: HashMap<u32, Option<ThreadName>>,
    series: HashMap<u32, Option<SeriesName>>,
}

impl Names {
    pub(super) fn activity(&mut self, tap: &Tap, number: u32) -> Option<&ActivityName> {
        remembered(&mut self.activities, tap, number, NameKind::Activity)
    }

    pub(super) fn thread(&mut self, tap: &Tap, number: u32) -> Option<&ThreadName> {
        remembered(&mut self.threads, tap, number, NameKind::Thread)
    }

    pub(super) fn series(&mut self, tap: &Tap, number: u32) -> Option<&SeriesName> {
        remembered(&mut self.series, tap, number, NameKind::Series)
    }
}

/// What the first entry says about the process.
pub(super) fn process(tap: &Tap) -> Option<ProcessName> {
    read(tap, 0, NameKind::Process)
}

fn remembered<'a, T: DeserializeOwned>(
    known: &'a mut HashMap<u32, Option<T>>,
    tap: &Tap,
    number: u32,
    kind: NameKind,
) -> Option<&'a T> {
    known.entry(number).or_insert_with(|| read(tap, number, kind)).as_ref()
}

fn read<T: DeserializeOwned>(tap: &Tap, number: u32, kind: NameKind) -> Option<T> {
    let name = tap.name(number).filter(|name| name.kind == kind.code())?;
    serde_json::from_slice(&name.bytes).ok()
}
