//! The same run once more, on paper, without the own time of one activity.

use super::Tree;

const NOT_YET: i64 = i64::MIN;

/// A node whose children are run one by one.
struct Frame {
    node: usize,
    /// The next child to start, and the next one to end, as places in the lists.
    next: usize,
    ended: usize,
    /// The end of what has ended, or the start of the node: as it was, and as it would be.
    was_ns: i64,
    would_ns: i64,
}

impl Tree {
    /// How long the run would take if the calls of an activity took no time of their own.
    pub(super) fn again_ns(&self, without: u32) -> i64 {
        let workflow = self.nodes.len() - 1;
        let mut would_end = vec![NOT_YET; self.nodes.len()];
        let mut open = vec![self.start(workflow, 0)];
        while let Some(frame) = open.last_mut() {
            let node = &self.nodes[frame.node];
            let children = self.children(frame.node);
            let child = (frame.next < children.end).then(|| self.by_start[frame.next] as usize);
            let until_ns = child.map_or(i64::MAX, |child| self.nodes[child].started_ns);
            self.pass(frame, until_ns, &would_end);
            let moment_ns = child.map_or(node.ended_ns, |child| self.nodes[child].started_ns);
            let gap_ns = if node.activity == without { 0 } else { moment_ns - frame.was_ns };
            let moment_ns = frame.would_ns + gap_ns;
            if let Some(child) = child {
                frame.next += 1;
                open.push(self.start(child, moment_ns));
            } else {
                would_end[frame.node] = moment_ns;
                open.pop();
            }
        }
        would_end[workflow]
    }

    fn start(&self, node: usize, would_ns: i64) -> Frame {
        let begin = self.begins[node] as usize;
        Frame { node, next: begin, ended: begin, was_ns: self.nodes[node].started_ns, would_ns }
    }

    /// Waits for the children that had ended by a moment.
    fn pass(&self, frame: &mut Frame, until_ns: i64, would_end: &[i64]) {
        while frame.ended < self.children(frame.node).end {
            let child = self.by_end[frame.ended] as usize;
            if self.nodes[child].ended_ns > until_ns || would_end[child] == NOT_YET {
                break;
            }
            frame.was_ns = frame.was_ns.max(self.nodes[child].ended_ns);
            frame.would_ns = frame.would_ns.max(would_end[child]);
            frame.ended += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use telemetry_store::{Run, RunCall};

    use super::super::{Bounds, Tree, find};

    /// Any calls below any others; most of them do not fit into each other.
    fn any(seed: u64) -> Run {
        let mut state = seed;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut run = Run::default();
        for number in 0..=next(60) as u32 {
            let caller = (number > 0 && next(4) > 0).then(|| next(u64::from(number)) as u32);
            let around = caller.map(|caller| run.calls[caller as usize]);
            let from = around.map_or(0, |around: RunCall| around.started_ns);
            let started_ns = from + next(50) as i64;
            let (activity, thread) = (next(5) as u32, next(3) as u32);
            let ended_ns = Some(started_ns + next(60) as i64);
            run.calls.push(RunCall { caller, activity, thread, started_ns, ended_ns, ..RunCall::default() });
            run.activities.insert(activity, activity.to_string());
        }
        run
    }

    #[test]
    fn a_run_from_which_nothing_is_taken_takes_as_long_as_it_did() {
        for seed in 0..500 {
            let run = any(seed);
            let bounds = Bounds::of(&run).unwrap();
            let tree = Tree::new(&run.calls, bounds);
            assert_eq!(tree.again_ns(1_000), bounds.ended_ns - bounds.started_ns, "{seed}");
        }
    }

    #[test]
    fn the_path_is_as_long_as_the_run_and_no_step_gains_more_than_it_has() {
        for seed in 0..500 {
            let run = any(seed);
            let path = find(&run, Bounds::of(&run).unwrap());
            assert_eq!(path.steps.iter().map(|step| step.own_ns).sum::<i64>(), path.total_ns, "{seed}");
            for step in &path.steps {
                assert!((0..=step.own_ns).contains(&step.gain_ns.unwrap()), "{seed} {step:?}");
            }
            assert!(path.parts.windows(2).all(|two| two[0].ended_ns == two[1].started_ns), "{seed}");
        }
    }
}
