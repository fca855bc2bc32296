//! The call tree with calls of one activity by one caller in one line.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use telemetry_core::status::Status;
use telemetry_export::tree::{Line, draw};
use telemetry_store::TreeRow;
use unicode_width::UnicodeWidthStr;

use crate::ink::Ink;
use crate::text::{self, visible};

/// Durations stand in one column, unless names are longer than this.
const NAME_WIDTH_MAX: usize = 60;
const BRANCH_WIDTH: usize = 3;

/// Calls of one activity by one caller.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Calls {
    depth: usize,
    activity_id: Option<String>,
    #[serde(rename = "calls")]
    count: u64,
    statuses: BTreeMap<String, u64>,
    total_ns: u64,
    /// Calls further down, which are not shown.
    below: u64,
    /// The first of them.
    task_id: String,
}

#[derive(Debug)]
struct Node {
    calls: Calls,
    children: Vec<usize>,
}

/// Puts repeated calls together, down to a depth; 0 is all of it.
pub(super) fn collapse(rows: &[TreeRow], depth_max: usize) -> Vec<Calls> {
    let depth_max = if depth_max == 0 { usize::MAX } else { depth_max };
    let mut nodes: Vec<Node> = Vec::new();
    let mut roots: Vec<usize> = Vec::new();
    let mut numbers: HashMap<(Option<usize>, Option<&str>), usize> = HashMap::new();
    let mut path: Vec<usize> = Vec::new();
    for row in rows {
        let depth = usize::try_from(row.indent).unwrap_or(0);
        path.truncate(depth);
        let caller = path.last().copied();
        if depth >= depth_max {
            if let Some(caller) = caller {
                nodes[caller].calls.below += 1;
            }
            continue;
        }
        let number = *numbers.entry((caller, row.activity_id.as_deref())).or_insert_with(|| {
            let number = nodes.len();
            nodes.push(Node { calls: Calls::first(row, depth), children: Vec::new() });
            caller.map_or(&mut roots, |caller| &mut nodes[caller].children).push(number);
            number
        });
        nodes[number].calls.add(row);
        path.push(number);
    }
    depth_first(nodes, roots)
}

fn depth_first(mut nodes: Vec<Node>, roots: Vec<usize>) -> Vec<Calls> {
    let mut open: Vec<usize> = roots.into_iter().rev().collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(number) = open.pop() {
        order.push(std::mem::take(&mut nodes[number].calls));
        open.extend(nodes[number].children.iter().rev());
    }
    order
}

impl Calls {
    fn first(row: &TreeRow, depth: usize) -> Self {
        Self { depth, activity_id: row.activity_id.clone(), task_id: row.task_id.clone(), ..Self::default() }
    }

    fn add(&mut self, row: &TreeRow) {
        self.count += 1;
        *self.statuses.entry(row.status.clone()).or_default() += 1;
        self.total_ns += row.duration_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
    }

    fn name(&self) -> String {
        let activity = visible(self.activity_id.as_deref().unwrap_or("–"));
        if self.count > 1 { format!("{activity} ×{}", self.count) } else { activity }
    }

    fn width(&self) -> usize {
        self.depth * BRANCH_WIDTH + self.name().width()
    }

    fn remarks(&self, ink: Ink) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.count > 1 {
            let mean = telemetry_export::duration(self.total_ns / self.count);
            remarks.push(ink.dim(&format!("mean {mean}")));
        }
        for (status, count) in self.statuses.iter().filter(|(status, _)| *status != Status::Finished.as_str())
        {
            let count = if self.count > 1 { format!("{count} ") } else { String::new() };
            remarks.push(format!("{count}{}", ink.status(status)));
        }
        if self.below > 0 {
            remarks.push(ink.dim(&format!("{} below", text::count(self.below, "call"))));
        }
        remarks
    }

    fn line(&self, ink: Ink, width: usize) -> Line {
        let name = text::pad(&self.name(), width.saturating_sub(self.depth * BRANCH_WIDTH));
        let duration = telemetry_export::duration(self.total_ns);
        let mut parts = vec![format!("{name}  {duration:>10}")];
        parts.extend(self.remarks(ink));
        Line { depth: self.depth, text: parts.join("  ") }
    }
}

pub(super) fn draw_calls(calls: &[Calls], ink: Ink) -> String {
    let width = calls.iter().map(Calls::width).max().unwrap_or(0).min(NAME_WIDTH_MAX);
    let lines: Vec<Line> = calls.iter().map(|calls| calls.line(ink, width)).collect();
    draw(&lines)
}
