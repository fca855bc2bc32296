//! What was used while the calls of an activity ran, by the difference between their two readings.

use std::collections::HashMap;

use serde::Serialize;
use telemetry_store::{Reader, Reading, RunCall, StoreError};

/// In less time than this, processor time is too coarse to say anything.
const LOAD_NS_MIN: i64 = 10_000_000;
/// Readings that are kept; calls near each other share them.
const KEPT_MAX: usize = 4_096;

/// Sums over the calls with two different readings. Processes and machines are counted as a whole, so what other
/// threads used meanwhile is in it, and calls that ran at once count the same twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ActivityResources {
    /// Calls with two different readings.
    pub measured: u64,
    /// How long these took together.
    pub measured_ns: i64,
    /// How far apart their readings are, together: calls near each other share readings, so it may be more.
    pub readings_ns: i64,
    /// Processor time of the process.
    pub process_cpu_s: Option<f64>,
    /// Growth of the process's memory.
    pub process_rss_diff_bytes: Option<i64>,
    /// The highest memory of the process at an end of a call.
    pub process_rss_max_bytes: Option<i64>,
    /// Read by the process.
    pub process_read_bytes: Option<i64>,
    /// Written by the process.
    pub process_write_bytes: Option<i64>,
    /// Switches between threads.
    pub process_ctx_switches: Option<i64>,
    /// Growth of the memory in use on the machine.
    pub machine_memory_used_diff_bytes: Option<i64>,
    /// Read from the machine's disks.
    pub machine_disk_read_bytes: Option<i64>,
    /// Written to the machine's disks.
    pub machine_disk_write_bytes: Option<i64>,
    /// Sent by the machine.
    pub machine_net_sent_bytes: Option<i64>,
    /// Received by the machine.
    pub machine_net_recv_bytes: Option<i64>,
}

/// Adds calls up by activity.
pub(super) struct Meter<'reader> {
    reader: &'reader Reader,
    kept: HashMap<i64, Option<Reading>>,
    sums: HashMap<u32, ActivityResources>,
}

impl<'reader> Meter<'reader> {
    pub(super) fn new(reader: &'reader Reader) -> Self {
        Self { reader, kept: HashMap::new(), sums: HashMap::new() }
    }

    pub(super) fn add(&mut self, call: &RunCall) -> Result<(), StoreError> {
        let (Some(start), Some(end), Some(ended_ns)) =
            (call.start_snapshot, call.end_snapshot, call.ended_ns)
        else {
            return Ok(());
        };
        if start == end {
            return Ok(());
        }
        let (Some(before), Some(after)) = (self.reading(start)?, self.reading(end)?) else { return Ok(()) };
        let sum = self.sums.entry(call.activity).or_default();
        sum.measured += 1;
        let call_ns = ended_ns - call.started_ns;
        sum.measured_ns += call_ns;
        sum.readings_ns +=
            difference(before.taken_ns, after.taken_ns).filter(|ns| *ns > 0).unwrap_or(call_ns);
        sum.add(&before, &after);
        Ok(())
    }

    fn reading(&mut self, key: i64) -> Result<Option<Reading>, StoreError> {
        if let Some(known) = self.kept.get(&key) {
            return Ok(known.clone());
        }
        if self.kept.len() >= KEPT_MAX {
            self.kept.clear();
        }
        let reading = self.reader.reading(key)?;
        self.kept.insert(key, reading.clone());
        Ok(reading)
    }

    pub(super) fn finish(self) -> HashMap<u32, ActivityResources> {
        self.sums
    }
}

impl ActivityResources {
    /// Seconds of processor time in a second, between the readings: that is what they tell of, however short the calls.
    pub(super) fn load(&self) -> Option<f64> {
        let cpu_s = self.process_cpu_s.filter(|_| self.readings_ns > LOAD_NS_MIN);
        cpu_s.map(|cpu_s| cpu_s / (self.readings_ns as f64 / 1e9))
    }

    fn add(&mut self, before: &Reading, after: &Reading) {
        // A counter that went back restarted, and tells nothing.
        let cpu_s = difference(before.process_cpu_s, after.process_cpu_s).filter(|s| *s >= 0.0);
        self.process_cpu_s = sum(self.process_cpu_s, cpu_s);
        let counters: [(&mut Option<i64>, Option<i64>, Option<i64>); 7] = [
            (&mut self.process_read_bytes, before.process_read_bytes, after.process_read_bytes),
            (&mut self.process_write_bytes, before.process_write_bytes, after.process_write_bytes),
            (&mut self.process_ctx_switches, before.process_ctx_switches, after.process_ctx_switches),
            (&mut self.machine_disk_read_bytes, before.disk_read_bytes, after.disk_read_bytes),
            (&mut self.machine_disk_write_bytes, before.disk_write_bytes, after.disk_write_bytes),
            (&mut self.machine_net_sent_bytes, before.net_sent_bytes, after.net_sent_bytes),
            (&mut self.machine_net_recv_bytes, before.net_recv_bytes, after.net_recv_bytes),
        ];
        for (total, from, to) in counters {
            *total = sum(*total, difference(from, to).filter(|count| *count >= 0));
        }
        let grown = difference(before.process_rss_bytes, after.process_rss_bytes);
        self.process_rss_diff_bytes = sum(self.process_rss_diff_bytes, grown);
        let grown = difference(before.memory_used_bytes, after.memory_used_bytes);
        self.machine_memory_used_diff_bytes = sum(self.machine_memory_used_diff_bytes, grown);
        let highest = before.process_rss_bytes.max(after.process_rss_bytes);
        self.process_rss_max_bytes = self.process_rss_max_bytes.max(highest);
    }
}

fn difference<T: std::ops::Sub<Output = T>>(from: Option<T>, to: Option<T>) -> Option<T> {
    Some(to? - from?)
}

fn sum<T: std::ops::Add<Output = T> + Copy>(total: Option<T>, more: Option<T>) -> Option<T> {
    match (total, more) {
        (Some(total), Some(more)) => Some(total + more),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_calls_do_not_make_a_load_of_what_was_used_around_them() {
        let mut used = ActivityResources { process_cpu_s: Some(0.17), ..ActivityResources::default() };
        (used.measured_ns, used.readings_ns) = (8_000_000, 100_000_000);
        assert_eq!(used.load().map(|load| (load * 10.0).round()), Some(17.0));
        used.readings_ns = 1_000_000;
        assert_eq!(used.load(), None);
    }
}
