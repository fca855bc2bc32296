//! Which run it was, and where.

use serde_json::Value;
use telemetry_store::JsonText;

use super::super::Report;
use super::super::document::Document;
use super::{bytes, duration, moment};
use crate::comparison::plain;

pub(super) fn summary(page: &mut Document, report: &Report) {
    let workflow = &report.workflow;
    let code = workflow.code_repository.as_ref().map(JsonText::to_value).unwrap_or_default();
    let of_code = |name: &str| code.get(name).filter(|value| !value.is_null()).map(plain);
    let command = match workflow.cmd_line.as_ref().map(JsonText::to_value) {
        Some(Value::Array(words)) => Some(words.iter().map(plain).collect::<Vec<_>>().join(" ")),
        _ => None,
    };
    page.heading(2, "Summary");
    page.fields(vec![
        ("workflow", Some(workflow.workflow_id.clone())),
        ("campaign", workflow.campaign_id.clone()),
        ("status", Some(workflow.status.clone())),
        ("started", workflow.started_at.map(moment)),
        ("ended", workflow.ended_at.map(moment)),
        ("took", workflow.duration_ns.map(|ns| duration(Some(ns as f64)))),
        ("kind", workflow.subtype.clone()),
        ("within", workflow.parent_workflow_id.clone()),
        ("where", workflow.hostname.clone()),
        ("user", workflow.user.clone()),
        ("agent", workflow.agent_id.clone()),
        ("program", workflow.exe.clone()),
        ("command", command),
        ("repository", of_code("remote").or_else(|| of_code("repository")).or_else(|| of_code("root"))),
        ("branch", of_code("branch")),
        ("revision", of_code("short_sha").or_else(|| of_code("sha"))),
        ("changed since", of_code("dirty")),
        ("metadata", workflow.custom_metadata.as_ref().map(|json| json.as_str().to_owned())),
        ("recorder", workflow.recorder_version.clone()),
    ]);
}

pub(super) fn infrastructure(page: &mut Document, report: &Report) {
    let Some(machine) = report.workflow.machine_info.as_ref().map(JsonText::to_value) else { return };
    let at = |pointer: &str| machine.pointer(pointer).filter(|value| !value.is_null());
    let text = |pointer: &str| at(pointer).map(plain);
    let total = |pointer: &str| at(pointer).and_then(Value::as_i64).map(bytes);
    let join = |parts: Vec<Option<String>>| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    let count = text("/cpu/count").map(|count| format!("({count} processors)"));
    let gpus = at("/gpu").filter(|gpus| gpus.as_object().is_none_or(|gpus| !gpus.is_empty()));
    let environment = at("/environment").and_then(Value::as_object).cloned().unwrap_or_default();
    let manager: Vec<String> = environment
        .iter()
        .filter(|(name, _)| ["SLURM_", "PBS_", "LSB_", "FLUX_"].iter().any(|start| name.starts_with(start)))
        .map(|(name, value)| format!("{name}={}", plain(value)))
        .collect();
    page.heading(2, "Infrastructure");
    page.fields(vec![
        ("host", text("/hostname")),
        (
            "system",
            join(vec![text("/platform/system"), text("/platform/release"), text("/platform/machine")]),
        ),
        ("processor", join(vec![text("/cpu/brand_raw"), count])),
        ("memory", total("/memory/virtual/total")),
        ("disk", total("/disk/total")),
        ("graphics", gpus.map(plain)),
        ("resource manager", Some(manager.join(", "))),
        ("environment", Some(environment.keys().cloned().collect::<Vec<_>>().join(", "))),
    ]);
}
