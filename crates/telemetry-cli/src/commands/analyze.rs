//! `telemetry analyze`: the packets of a session, summed up.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use telemetry_core::settings::Settings;
use telemetry_export::ExportError;
use telemetry_export::analysis::{Analysis, Group, Packet, latest};

use super::show::page::Page;
use crate::arguments::Analyze;
use crate::failure::{Failure, Outcome};
use crate::files::write;
use crate::ink::Ink;
use crate::printer::Printer;
use crate::progress::watched;
use crate::table::{self, headed};
use crate::text::{self, count, visible};

const GROUPS_SHOWN_MAX: usize = 40;
const ERRORS_SHOWN_MAX: usize = 10;
const PACKETS_HINT: &str = "the packets of a session are in the .csv of .telemetry/sessions/";

pub(super) fn run(command: &Analyze, printer: &mut Printer) -> Result<Outcome, Failure> {
    let path = match &command.file {
        Some(path) => path.clone(),
        None => newest()?,
    };
    let analysis =
        watched(printer, "Reading packets", || Analysis::read(&path)).map_err(|error| match error {
            ExportError::Io(source) => Failure::File { path: path.clone(), doing: "read", source },
            error @ ExportError::Line { .. } => Failure::content(&path, &error, PACKETS_HINT),
            other => other.into(),
        })?;
    if command.json {
        printer.json(&analysis)?;
    } else {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        printer.data(&page(&analysis, &name, printer.ink, printer.width()))?;
    }
    if let Some(folder) = &command.plots {
        plots(&analysis, folder, printer)?;
    }
    Ok(Outcome::Done)
}

fn newest() -> Result<PathBuf, Failure> {
    let folder = Settings::load()?.settings.session.output_dir;
    latest(&folder)?.ok_or_else(|| Failure::NoSession { folder })
}

fn plots(analysis: &Analysis, folder: &std::path::Path, printer: &mut Printer) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|source| Failure::File {
        path: folder.to_owned(),
        doing: "made",
        source,
    })?;
    for (name, plot) in analysis.plots()? {
        write(&folder.join(format!("{name}.svg")), &plot.file(), printer)?;
    }
    Ok(())
}

fn page(analysis: &Analysis, name: &str, ink: Ink, width: Option<usize>) -> String {
    let mut page = Page::titled(ink, name);
    let all = &analysis.overall;
    let inner = width.map(|width| width.saturating_sub(2));
    let worked = if all.packets > 0 { 1.0 - all.failed as f64 / all.packets as f64 } else { 0.0 };
    page.field("packets", Some(format!("{}, {:.1} % successful", all.packets, worked * 100.0)));
    page.field("span", Some(ms(analysis.span_s * 1e3)));
    page.field("took", Some(format!("{} together, {} on average", ms(all.total_ms), ms(all.mean_ms))));
    page.field("memory", analysis.memory_max_mb.map(|mb| format!("{mb:.2} MB at most")));
    let parts = [
        ("Devices", "device", &analysis.devices),
        ("Workers", "worker", &analysis.workers),
        ("Layers", "layer", &analysis.layers),
        ("Operations", "operation", &analysis.operations),
    ];
    for (heading, column, groups) in parts {
        if !groups.is_empty() {
            page.heading(heading);
            page.block(&table_of(column, groups, ink, inner));
            if groups.len() > GROUPS_SHOWN_MAX {
                page.block(
                    &ink.dim(&format!("… and {} more; --json shows all", groups.len() - GROUPS_SHOWN_MAX)),
                );
            }
        }
    }
    if !analysis.slowest.is_empty() {
        page.heading("Slowest");
        page.block(&slowest(&analysis.slowest, ink, inner));
    }
    errors(&mut page, analysis, ink);
    summary(&mut page, analysis.summary.as_ref());
    page.finish()
}

fn table_of(column: &str, groups: &[Group], ink: Ink, width: Option<usize>) -> String {
    let names = [column, "packets", "failed", "total", "share", "mean", "median", "95 %", "max"];
    let row = |group: &Group| {
        vec![
            visible(&group.name),
            group.packets.to_string(),
            if group.failed > 0 { ink.bad(&group.failed.to_string()) } else { ink.dim("0") },
            ms(group.total_ms),
            format!("{:.1} %", group.share * 100.0),
            ms(group.mean_ms),
            ms(group.median_ms),
            ms(group.p95_ms),
            ms(group.max_ms),
        ]
    };
    table::plain(&headed(&names, &[0], ink), groups.iter().take(GROUPS_SHOWN_MAX).map(row).collect(), width)
}

fn slowest(packets: &[Packet], ink: Ink, width: Option<usize>) -> String {
    let row = |packet: &Packet| {
        vec![
            visible(&packet.operation),
            ms(packet.duration_ms),
            visible(&packet.worker_instance),
            visible(&packet.device),
            packet.layer_idx.map(|layer| layer.to_string()).unwrap_or_default(),
            visible(&packet.packet_id),
        ]
    };
    let names = ["operation", "took", "worker", "device", "layer", "packet"];
    table::plain(&headed(&names, &[0], ink), packets.iter().map(row).collect(), width)
}

fn errors(page: &mut Page, analysis: &Analysis, ink: Ink) {
    if analysis.errors.is_empty() {
        return;
    }
    page.heading("Errors");
    for (message, packets) in analysis.errors.iter().take(ERRORS_SHOWN_MAX) {
        let message = if message.is_empty() { "(no message)" } else { message };
        page.block(&format!("{}  {}", ink.bad(&format!("×{packets}")), visible(message)));
    }
    if analysis.errors.len() > ERRORS_SHOWN_MAX {
        let more = count(analysis.errors.len() - ERRORS_SHOWN_MAX, "message");
        page.block(&ink.dim(&format!("… and {more} more; --json shows all")));
    }
}

/// What the session wrote itself at its end; lists and tables aside.
fn summary(page: &mut Page, summary: Option<&Value>) {
    let Some(Value::Object(figures)) = summary else { return };
    page.heading("Session");
    for (name, value) in figures {
        if !matches!(value, Value::Object(_) | Value::Array(_) | Value::Null) {
            page.block(&format!("{}  {}", visible(name), visible(&crate::grid::plain(value))));
        }
    }
}

fn ms(ms: f64) -> String {
    text::duration(Some((ms * 1e6).round() as i64))
}
