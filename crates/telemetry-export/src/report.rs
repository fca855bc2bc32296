//! The card of a workflow: everything about a run on one page, as Markdown or as one HTML file.
//!
//! [`Report::read`] gathers numbers, [`Report::document`] puts them into words, tables and plots, and a
//! [`Document`] writes itself in either form.

mod activity;
mod document;
mod html;
mod markdown;
mod observations;
mod resources;
mod sections;
mod values;

use std::fmt::Write;

use serde::Serialize;
use telemetry_store::{
    FailureGroup, FileRow, FlowRow, Found, GpuUse, Reader, Reading, RelatedTask, Resources, Run, StatusCount,
    StoreError, TreeLimits, WorkflowRow,
};

pub use activity::{ActivityReport, Outlier};
pub use document::{Block, Document};
pub use resources::ActivityResources;
pub use values::ValueSummary;

use crate::critical::{self, Bounds, CriticalPath};
use crate::error::ExportError;
use crate::timeline::{Timeline, TimelineLimits};
use crate::tree::{Line, draw};

const FAILED_MAX: usize = 500;
const SLOWEST: usize = 5;
const TREE_LINES_MAX: usize = 60;
const TREE_DEPTH_MAX: usize = 8;
const FILES_MAX: u32 = 200;
/// Derivations of so many calls are looked up.
const FLOW_CALLS_MAX: u32 = 20_000;

/// All numbers of a report.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The workflow.
    pub workflow: WorkflowRow,
    /// How many calls stand how.
    pub statuses: Vec<StatusCount>,
    /// The activities, the most expensive first.
    pub activities: Vec<ActivityReport>,
    /// The calls that took longest.
    pub slowest: Vec<RelatedTask>,
    /// Where failures began.
    pub failures: Vec<FailureGroup>,
    /// What the process and the machine did.
    pub resources: Resources,
    /// The graphics processors.
    pub gpus: Vec<GpuUse>,
    /// Files that calls named.
    pub files: Vec<FileRow>,
    /// How values went from activity to activity.
    pub flows: Vec<FlowRow>,
    /// What the run was waiting for.
    pub critical_path: Option<CriticalPath>,
    /// Workflows within this one.
    pub nested: Vec<WorkflowRow>,
    /// What stands out.
    pub observations: Vec<String>,
    #[serde(skip)]
    tree: String,
    #[serde(skip)]
    timeline: Option<Timeline>,
    #[serde(skip)]
    readings: Vec<Reading>,
}

impl Report {
    /// Gathers everything about a workflow.
    ///
    /// ```no_run
    /// use telemetry_export::report::Report;
    /// use telemetry_store::Reader;
    ///
    /// let reader = Reader::open(".telemetry/provenance.db".as_ref())?;
    /// let report = Report::read(&reader, reader.resolve("@last")?.id())?;
    /// std::fs::write("report.html", report.document()?.html())?;
    /// # Ok::<(), telemetry_export::ExportError>(())
    /// ```
    pub fn read(reader: &Reader, workflow_id: &str) -> Result<Self, ExportError> {
        let workflow = reader.workflow(workflow_id)?;
        let (slowest, failures, tree, statuses) = calls(reader, workflow_id)?;
        let run = reader.run_of(workflow_id)?;
        let bounds = Bounds::of(&run);
        let mut report = Self {
            statuses,
            activities: activity::read(reader, workflow_id, &run)?,
            slowest,
            failures,
            resources: reader.resources(workflow_id)?,
            gpus: reader.gpus(workflow_id)?,
            files: reader.files(workflow_id, FILES_MAX)?,
            flows: reader.flows(workflow_id, FLOW_CALLS_MAX)?,
            critical_path: bounds
                .filter(|_| !run.calls.is_empty())
                .map(|bounds| critical::find(&run, bounds)),
            nested: reader.nested(workflow_id)?,
            observations: Vec::new(),
            tree,
            timeline: bounds.map(|bounds| timeline(&run, bounds)),
            readings: reader.readings(workflow_id)?,
            workflow,
        };
        report.observations = observations::find(&report);
        Ok(report)
    }

    /// The report in words, tables and plots.
    pub fn document(&self) -> Result<Document, ExportError> {
        sections::write(self)
    }
}

fn timeline(run: &Run, bounds: Bounds) -> Timeline {
    Timeline::new(run, bounds, TimelineLimits::default())
}

type CallFacts = (Vec<RelatedTask>, Vec<FailureGroup>, String, Vec<StatusCount>);

/// What the tree of calls says; it is large, and gone again before the next part is read.
fn calls(reader: &Reader, workflow_id: &str) -> Result<CallFacts, StoreError> {
    let calls = reader.calls(&Found::Workflow(workflow_id.to_owned()))?;
    let nodes = calls.tree(TreeLimits { depth_max: TREE_DEPTH_MAX, ..TreeLimits::default() })?;
    let line = |node: &telemetry_store::CallNode| {
        let repeated = if node.calls > 1 { format!(" ×{}", node.calls) } else { String::new() };
        let failed = node.statuses.get("ERROR").map(|count| format!("  {count} failed")).unwrap_or_default();
        let below = if node.below > 0 { format!("  ({} calls below)", node.below) } else { String::new() };
        let name = node.activity_id.as_deref().unwrap_or("–");
        let text = format!("{name}{repeated}  {}{failed}{below}", crate::duration(node.total_ns));
        Line { depth: node.depth, text: text.replace(char::is_control, " ") }
    };
    let lines: Vec<Line> = nodes.iter().take(TREE_LINES_MAX).map(line).collect();
    let mut tree = draw(&lines);
    if nodes.len() > lines.len() {
        let _ = writeln!(tree, "… and {} more lines", nodes.len() - lines.len());
    }
    Ok((calls.slowest(SLOWEST)?, calls.failures(FAILED_MAX)?, tree, calls.statuses()))
}
