//! What stands out in a report, in sentences.

use super::Report;
use super::activity::ActivityReport;
use crate::duration;

const MEBIBYTE: i64 = 1 << 20;
/// From here on, an activity is said to read, write, send or grow much.
const MUCH_BYTES: i64 = 64 * MEBIBYTE;
/// So many seconds of processor time in a second are a busy thread.
const BUSY: f64 = 0.8;
const IDLE: f64 = 0.2;
/// A median is told from the longest calls by this factor.
const UNEVEN: f64 = 5.0;
/// Sentences about single activities are of the most expensive ones; each has its own further below.
const ACTIVITIES_MAX: usize = 3;

pub(super) fn find(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let calls: u64 = report.activities.iter().map(|activity| activity.calls).sum();
    let errors: u64 = report.activities.iter().map(|activity| activity.errors).sum();
    if errors > 0 {
        let worst = report.activities.iter().max_by_key(|activity| activity.errors);
        let worst = worst.map(|activity| activity.activity_id.clone()).unwrap_or_default();
        found.push(format!("{errors} of {calls} calls failed, most of them of {worst}."));
    }
    if let Some(path) = &report.critical_path {
        if let Some(step) = path.steps.iter().find(|step| step.share >= 0.25) {
            let percent = step.share * 100.0;
            found.push(match &step.activity_id {
                Some(name) => format!("{percent:.0} % of the critical path is {name}'s own time."),
                None => format!("{percent:.0} % of the critical path is outside of calls."),
            });
        }
        if path.parallelism >= 1.5 {
            found.push(format!("{:.1} calls worked at once on average.", path.parallelism));
        }
    }
    for activity in report.activities.iter().take(ACTIVITIES_MAX) {
        for sentence in insights(activity) {
            found.push(format!("{}: {sentence}", activity.activity_id));
        }
    }
    found
}

/// What stands out in an activity.
pub(super) fn insights(activity: &ActivityReport) -> Vec<String> {
    let mut found = Vec::new();
    let used = &activity.resources;
    let span_s = activity.last_ended_at.map_or(0.0, |ended_at| ended_at - activity.first_started_at);
    if let (Some(median), Some(max)) = (activity.median_ns, activity.max_ns)
        && activity.outliers > 0
        && median > 0.0
        && max / median >= UNEVEN
    {
        let (max, median) = (duration(max as u64), duration(median as u64));
        found.push(format!("uneven, the longest call took {max} and half of them at most {median}."));
    }
    if let Some(load) = used.load().filter(|_| span_s > 0.0) {
        if load >= BUSY {
            found.push(format!(
                "busy, the process used {load:.1} s of processor time in each of its seconds."
            ));
        } else if load <= IDLE {
            found.push(format!(
                "mostly waiting, the process used {load:.2} s of processor time in each of its seconds."
            ));
        }
    }
    let much = [
        (sum(used.process_read_bytes, used.process_write_bytes), "read and written by the process meanwhile"),
        (
            sum(used.machine_net_sent_bytes, used.machine_net_recv_bytes),
            "sent and received by the machine meanwhile",
        ),
        (used.process_rss_diff_bytes, "more memory of the process after its calls than before them, in sum"),
    ];
    for (count, what) in much {
        if let Some(count) = count.filter(|count| *count >= MUCH_BYTES) {
            found.push(format!("{} {what}.", super::sections::bytes(count)));
        }
    }
    if activity.errors > 0 {
        found.push(format!("{} of {} calls failed.", activity.errors, activity.calls));
    }
    found
}

fn sum(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    Some(one.unwrap_or(0) + other.unwrap_or(0)).filter(|_| one.or(other).is_some())
}
