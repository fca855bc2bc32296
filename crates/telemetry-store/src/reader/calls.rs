//! The calls of a workflow, or below a task, held in a few bytes each: what a million of them add up to.
//!
//! A call is known by its row's number until it is shown; names and ids are looked up for what is shown only.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use telemetry_core::status::Status;

use super::Reader;
use super::resolve::Found;
use super::rows::{RelatedTask, Row, StatusCount};
use crate::error::StoreError;

/// One more than the highest code of a status.
const STATUS_CODES: usize = 9;
/// No caller among the calls.
const NOBODY: u32 = u32::MAX;

/// The calls of a workflow or below a task, that task included, in the order of their rows.
#[derive(Debug)]
pub struct Calls<'reader> {
    reader: &'reader Reader,
    list: Vec<Call>,
    /// Positions, in the order in which a screen shows them, with the number of calls above each.
    order: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    key: i64,
    started_ns: i64,
    /// Below zero where it is not known.
    duration_ns: i64,
    caller: u32,
    activity: u32,
    status: u8,
}

/// Which part of a call tree is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeLimits {
    /// So many levels; 0 for all.
    pub depth_max: usize,
    /// Lines that took less together are left out.
    pub duration_ns_min: u64,
    /// Every call has a line of its own, instead of one for all calls of an activity by one caller.
    pub is_each: bool,
}

/// A line of the call tree: the calls of one activity by one caller.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallNode {
    /// How many lines are above it.
    pub depth: usize,
    /// What was called.
    pub activity_id: Option<String>,
    /// How often.
    pub calls: u64,
    /// How many of them stand how.
    pub statuses: BTreeMap<String, u64>,
    /// How long they took together.
    pub total_ns: u64,
    /// The longest of them.
    pub max_ns: u64,
    /// Calls further down, which are not shown.
    pub below: u64,
    /// The first of them.
    pub task_id: String,
    #[serde(skip)]
    first: u32,
    #[serde(skip)]
    activity: u32,
    /// By the code of the status: a text for each of a million calls would cost more than reading them.
    #[serde(skip)]
    counts: [u64; STATUS_CODES],
}

/// Calls that failed in one way, without being told to by a call of theirs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FailureGroup {
    /// What was called.
    pub activity_id: Option<String>,
    /// `err` or `panic`.
    pub error_kind: Option<String>,
    /// What it said.
    pub message: Option<String>,
    /// How many of them.
    pub tasks: u64,
    /// The first of them.
    pub task_id: String,
    /// The activities above it, the outermost first.
    pub path: Vec<String>,
}

/// Why a task failed.
struct Fault {
    task_id: String,
    activity_id: Option<String>,
    error_kind: Option<String>,
    stderr: Option<String>,
}

impl Row for Fault {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let (task_id, activity_id) = (row.get(0)?, row.get(1)?);
        Ok(Self { task_id, activity_id, error_kind: row.get(2)?, stderr: row.get(3)? })
    }
}

/// What a call needs to be drawn; `?1` is the key of the workflow.
const OF_WORKFLOW: &str = "
select t.key, p.key, t.activity, coalesce(t.status, iif(r.interrupted_ns is null, 3, 8)), t.started_ns,
    coalesce(t.ended_ns, max(t.started_ns, r.interrupted_ns)) - t.started_ns
from task t
left join task p on p.task_id = t.parent_task_id
left join recorder r on r.key = t.recorder
where t.workflow = (select key from workflow where workflow_id = ?1)
order by t.key";

const BELOW_TASK: &str = "
with recursive down (id) as (
    select ?1
    union
    select c.task_id from down join task c on c.parent_task_id = down.id
)
select t.key, p.key, t.activity, coalesce(t.status, iif(r.interrupted_ns is null, 3, 8)), t.started_ns,
    coalesce(t.ended_ns, max(t.started_ns, r.interrupted_ns)) - t.started_ns
from down
join task t on t.task_id = down.id
left join task p on p.task_id = t.parent_task_id
left join recorder r on r.key = t.recorder
order by t.key";

const FAULT: &str = "
select v.task_id, v.activity_id, v.error_kind, v.stderr
from task t join tasks v on v.task_id = t.task_id where t.key = ?1";

const RELATED: &str = "
select v.task_id, v.depth, v.activity_id, v.status, v.started_at, v.duration_ns
from task t join tasks v on v.task_id = t.task_id where t.key = ?1";

impl Reader {
    /// The calls of a workflow, or of a task and everything below it.
    ///
    /// ```no_run
    /// use telemetry_store::{Reader, TreeLimits};
    ///
    /// let reader = Reader::open(".telemetry/provenance.db".as_ref())?;
    /// let calls = reader.calls(&reader.resolve("@last")?)?;
    /// for line in calls.tree(TreeLimits::default())? {
    ///     println!("{}{:?} ×{}", "  ".repeat(line.depth), line.activity_id, line.calls);
    /// }
    /// # Ok::<(), telemetry_store::StoreError>(())
    /// ```
    pub fn calls(&self, of: &Found) -> Result<Calls<'_>, StoreError> {
        let sql = match of {
            Found::Workflow(_) => OF_WORKFLOW,
            Found::Task(_) => BELOW_TASK,
        };
        let calls = self.read_calls(sql, of.id()).map_err(|source| self.failed(source))?;
        let order = depth_first(&calls);
        Ok(Calls { reader: self, list: calls, order })
    }

    /// In the order of keys, so that a caller is found by searching.
    fn read_calls(&self, sql: &str, id: &str) -> rusqlite::Result<Vec<Call>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query((id,))?;
        let mut calls = Vec::new();
        let mut callers: Vec<i64> = Vec::new();
        while let Some(row) = rows.next()? {
            callers.push(row.get::<_, Option<i64>>(1)?.unwrap_or(-1));
            calls.push(Call {
                key: row.get(0)?,
                caller: NOBODY,
                activity: row.get(2)?,
                status: row.get(3)?,
                started_ns: row.get::<_, Option<i64>>(4)?.unwrap_or(i64::MAX),
                duration_ns: row.get::<_, Option<i64>>(5)?.unwrap_or(-1),
            });
        }
        for (number, caller) in callers.into_iter().enumerate() {
            if let Ok(position) = calls.binary_search_by_key(&caller, |call| call.key) {
                calls[number].caller = position as u32;
            }
        }
        Ok(calls)
    }

    fn activity_names(&self) -> Result<HashMap<u32, String>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached("select key, activity_id from activity")?;
            statement
                .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<HashMap<u32, String>, _>>()
        };
        read().map_err(|source| self.failed(source))
    }
}

impl Calls<'_> {
    /// How many they are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many stand how, the most frequent first.
    pub fn statuses(&self) -> Vec<StatusCount> {
        let mut counts = [0_i64; 256];
        self.list.iter().for_each(|call| counts[usize::from(call.status)] += 1);
        let counts = counts.iter().enumerate().filter(|(_, tasks)| **tasks > 0);
        let mut counts: Vec<StatusCount> =
            counts.map(|(code, tasks)| StatusCount { status: word(code as u8), tasks: *tasks }).collect();
        counts.sort_by(|one, other| (-one.tasks, &one.status).cmp(&(-other.tasks, &other.status)));
        counts
    }

    /// The calls that took longest.
    pub fn slowest(&self, count: usize) -> Result<Vec<RelatedTask>, StoreError> {
        let mut slowest: Vec<&Call> = Vec::new();
        for call in self.list.iter().filter(|call| call.duration_ns >= 0) {
            let place = slowest.partition_point(|other| other.duration_ns >= call.duration_ns);
            if place < count {
                slowest.insert(place, call);
                slowest.truncate(count);
            }
        }
        slowest.into_iter().map(|call| self.one(RELATED, call.key)).collect()
    }

    /// The call tree.
    pub fn tree(&self, limits: TreeLimits) -> Result<Vec<CallNode>, StoreError> {
        let mut nodes = self.collapse(limits);
        nodes = without_short(nodes, limits.duration_ns_min);
        let names = self.reader.activity_names()?;
        for node in &mut nodes {
            node.statuses = node.counts.iter().zip(0..).filter(|(count, _)| **count > 0).fold(
                BTreeMap::new(),
                |mut statuses, (count, code)| {
                    *statuses.entry(word(code)).or_default() += *count;
                    statuses
                },
            );
            node.activity_id = names.get(&node.activity).cloned();
            node.task_id = self.one::<RelatedTask>(RELATED, self.list[node.first as usize].key)?.task_id;
        }
        Ok(nodes)
    }

    /// Where failures began: failed calls of which no call of theirs failed. Of more than `looked_at_max`, the
    /// rest is not looked at.
    pub fn failures(&self, looked_at_max: usize) -> Result<Vec<FailureGroup>, StoreError> {
        let is_error = |call: &Call| call.status == Status::Error.code();
        let mut is_origin: Vec<bool> = self.list.iter().map(is_error).collect();
        for call in self.list.iter().filter(|call| is_error(call) && call.caller != NOBODY) {
            is_origin[call.caller as usize] = false;
        }
        let names = self.reader.activity_names()?;
        let mut groups: Vec<FailureGroup> = Vec::new();
        let origins =
            self.order.iter().map(|(number, _)| *number).filter(|number| is_origin[*number as usize]);
        for number in origins.take(looked_at_max) {
            let fault: Fault = self.one(FAULT, self.list[number as usize].key)?;
            let is_same = |group: &&mut FailureGroup| {
                group.activity_id == fault.activity_id
                    && group.error_kind == fault.error_kind
                    && group.message == fault.stderr
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.tasks += 1,
                None => groups.push(FailureGroup {
                    activity_id: fault.activity_id,
                    error_kind: fault.error_kind,
                    message: fault.stderr,
                    tasks: 1,
                    task_id: fault.task_id,
                    path: self.path(number, &names),
                }),
            }
        }
        Ok(groups)
    }

    fn path(&self, number: u32, names: &HashMap<u32, String>) -> Vec<String> {
        let caller = |number: u32| Some(self.list[number as usize].caller).filter(|caller| *caller != NOBODY);
        // A circle, which only a damaged file has, must end.
        let above = std::iter::successors(caller(number), |number| caller(*number)).take(self.list.len());
        let name = |number: u32| names.get(&self.list[number as usize].activity).cloned().unwrap_or_default();
        let mut path: Vec<String> = above.map(name).collect();
        path.reverse();
        path
    }

    /// Puts repeated calls together, down to a depth; in the order of their first calls.
    fn collapse(&self, limits: TreeLimits) -> Vec<CallNode> {
        let depth_max = if limits.depth_max == 0 { usize::MAX } else { limits.depth_max };
        let mut nodes: Vec<CallNode> = Vec::new();
        let mut children: Vec<Vec<usize>> = Vec::new();
        let mut roots: Vec<usize> = Vec::new();
        let mut numbers: HashMap<(Option<usize>, u32), usize> = HashMap::new();
        let mut path: Vec<usize> = Vec::new();
        for &(number, depth) in &self.order {
            let call = &self.list[number as usize];
            path.truncate(depth as usize);
            let caller = path.last().copied();
            if depth as usize >= depth_max {
                if let Some(caller) = caller {
                    nodes[caller].below += 1;
                }
                continue;
            }
            let known = numbers.get(&(caller, call.activity)).filter(|_| !limits.is_each).copied();
            let node = known.unwrap_or_else(|| {
                let node = nodes.len();
                let (depth, activity) = (depth as usize, call.activity);
                nodes.push(CallNode { depth, first: number, activity, ..CallNode::default() });
                children.push(Vec::new());
                caller.map_or(&mut roots, |caller| &mut children[caller]).push(node);
                numbers.insert((caller, call.activity), node);
                node
            });
            nodes[node].add(call);
            path.push(node);
        }
        sorted(nodes, &children, roots)
    }

    fn one<T: Row>(&self, sql: &str, key: i64) -> Result<T, StoreError> {
        let found = self.reader.rows(sql, (key,))?;
        found.into_iter().next().ok_or_else(|| StoreError::NotFound { wanted: format!("task number {key}") })
    }
}

impl CallNode {
    fn add(&mut self, call: &Call) {
        let duration_ns = u64::try_from(call.duration_ns).unwrap_or(0);
        self.calls += 1;
        self.counts[usize::from(call.status).min(STATUS_CODES - 1)] += 1;
        self.total_ns += duration_ns;
        self.max_ns = self.max_ns.max(duration_ns);
    }
}

fn word(code: u8) -> String {
    Status::from_code(code).unwrap_or(Status::Unknown).to_string()
}

/// Each node followed by those below it.
fn sorted(mut nodes: Vec<CallNode>, children: &[Vec<usize>], roots: Vec<usize>) -> Vec<CallNode> {
    let mut open: Vec<usize> = roots.into_iter().rev().collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(number) = open.pop() {
        order.push(std::mem::take(&mut nodes[number]));
        open.extend(children[number].iter().rev());
    }
    order
}

/// Leaves out what took too little, and what is below it.
fn without_short(nodes: Vec<CallNode>, duration_ns_min: u64) -> Vec<CallNode> {
    let mut left_out_below = usize::MAX;
    let is_shown = |node: &CallNode| {
        if node.depth > left_out_below {
            return false;
        }
        let is_shown = node.total_ns >= duration_ns_min;
        left_out_below = if is_shown { usize::MAX } else { node.depth };
        is_shown
    };
    let mut is_shown = is_shown;
    nodes.into_iter().filter(|node| is_shown(node)).collect()
}

/// Callers before what they called, in the order of their starts. Of a circle, which only a damaged file has, the
/// first one is a root.
fn depth_first(calls: &[Call]) -> Vec<(u32, u32)> {
    let mut by_start: Vec<u32> = (0..calls.len() as u32).collect();
    by_start.sort_by_key(|&number| (calls[number as usize].started_ns, calls[number as usize].key));
    // The called ones of each caller lie together: where they begin, and one more for the end.
    let mut begins = vec![0_u32; calls.len() + 1];
    calls.iter().filter(|call| call.caller != NOBODY).for_each(|call| begins[call.caller as usize + 1] += 1);
    for number in 1..begins.len() {
        begins[number] += begins[number - 1];
    }
    let mut called = vec![0_u32; *begins.last().unwrap_or(&0) as usize];
    let mut next = begins.clone();
    for &number in &by_start {
        let caller = calls[number as usize].caller;
        if caller != NOBODY {
            called[next[caller as usize] as usize] = number;
            next[caller as usize] += 1;
        }
    }
    drop(next);
    let mut order = Vec::with_capacity(calls.len());
    let mut is_placed = vec![false; calls.len()];
    let roots = by_start.iter().filter(|&&number| calls[number as usize].caller == NOBODY);
    let mut open = Vec::new();
    for &root in roots.chain(&by_start) {
        open.push((root, 0));
        while let Some((number, depth)) = open.pop() {
            if !std::mem::replace(&mut is_placed[number as usize], true) {
                order.push((number, depth));
                let range = begins[number as usize] as usize..begins[number as usize + 1] as usize;
                open.extend(called[range].iter().rev().map(|&called| (called, depth + 1)));
            }
        }
    }
    order
}
