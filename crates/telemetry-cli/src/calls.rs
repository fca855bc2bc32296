//! Lines of a call tree on a screen.

use telemetry_core::status::Status;
use telemetry_export::tree::{Line, draw};
use telemetry_store::CallNode;
use unicode_width::UnicodeWidthStr;

use crate::ink::Ink;
use crate::text::{self, visible};

/// Durations stand in one column, unless names are longer than this.
const NAME_WIDTH_MAX: usize = 60;
const BRANCH_WIDTH: usize = 3;
/// A bar of this width is the whole time.
const BAR_WIDTH: usize = 20;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// How a tree is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawing {
    pub(crate) ink: Ink,
    /// The time that a full bar stands for; none for no bars.
    pub(crate) whole_ns: Option<u64>,
}

/// Draws the lines of a tree.
pub(crate) fn draw_calls(calls: &[CallNode], drawing: Drawing) -> String {
    let width = calls.iter().map(width).max().unwrap_or(0).min(NAME_WIDTH_MAX);
    let lines: Vec<Line> = calls.iter().map(|calls| line(calls, drawing, width)).collect();
    draw(&lines)
}

fn line(calls: &CallNode, drawing: Drawing, width: usize) -> Line {
    let name = text::pad(&name(calls), width.saturating_sub(calls.depth * BRANCH_WIDTH));
    let duration = telemetry_export::duration(calls.total_ns);
    let mut parts = vec![format!("{name}  {duration:>10}")];
    parts.extend(drawing.whole_ns.map(|whole_ns| drawing.ink.live(&bar(calls.total_ns, whole_ns))));
    parts.extend(remarks(calls, drawing.ink));
    Line { depth: calls.depth, text: parts.join("  ").trim_end().to_owned() }
}

fn name(calls: &CallNode) -> String {
    let activity = visible(calls.activity_id.as_deref().unwrap_or("–"));
    if calls.calls > 1 { format!("{activity} ×{}", calls.calls) } else { activity }
}

fn width(calls: &CallNode) -> usize {
    calls.depth * BRANCH_WIDTH + name(calls).width()
}

fn remarks(calls: &CallNode, ink: Ink) -> Vec<String> {
    let mut remarks = Vec::new();
    if calls.calls > 1 {
        let mean = telemetry_export::duration(calls.total_ns / calls.calls);
        remarks.push(ink.dim(&format!("mean {mean}")));
    }
    for (status, count) in calls.statuses.iter().filter(|(status, _)| *status != Status::Finished.as_str()) {
        let count = if calls.calls > 1 { format!("{count} ") } else { String::new() };
        remarks.push(format!("{count}{}", ink.status(status)));
    }
    if calls.below > 0 {
        remarks.push(ink.dim(&format!("{} below", text::count(calls.below, "call"))));
    }
    remarks
}

/// A share of the whole, in eighths of a character; parallel calls may take longer than it.
fn bar(ns: u64, whole_ns: u64) -> String {
    let eighths = (ns as f64 / whole_ns.max(1) as f64 * (BAR_WIDTH * 8) as f64).round() as usize;
    let eighths = eighths.min(BAR_WIDTH * 8);
    let bar = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    text::pad(&bar, BAR_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_shares() {
        let bars = [
            (0, ""),
            (500, "██████████"),
            (1_000, "████████████████████"),
            (9_000, "████████████████████"),
            (7, "▏"),
        ];
        for (ns, expected) in bars {
            assert_eq!(bar(ns, 1_000).trim_end(), expected, "{ns}");
        }
        assert_eq!(bar(1, 0).trim_end(), "████████████████████");
    }
}
