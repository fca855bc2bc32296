//! The critical path of a run: at each moment, what the run was waiting for.
//!
//! A call belongs to the nearest call above it that ended after it did, or else to the workflow: only that can
//! have waited for it. From the end backwards, the path is in the call that ended last before the moment; where
//! nothing was running that had ended by then, in the caller itself. So the parts of the path follow each other
//! without gap, and together they are as long as the run.
//!
//! What a step would gain is found by running the calls again on paper: nothing starts before what had ended
//! when it started in truth, and every gap stays as long as it was.

mod again;
mod walk;

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use telemetry_store::{Run, RunCall};

pub use walk::Part;

/// How many activities of the path are tried without their own time.
const TRIED_MAX: usize = 40;

/// The longest chain through a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CriticalPath {
    /// How long the run took, and the path takes.
    pub total_ns: i64,
    /// The time of all calls without that of the calls below them.
    pub work_ns: i64,
    /// How many calls worked at once, on average.
    pub parallelism: f64,
    /// Calls on the path.
    pub calls: usize,
    /// What the path is in, in the order of time.
    #[serde(skip)]
    pub parts: Vec<Part>,
    /// The path by activity, the longest first.
    pub steps: Vec<Step>,
}

/// What an activity has of the path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The activity; none for the workflow outside of its calls.
    pub activity_id: Option<String>,
    /// Its calls on the path.
    pub calls: usize,
    /// How long the path is in these calls themselves, and not in calls of theirs.
    pub own_ns: i64,
    /// Of this, the time after a call on another thread had ended: a hand-over, or a wait.
    pub waiting_ns: i64,
    /// Its share of the path.
    pub share: f64,
    /// By how much the run would be shorter if all calls of the activity took no time of their own.
    pub gain_ns: Option<i64>,
}

/// The bounds of a run: a workflow, or a call and what is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// When it started, in unix nanoseconds.
    pub started_ns: i64,
    /// When it ended.
    pub ended_ns: i64,
}

impl Bounds {
    /// Those of a workflow, widened to all of its calls; none without a start.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        let starts = run.calls.iter().map(|call| call.started_ns).chain(run.started_ns);
        let ends = run.calls.iter().map(|call| call.ended_ns.unwrap_or(call.started_ns));
        let started_ns = starts.min()?;
        Some(Self {
            started_ns,
            ended_ns: ends.chain(run.ended_ns).max().unwrap_or(started_ns).max(started_ns),
        })
    }
}

/// A call with what it needs to be followed; one that still runs ends with the run.
#[derive(Clone, Copy, Debug)]
struct Node {
    started_ns: i64,
    ended_ns: i64,
    activity: u32,
    thread: (u32, u32),
}

/// Calls below the one that can have waited for them; the last node is the workflow.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    /// Where the children of each node begin in the lists, and one more for the end.
    begins: Vec<u32>,
    by_start: Vec<u32>,
    by_end: Vec<u32>,
}

/// Finds the critical path.
#[must_use]
pub fn find(run: &Run, bounds: Bounds) -> CriticalPath {
    let tree = Tree::new(&run.calls, bounds);
    let parts = tree.walk();
    let work_ns = tree.work_ns();
    let total_ns = bounds.ended_ns - bounds.started_ns;
    let mut steps = steps(&tree, &parts, run, total_ns);
    for step in steps.iter_mut().take(TRIED_MAX) {
        let without = run.activities.iter().find(|(_, name)| Some(*name) == step.activity_id.as_ref());
        let without =
            if step.activity_id.is_none() { Some(walk::WORKFLOW) } else { without.map(|(key, _)| *key) };
        step.gain_ns = without.map(|activity| total_ns - tree.again_ns(activity));
    }
    CriticalPath {
        total_ns,
        work_ns,
        parallelism: if total_ns > 0 { work_ns as f64 / total_ns as f64 } else { 0.0 },
        calls: steps.iter().filter(|step| step.activity_id.is_some()).map(|step| step.calls).sum(),
        parts,
        steps,
    }
}

fn steps(tree: &Tree, parts: &[Part], run: &Run, total_ns: i64) -> Vec<Step> {
    let mut steps: HashMap<u32, Step> = HashMap::new();
    let mut calls: HashMap<u32, HashSet<usize>> = HashMap::new();
    for part in parts {
        let activity = tree.nodes[part.call.unwrap_or(tree.nodes.len() - 1)].activity;
        let step = steps.entry(activity).or_default();
        step.own_ns += part.ended_ns - part.started_ns;
        step.waiting_ns += if part.is_waiting { part.ended_ns - part.started_ns } else { 0 };
        calls.entry(activity).or_default().extend(part.call);
    }
    let finish = |(activity, step): (u32, Step)| Step {
        activity_id: (activity != walk::WORKFLOW)
            .then(|| run.activities.get(&activity).cloned().unwrap_or_else(|| "–".to_owned())),
        calls: calls.get(&activity).map_or(0, HashSet::len),
        share: if total_ns > 0 { step.own_ns as f64 / total_ns as f64 } else { 0.0 },
        ..step
    };
    let mut steps: Vec<Step> = steps.into_iter().map(finish).collect();
    steps.sort_by(|one, other| {
        other.own_ns.cmp(&one.own_ns).then_with(|| one.activity_id.cmp(&other.activity_id))
    });
    steps
}

impl Tree {
    fn new(calls: &[RunCall], bounds: Bounds) -> Self {
        let node = |call: &RunCall| Node {
            started_ns: call.started_ns,
            ended_ns: call.ended_ns.unwrap_or(bounds.ended_ns).max(call.started_ns),
            activity: call.activity,
            thread: (call.recorder, call.thread),
        };
        let mut nodes: Vec<Node> = calls.iter().map(node).collect();
        let workflow = nodes.len();
        let (started_ns, ended_ns) = (bounds.started_ns, bounds.ended_ns);
        // The thread of the workflow is that of its first call.
        let thread = nodes.iter().min_by_key(|node| node.started_ns).map_or((0, 0), |node| node.thread);
        nodes.push(Node { started_ns, ended_ns, activity: walk::WORKFLOW, thread });
        let owners: Vec<u32> =
            (0..workflow).map(|number| waiting(calls, &nodes, number).unwrap_or(workflow) as u32).collect();
        let list = |order: &dyn Fn(&Node) -> (i64, i64)| {
            let mut list: Vec<u32> = (0..workflow as u32).collect();
            list.sort_unstable_by_key(|&child| {
                (owners[child as usize], order(&nodes[child as usize]), child)
            });
            list
        };
        let by_start = list(&|node| (node.started_ns, node.ended_ns));
        let by_end = list(&|node| (node.ended_ns, node.started_ns));
        let mut begins = vec![0; nodes.len() + 1];
        for &owner in &owners {
            begins[owner as usize + 1] += 1;
        }
        for number in 1..begins.len() {
            begins[number] += begins[number - 1];
        }
        Self { nodes, begins, by_start, by_end }
    }

    fn children(&self, number: usize) -> std::ops::Range<usize> {
        self.begins[number] as usize..self.begins[number + 1] as usize
    }

    /// The time of all calls without that of the calls below them, however these overlap.
    fn work_ns(&self) -> i64 {
        let calls = &self.nodes[..self.nodes.len() - 1];
        calls
            .iter()
            .enumerate()
            .map(|(number, node)| node.ended_ns - node.started_ns - self.covered_ns(number))
            .sum()
    }

    /// How long at least one child of a node was running.
    fn covered_ns(&self, number: usize) -> i64 {
        let (mut covered_ns, mut until_ns) = (0, self.nodes[number].started_ns);
        for &child in &self.by_start[self.children(number)] {
            let child = &self.nodes[child as usize];
            covered_ns += (child.ended_ns - child.started_ns.max(until_ns)).max(0);
            until_ns = until_ns.max(child.ended_ns);
        }
        covered_ns
    }
}

/// How far up somebody is looked for who waited for a call.
const ABOVE_MAX: usize = 10_000;

/// The nearest call above that was there from the start of a call to its end.
fn waiting(calls: &[RunCall], nodes: &[Node], number: usize) -> Option<usize> {
    let caller = |number: usize| calls[number].caller.map(|caller| caller as usize);
    // A circle, which only a damaged file has, must end.
    let mut above = std::iter::successors(caller(number), |above| caller(*above)).take(ABOVE_MAX);
    let (started_ns, ended_ns) = (nodes[number].started_ns, nodes[number].ended_ns);
    above.find(|&above| {
        above != number && nodes[above].started_ns <= started_ns && nodes[above].ended_ns >= ended_ns
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls as `(caller, activity, thread, start, end)`.
    pub(super) fn run(calls: &[(Option<u32>, u32, u32, i64, i64)]) -> Run {
        let mut run = Run::default();
        for &(caller, activity, thread, started_ns, ended_ns) in calls {
            let ended_ns = Some(ended_ns);
            run.calls.push(RunCall { caller, activity, thread, started_ns, ended_ns, ..RunCall::default() });
            run.activities.insert(activity, format!("activity {activity}"));
        }
        run
    }

    fn check(
        calls: &[(Option<u32>, u32, u32, i64, i64)],
        expected: &[(&str, i64, i64, i64)],
    ) -> CriticalPath {
        let run = run(calls);
        let path = find(&run, Bounds::of(&run).unwrap());
        let steps: Vec<(&str, i64, i64, i64)> = path
            .steps
            .iter()
            .map(|step| {
                let name = step.activity_id.as_deref().unwrap_or("workflow");
                (name, step.own_ns, step.waiting_ns, step.gain_ns.unwrap())
            })
            .collect();
        assert_eq!(steps, expected);
        assert_eq!(path.steps.iter().map(|step| step.own_ns).sum::<i64>(), path.total_ns);
        path
    }

    #[test]
    fn calls_one_after_the_other_are_all_on_the_path() {
        let calls = [(None, 0, 1, 0, 100), (Some(0), 1, 1, 10, 40), (Some(0), 2, 1, 50, 90)];
        let expected = [("activity 2", 40, 0, 40), ("activity 0", 30, 0, 30), ("activity 1", 30, 0, 30)];
        assert_eq!(check(&calls, &expected).work_ns, 100);
    }

    #[test]
    fn of_parallel_calls_the_last_one_counts_and_its_gain_ends_at_the_next() {
        let calls = [(None, 0, 1, 0, 100), (Some(0), 1, 2, 0, 90), (Some(0), 2, 3, 0, 70)];
        let path = check(&calls, &[("activity 1", 90, 0, 20), ("activity 0", 10, 10, 10)]);
        assert_eq!((path.work_ns, path.total_ns), (170, 100));
    }

    #[test]
    fn a_call_that_outlives_its_caller_belongs_to_whoever_was_there() {
        let calls = [(None, 0, 1, 0, 100), (Some(0), 1, 1, 0, 10), (Some(1), 2, 2, 5, 95)];
        check(&calls, &[("activity 2", 90, 0, 85), ("activity 0", 10, 5, 10)]);
    }

    #[test]
    fn what_is_outside_of_calls_is_the_workflow() {
        let run = run(&[(None, 0, 1, 10, 20)]);
        let path = find(&run, Bounds { started_ns: 0, ended_ns: 50 });
        assert_eq!(path.steps[0].activity_id, None);
        assert_eq!((path.steps[0].own_ns, path.steps[0].gain_ns), (40, Some(40)));
    }

    #[test]
    fn circles_end() {
        let run = run(&[(Some(1), 0, 1, 0, 10), (Some(0), 1, 1, 0, 10)]);
        assert_eq!(find(&run, Bounds { started_ns: 0, ended_ns: 10 }).total_ns, 10);
    }
}
