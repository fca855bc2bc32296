//! Lineage as a graph for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write;

use telemetry_store::{DerivationRow, RelatedTask};

/// Draws tasks and the derivations among them; `marked` stands out.
///
/// ```
/// assert_eq!(telemetry_export::dot::draw(&[], &[], ""), "digraph lineage {\n  rankdir=LR;\n  node [shape=box];\n}\n");
/// ```
#[must_use]
pub fn draw(tasks: &[RelatedTask], derivations: &[DerivationRow], marked: &str) -> String {
    let mut text = "digraph lineage {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for task in tasks {
        let id = quoted(&task.task_id);
        let short = task.task_id.get(..13).unwrap_or(&task.task_id);
        let name = task.activity_id.as_deref().unwrap_or("(not recorded)");
        let label = quoted(&format!("{name}\n{short}"));
        let style = match (task.task_id == marked, task.status.as_deref()) {
            (true, _) => ", style=bold",
            (false, Some("ERROR")) => ", color=red",
            _ => "",
        };
        let _ = writeln!(text, "  {id} [label={label}{style}];");
    }
    let edges: BTreeSet<String> = derivations.iter().map(edge).collect();
    text.extend(edges);
    text.push_str("}\n");
    text
}

fn edge(row: &DerivationRow) -> String {
    let label = match (&row.source_name, &row.name) {
        (Some(source), Some(name)) if source != name => format!("{source} → {name}"),
        (Some(name), _) | (None, Some(name)) => name.clone(),
        (None, None) => String::new(),
    };
    let style = if row.evidence == "declared" { ", style=dashed" } else { "" };
    let label = quoted(format!("{label}\n{}", row.evidence).trim_start());
    format!("  {} -> {} [label={label}{style}];\n", quoted(&row.source_task_id), quoted(&row.task_id))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
