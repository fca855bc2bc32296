//! The way back from the end of a run to its start.

use serde::Serialize;

use super::Tree;

/// The activity of the workflow itself.
pub(super) const WORKFLOW: u32 = u32::MAX;

/// A stretch of the path in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Part {
    /// The place of the call in the run; none for the workflow outside of its calls.
    pub call: Option<usize>,
    /// When the path enters it, in unix nanoseconds.
    pub started_ns: i64,
    /// When the path leaves it.
    pub ended_ns: i64,
    /// Whether a call on another thread had ended just before.
    pub is_waiting: bool,
}

/// A node on the way, how far back it is followed, and which of its children are still to be looked at.
struct Frame {
    node: usize,
    moment_ns: i64,
    children: std::ops::Range<usize>,
}

impl Tree {
    /// The parts of the path in the order of time. Deep trees are why this is no recursion.
    pub(super) fn walk(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut open = vec![self.enter(self.nodes.len() - 1)];
        while let Some(frame) = open.last_mut() {
            let last = frame.children.clone().rev();
            let child = last.into_iter().find(|&place| self.ended_ns(place) <= frame.moment_ns);
            let node = &self.nodes[frame.node];
            let started_ns = child.map_or(node.started_ns, |place| self.ended_ns(place));
            let is_waiting = child.is_some_and(|place| self.child(place).thread != node.thread);
            if started_ns < frame.moment_ns {
                let call = (node.activity != WORKFLOW).then_some(frame.node);
                parts.push(Part { call, started_ns, ended_ns: frame.moment_ns, is_waiting });
            }
            let Some(place) = child else {
                open.pop();
                continue;
            };
            frame.children.end = place;
            frame.moment_ns = self.child(place).started_ns;
            open.push(self.enter(self.by_end[place] as usize));
        }
        parts.reverse();
        parts
    }

    fn enter(&self, node: usize) -> Frame {
        Frame { node, moment_ns: self.nodes[node].ended_ns, children: self.children(node) }
    }

    fn child(&self, place: usize) -> &super::Node {
        &self.nodes[self.by_end[place] as usize]
    }

    fn ended_ns(&self, place: usize) -> i64 {
        self.child(place).ended_ns
    }
}
