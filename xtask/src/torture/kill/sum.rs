//! The figures of the campaign `kill`.

use serde_json::{Value, json};

use super::folder::KilledIn;
use crate::torture::check::Findings;
use crate::torture::round::Doing;

/// The figures of all kills so far.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) kills: usize,
    /// Of these, in folders on the disk.
    on_disk: usize,
    pub(super) accepted: u64,
    pub(super) lost: u64,
    duplicates: u64,
    integrity_errors: u64,
    interrupted: u64,
    torn: u64,
    recoveries_killed: usize,
    in_start: usize,
    in_commit: usize,
    with_spill: usize,
    in_hand_over: usize,
    /// Of each kill, the records that came out of the journal.
    recovered: Vec<u64>,
}

impl Sum {
    /// Adds a folder and what was found in it.
    pub(super) fn add(&mut self, killed: &KilledIn<'_>, found: &Findings, is_on_disk: bool) {
        killed.doing.iter().for_each(|doing| self.note(*doing));
        self.kills += killed.doing.len();
        self.on_disk += if is_on_disk { killed.doing.len() } else { 0 };
        self.recoveries_killed += killed.recoveries;
        self.accepted += found.figure("starts") + found.figure("ends");
        self.lost += found.figure("lost_starts") + found.figure("lost_ends");
        self.duplicates += found.figure("duplicates");
        self.integrity_errors += found.figure("integrity_errors");
        self.interrupted += found.figure("interrupted");
        self.torn += found.figure("torn");
        self.recovered.extend(found.recovered());
        // A program that was killed before it recorded has no recorder.
        self.recovered.resize(self.kills, 0);
        self.recovered.sort_unstable();
    }

    fn note(&mut self, doing: Doing) {
        self.in_start += usize::from(doing.start);
        self.in_commit += usize::from(doing.commit);
        self.with_spill += usize::from(doing.spill);
        self.in_hand_over += usize::from(doing.hand_over);
    }

    pub(super) fn median(&self) -> u64 {
        self.recovered.get(self.recovered.len() / 2).copied().unwrap_or(0)
    }

    pub(super) fn figures(&self) -> Value {
        json!({
            "kills": self.kills,
            "kills_on_disk": self.on_disk,
            "recoveries_killed": self.recoveries_killed,
            "kills_in_start": self.in_start,
            "kills_in_commit": self.in_commit,
            "kills_with_spill": self.with_spill,
            "kills_in_hand_over": self.in_hand_over,
            "accepted": self.accepted,
            "lost": self.lost,
            "duplicates": self.duplicates,
            "integrity_errors": self.integrity_errors,
            "interrupted_tasks": self.interrupted,
            "torn": self.torn,
            "recovered_sum": self.recovered.iter().sum::<u64>(),
            "recovered_min": self.recovered.first(),
            "recovered_median": self.median(),
            "recovered_max": self.recovered.last(),
        })
    }

    pub(super) fn line(&self, control: &Value) -> String {
        format!(
            "{} kills ({} on the disk, the others in memory; {} in a commit, {} with spilled records, {} in a hand-over of lanes, {} in a start) and {} of \
             recoveries, {} accepted, {} lost, {} duplicates, {} integrity errors, {} recovered at \
             the median kill; a plain queue lost {} of {} in {} kills",
            self.kills,
            self.on_disk,
            self.in_commit,
            self.with_spill,
            self.in_hand_over,
            self.in_start,
            self.recoveries_killed,
            self.accepted,
            self.lost,
            self.duplicates,
            self.integrity_errors,
            self.median(),
            control["lost"],
            control["accepted"],
            control["kills"],
        )
    }
}
