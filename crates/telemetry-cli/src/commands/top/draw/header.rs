//! The lines above the table: the machine, and a line for each program.

use ratatui::text::{Line, Span};
use telemetry_core::status::Status;

use super::Picture;
use crate::commands::tail::moment;
use crate::commands::top::model::{Program, Workflow};
use crate::commands::top::theme::{BOLD, DIM};
use crate::text::{bytes, count, cut, visible};

/// So many programs have a line of their own.
const PROGRAMS_SHOWN: usize = 5;
const NAMES_SHOWN: usize = 3;
const NAME_WIDTH: usize = 20;
/// The parts of a program's line that are words: its process, its name, its workflows.
const WORDS: usize = 3;

pub(super) fn lines(picture: &Picture<'_>) -> Vec<Line<'static>> {
    let programs = &picture.model.programs;
    // Those that run, the newest first; then those that ended.
    let mut order: Vec<usize> = (0..programs.len()).rev().collect();
    order.sort_by_key(|number| programs[*number].ended_unix_ns.is_some());
    let mut lines = vec![machine(picture)];
    let shown = order.iter().take(PROGRAMS_SHOWN);
    let shown = shown.map(|number| program(picture, *number, &programs[*number])).collect();
    lines.extend(aligned(shown).into_iter().map(joined));
    if let Some(more) = programs.len().checked_sub(PROGRAMS_SHOWN).filter(|more| *more > 0) {
        lines.push(Line::styled(format!("  and {}", count(more, "more program")), DIM));
    }
    lines
}

fn machine(picture: &Picture<'_>) -> Line<'static> {
    let theme = picture.theme;
    let running = picture.model.programs.iter().filter(|program| program.ended_unix_ns.is_none()).count();
    let (word, style) = match running {
        0 => ("nothing is running".to_owned(), DIM),
        1 => ("1 program runs".to_owned(), theme.live()),
        many => (format!("{many} programs run"), theme.live()),
    };
    let mut parts = vec![
        Span::styled("telemetry top", BOLD),
        Span::raw(moment(picture.now_unix_ns, "%H:%M:%S")),
        Span::styled(word, style),
    ];
    if let Some(percent) = picture.load.cpu_percent {
        parts.push(Span::raw(format!("cpu {percent:.0} %")));
    }
    if let Some((used, total)) = picture.load.memory_bytes {
        parts.push(Span::raw(format!("memory {} of {}", bytes(used), bytes(total))));
    }
    if picture.model.events > 0 {
        parts.push(Span::raw(count(picture.model.events, "event")));
    }
    joined(parts)
}

/// The parts of a line: who it is, what it runs, and four numbers or how it ended.
fn program(picture: &Picture<'_>, number: usize, program: &Program) -> Vec<Span<'static>> {
    let theme = picture.theme;
    let has_ended = program.ended_unix_ns.is_some();
    let (dropped, missed) = (program.dropped(), program.sightings.missed);
    let mut parts = vec![
        Span::styled(format!("  {:>7}", program.pid), BOLD),
        Span::raw(cut(&visible(&program.name), NAME_WIDTH)),
        Span::raw(workflows(picture, number, program)),
        Span::raw(format!("{:.0} records/s", program.pace.per_second())),
        Span::raw(format!("{} pending", program.counters.pending)),
        Span::styled(format!("{dropped} dropped"), theme.better_none(dropped)),
        Span::styled(format!("{missed} missed"), theme.better_none(missed)),
    ];
    if has_ended {
        parts.truncate(WORDS);
        parts.push(Span::raw("has ended"));
        for part in &mut parts {
            part.style = DIM;
        }
    }
    parts
}

/// Fills parts below each other to the same width: words on their right, numbers on their left.
fn aligned(mut lines: Vec<Vec<Span<'static>>>) -> Vec<Vec<Span<'static>>> {
    // How a program ended is no number.
    let is_aligned = |line: &Vec<Span<'_>>, column: usize| column < WORDS || line.len() > WORDS + 1;
    for column in 1..lines.iter().map(Vec::len).max().unwrap_or(0) {
        let those = lines.iter_mut().filter(|line| is_aligned(line, column));
        let mut parts: Vec<&mut Span<'_>> = those.filter_map(|line| line.get_mut(column)).collect();
        let width = parts.iter().map(|part| part.width()).max().unwrap_or(0);
        for part in &mut parts {
            let room = " ".repeat(width - part.width());
            let text = if column < WORDS { [&part.content, &*room] } else { [&*room, &part.content] };
            part.content = text.concat().into();
        }
    }
    lines
}

/// The workflows that run in a program, or how the last of them ended. One that is called like its program is not
/// named again.
fn workflows(picture: &Picture<'_>, number: usize, program: &Program) -> String {
    let mut found: Vec<(u128, &Workflow)> = picture
        .model
        .workflows
        .iter()
        .filter(|(_, workflow)| workflow.program == number)
        .map(|(id, workflow)| (id.as_u128(), workflow))
        .collect();
    found.sort_by_key(|(id, _)| *id);
    let running: Vec<&Workflow> =
        found.iter().map(|(_, workflow)| *workflow).filter(|workflow| workflow.ended.is_none()).collect();
    if running.is_empty() {
        return found.last().map(|(_, workflow)| ended(workflow, program)).unwrap_or_default();
    }
    let age = age(picture, &running);
    if let [only] = *running
        && is_called_like(program, only)
    {
        return age;
    }
    let names: Vec<String> = running.iter().take(NAMES_SHOWN).map(|workflow| name(workflow)).collect();
    let more = running.len().saturating_sub(NAMES_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more} {age}", names.join(", ")).trim_end().to_owned()
}

/// For how long the first of them runs.
fn age(picture: &Picture<'_>, running: &[&Workflow]) -> String {
    let started = running.iter().filter_map(|workflow| workflow.started_unix_ns).min();
    let ns = started.and_then(|started| u64::try_from(picture.now_unix_ns - started).ok());
    ns.map(|ns| format!("for {}", telemetry_export::duration(ns))).unwrap_or_default()
}

fn ended(workflow: &Workflow, program: &Program) -> String {
    let status = workflow.ended.map_or(Status::Running, |(_, status)| status);
    if is_called_like(program, workflow) {
        status.to_string()
    } else {
        format!("{} {status}", name(workflow))
    }
}

fn is_called_like(program: &Program, workflow: &Workflow) -> bool {
    workflow.name.as_deref() == Some(program.name.as_str())
}

fn name(workflow: &Workflow) -> String {
    let name = workflow.name.as_deref().map_or_else(|| "workflow".to_owned(), visible);
    cut(&name, NAME_WIDTH)
}

fn joined(parts: Vec<Span<'static>>) -> Line<'static> {
    let mut line = Line::default();
    for part in parts.into_iter().filter(|part| !part.content.is_empty()) {
        if !line.spans.is_empty() {
            line.push_span(Span::raw("  "));
        }
        line.push_span(part);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_said_once() {
        let program = Program { name: "forecast".to_owned(), ..Program::default() };
        let said = |name: &str| {
            let ended = Some((2, Status::Finished));
            let workflow = Workflow { name: Some(name.to_owned()), ended, ..Workflow::default() };
            super::ended(&workflow, &program)
        };
        assert_eq!([said("forecast"), said("nightly")], ["FINISHED", "nightly FINISHED"]);
    }

    #[test]
    fn programs_stand_below_each_other() {
        let line = |parts: &[&str]| parts.iter().map(|part| Span::raw((*part).to_owned())).collect();
        let lines = vec![
            line(&["  7", "train", "nightly for 3.53 s", "71 records/s", "17 pending"]),
            line(&["  8", "sh", "", "0 records/s", "0 pending"]),
            line(&["  9", "sh", "nightly FINISHED", "has ended"]),
        ];
        let lines: Vec<String> = aligned(lines).into_iter().map(|parts| joined(parts).to_string()).collect();
        let expected = [
            "  7  train  nightly for 3.53 s  71 records/s  17 pending",
            "  8  sh                          0 records/s   0 pending",
            "  9  sh     nightly FINISHED    has ended",
        ];
        assert_eq!(lines, expected);
    }
}
