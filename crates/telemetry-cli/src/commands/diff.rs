//! `telemetry diff`: what changed between two runs, or two sets of them.

use telemetry_export::comparison::{
    ActivityChange, Change, Comparison, ResourceChange, SideSummary, Verdict,
};
use telemetry_store::{Reader, StoreError, WorkflowFilter};

use super::show::page::Page;
use crate::arguments::Diff;
use crate::failure::{Failure, Outcome};
use crate::find::find_workflow;
use crate::ink::Ink;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::table::{self, headed};
use crate::text::{self, count, visible};

const CHANGES_SHOWN_MAX: usize = 30;
const VALUE_CHARACTERS_MAX: usize = 60;

pub(super) fn run(command: &Diff, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let a = side(&reader, &command.a, command.campaign)?;
    let b = side(&reader, &command.b, command.campaign)?;
    if a == b {
        printer.warn("A and B are the same; telemetry diff alone compares the last run with the one before");
    }
    let comparison = watched(printer, "Comparing", || Comparison::read(&reader, &a, &b))?;
    if command.json {
        printer.json(&comparison)?;
    } else {
        printer.data(&page(&comparison, printer.ink, printer.width()))?;
    }
    let Some(share) = command.fail_on else { return Ok(Outcome::Done) };
    let slower = comparison.slower_by(share);
    if slower.is_empty() {
        return Ok(Outcome::Done);
    }
    let names: Vec<String> = slower.iter().map(|change| visible(&change.activity_id)).collect();
    printer.talk(&format!("Slower by at least {} %: {}.", share * 100.0, names.join(", ")));
    Ok(Outcome::CheckFailed)
}

/// The workflows of a side.
fn side(reader: &Reader, wanted: &str, is_campaign: bool) -> Result<Vec<String>, Failure> {
    if !is_campaign {
        return Ok(vec![find_workflow(reader, wanted)?]);
    }
    let filter = WorkflowFilter { campaign_id: Some(wanted.to_owned()), ..WorkflowFilter::default() };
    let found = reader.workflows(&filter)?;
    if found.is_empty() {
        return Err(StoreError::NotFound { wanted: wanted.to_owned() }.into());
    }
    Ok(found.into_iter().map(|row| row.workflow_id).collect())
}

fn page(comparison: &Comparison, ink: Ink, width: Option<usize>) -> String {
    let mut page = Page::titled(ink, &title(comparison));
    page.block(&sides(comparison, ink, width));
    page.heading("Activities");
    page.block(&activities(&comparison.activities, ink, width.map(|width| width.saturating_sub(2))));
    if !comparison.changes.is_empty() {
        page.heading("Changed");
        page.block(&changes(&comparison.changes, ink, width.map(|width| width.saturating_sub(2))));
        if comparison.changes.len() > CHANGES_SHOWN_MAX {
            let more = comparison.changes.len() - CHANGES_SHOWN_MAX;
            page.block(&ink.dim(&format!("… and {} more; --json shows all", count(more, "change"))));
        }
    }
    if !comparison.resources.is_empty() {
        page.heading("Resources");
        page.block(&resources(&comparison.resources, ink, width.map(|width| width.saturating_sub(2))));
    }
    page.finish()
}

fn title(comparison: &Comparison) -> String {
    let name = |side: &SideSummary| side.name.clone().unwrap_or_else(|| "(no name)".to_owned());
    let (a, b) = (name(&comparison.a), name(&comparison.b));
    if a == b { a } else { format!("{a} → {b}") }
}

fn sides(comparison: &Comparison, ink: Ink, width: Option<usize>) -> String {
    let columns = headed(&["", "status", "started", "took", "calls", "errors", "workflow"], &[1, 2, 6], ink);
    let row = |name: &str, side: &SideSummary| {
        let workflow = match &*side.workflow_ids {
            [only] => only.clone(),
            several => count(several.len(), "workflow"),
        };
        vec![
            ink.bold(name),
            side.status.as_deref().map(|status| ink.status(status)).unwrap_or_default(),
            side.started_at.map(text::moment).unwrap_or_default(),
            text::duration(side.duration_ns.map(|ns| ns as i64)),
            side.calls.to_string(),
            side.errors.to_string(),
            ink.dim(&workflow),
        ]
    };
    table::plain(&columns, vec![row("A", &comparison.a), row("B", &comparison.b)], width)
}

fn activities(changes: &[ActivityChange], ink: Ink, width: Option<usize>) -> String {
    let names = ["activity", "", "calls", "errors", "median A", "median B", "change", "B slower", "p"];
    let row = |change: &ActivityChange| {
        let share = |share: Option<f64>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0))
        };
        vec![
            visible(&change.activity_id),
            verdict(change.verdict, ink),
            both(change.calls),
            both(change.errors),
            text::duration(change.median_ns[0].map(|ns| ns.round() as i64)),
            text::duration(change.median_ns[1].map(|ns| ns.round() as i64)),
            change.median_change.map_or_else(|| "–".to_owned(), signed),
            share(change.effect),
            change.p_corrected.map_or_else(|| "–".to_owned(), probability),
        ]
    };
    table::plain(&headed(&names, &[0, 1], ink), changes.iter().map(row).collect(), width)
}

fn verdict(verdict: Verdict, ink: Ink) -> String {
    match verdict {
        Verdict::Slower => ink.bad("slower"),
        Verdict::Faster => ink.good("faster"),
        Verdict::Appeared => ink.odd("new"),
        Verdict::Gone => ink.odd("gone"),
        Verdict::TooFew => ink.dim("too few calls"),
        _ => ink.dim("same"),
    }
}

fn both([a, b]: [u64; 2]) -> String {
    if a == b { a.to_string() } else { format!("{a} → {b}") }
}

fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

fn changes(changes: &[Change], ink: Ink, width: Option<usize>) -> String {
    let cell = |value: &Option<String>| {
        value
            .as_ref()
            .map_or_else(|| "–".to_owned(), |value| visible(&text::cut(value, VALUE_CHARACTERS_MAX)))
    };
    let row =
        |change: &Change| vec![ink.dim(change.kind), visible(&change.name), cell(&change.a), cell(&change.b)];
    let rows = changes.iter().take(CHANGES_SHOWN_MAX).map(row).collect();
    table::plain(&headed(&["what", "name", "A", "B"], &[0, 1, 2, 3], ink), rows, width)
}

fn resources(changes: &[ResourceChange], ink: Ink, width: Option<usize>) -> String {
    let row = |change: &ResourceChange| {
        let value =
            |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| amount(change.resource, value));
        vec![
            change.resource.rsplit_once('_').map_or(change.resource, |(name, _)| name).replace('_', " "),
            value(change.a),
            value(change.b),
            change.change.map_or_else(|| "–".to_owned(), signed),
        ]
    };
    table::plain(
        &headed(&["resource", "A", "B", "change"], &[0], ink),
        changes.iter().map(row).collect(),
        width,
    )
}

/// A number in the unit that the name of its resource ends with.
fn amount(resource: &str, value: f64) -> String {
    match resource.rsplit('_').next() {
        Some("bytes") => text::bytes(value.max(0.0) as u64),
        Some("s") => telemetry_export::duration((value.max(0.0) * 1e9) as u64),
        _ => format!("{value:.1} %"),
    }
}
