//! Tracks on which slices nest: a thread's own, and further ones for futures that overlap on it.

use std::collections::HashMap;

use telemetry_store::SpanRow;

/// A slice that is open at the moment up to which slices are placed.
#[derive(Debug)]
struct Open {
    task_id: String,
    ended_ns: i64,
}

#[derive(Debug)]
struct Track {
    id: u64,
    open: Vec<Open>,
}

/// The tracks of all threads.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    threads: HashMap<(i64, i64), Vec<Track>>,
    count: u64,
}

/// Where a slice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) track: u64,
    /// Which of its thread's tracks, counted from 1.
    pub(super) number: usize,
    /// Whether nothing was on it before.
    pub(super) is_new: bool,
}

impl Tracks {
    /// Places a slice; slices come in the order of their starts, callers before what they called.
    pub(super) fn place(&mut self, span: &SpanRow, ended_ns: i64) -> Placed {
        let tracks = self.threads.entry((span.recorder, span.thread)).or_default();
        for track in &mut *tracks {
            while track
                .open
                .last()
                .is_some_and(|open| open.ended_ns <= span.started_ns && !is_parent(open, span))
            {
                track.open.pop();
            }
        }
        let fits = |track: &Track| track.open.last().is_none_or(|open| open.ended_ns >= ended_ns);
        let is_below_parent = |track: &Track| track.open.last().is_some_and(|open| is_parent(open, span));
        let index = tracks
            .iter()
            .position(|track| is_below_parent(track) && fits(track))
            .or_else(|| tracks.iter().position(|track| track.open.is_empty()))
            .or_else(|| tracks.iter().position(|track| fits(track) && span.parent_task_id.is_none()));
        let index = index.unwrap_or(tracks.len());
        let is_new = index == tracks.len();
        if is_new {
            self.count += 1;
            tracks.push(Track { id: self.count, open: Vec::new() });
        }
        tracks[index].open.push(Open { task_id: span.task_id.clone(), ended_ns });
        Placed { track: tracks[index].id, number: index + 1, is_new }
    }
}

/// A child of no duration may begin when its caller ends.
fn is_parent(open: &Open, span: &SpanRow) -> bool {
    span.parent_task_id.as_ref() == Some(&open.task_id) && open.ended_ns >= span.started_ns
}
