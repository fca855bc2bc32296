//! The tables of activities and of tasks.

use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Row, StatefulWidget, Table, TableState, Widget};
use telemetry_core::id::TaskId;
use unicode_width::UnicodeWidthStr;

use super::Picture;
use crate::commands::tail::moment;
use crate::commands::top::rows::{self, ActivityRow, TaskLine};
use crate::commands::top::state::{List, Sort, place};
use crate::commands::top::theme::{BOLD, DIM, SELECTED};
use crate::text::visible;

/// The columns behind the name, with what they are sorted by.
const NUMBERS: [(&str, u16, Option<Sort>); 7] = [
    ("running", 8, None),
    ("calls", 11, Some(Sort::Calls)),
    ("rate/s", 10, Some(Sort::Rate)),
    ("mean", 10, None),
    ("p95", 10, None),
    ("time", 12, Some(Sort::Time)),
    ("errors", 8, Some(Sort::Errors)),
];
/// How wide they are together, each with a space before it.
pub(super) const NUMBERS_WIDTH: usize = 8 + 11 + 10 + 10 + 10 + 12 + 8 + NUMBERS.len();
const NAME_WIDTH_MIN: usize = 12;
const TASK_WIDTHS: [u16; 5] = [12, 10, 12, 8, 36];

pub(super) fn activities(picture: &Picture<'_>, area: Rect, buffer: &mut Buffer) {
    let state = picture.state;
    let rows = rows::activities(picture.model, state.sort, &state.filter);
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let title = |name: &str, sort: Option<Sort>| {
        if sort == Some(state.sort) { format!("{name}▾") } else { name.to_owned() }
    };
    let name = Cell::from(title("activity", Some(Sort::Name)));
    let numbers = NUMBERS.iter().map(|(name, _, sort)| right(title(name, *sort), Style::new()));
    let header = Row::new(std::iter::once(name).chain(numbers)).style(BOLD);
    let widths = NUMBERS.iter().map(|(_, width, _)| Constraint::Length(*width));
    let widths = std::iter::once(Constraint::Length(name_width(&names, area.width))).chain(widths);
    let table = Table::new(rows.iter().map(|row| activity(picture, row)), widths).header(header);
    draw(picture, table, place(&names, state.selected.as_ref()), area, buffer);
}

/// As wide as the longest name, so that the numbers are near to it; as what is left where that is less.
fn name_width(names: &[String], width: u16) -> u16 {
    let longest = names.iter().map(|name| visible(name).width()).max().unwrap_or(0);
    let left = usize::from(width).saturating_sub(NUMBERS_WIDTH);
    longest.min(left).max(NAME_WIDTH_MIN) as u16
}

fn activity(picture: &Picture<'_>, row: &ActivityRow) -> Row<'static> {
    let theme = picture.theme;
    let plain = Style::new();
    let running = if row.running > 0 { theme.live() } else { DIM };
    Row::new([
        Cell::from(visible(&row.name)),
        right(row.running.to_string(), running),
        right(row.calls.to_string(), plain),
        right(rate(row.rate), plain),
        right(duration(row.mean_ns), plain),
        right(duration(row.p95_ns), plain),
        right(telemetry_export::duration(row.time_ns), plain),
        right(row.errors.to_string(), theme.better_none(row.errors)),
    ])
}

pub(super) fn tasks(
    picture: &Picture<'_>,
    (name, list, selected): (&str, List, Option<TaskId>),
    area: Rect,
    buffer: &mut Buffer,
) {
    let lines = rows::tasks(picture.model, name, list, picture.now_unix_ns);
    let lists =
        List::ALL.map(|it| if it == list { format!("[{}]", it.word()) } else { it.word().to_owned() });
    let title = format!("Tasks of {}: {}", visible(name), lists.join(" "));
    Line::styled(title, BOLD).render(Rect { height: 1.min(area.height), ..area }, buffer);
    let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let at = if list == List::Running { "started" } else { "ended" };
    let titles = [at, "took", "status", "process", "task", "error"];
    let header = Row::new(titles.map(Cell::from)).style(DIM);
    let widths = TASK_WIDTHS.map(Constraint::Length).into_iter().chain([Constraint::Min(0)]);
    let table = Table::new(lines.iter().map(|line| task(picture, line)), widths).header(header);
    let ids: Vec<TaskId> = lines.iter().map(|line| line.task).collect();
    draw(picture, table, place(&ids, selected.as_ref()), below, buffer);
}

fn task(picture: &Picture<'_>, line: &TaskLine) -> Row<'static> {
    Row::new([
        Cell::from(moment(line.at_unix_ns, "%H:%M:%S%.3f")),
        Cell::from(duration(line.took_ns)),
        Cell::from(line.status.as_str()).style(picture.theme.status(line.status)),
        Cell::from(line.pid.to_string()),
        Cell::from(line.task.to_string()),
        Cell::from(visible(line.error.as_deref().unwrap_or_default())),
    ])
}

fn draw(picture: &Picture<'_>, table: Table<'_>, selected: usize, area: Rect, buffer: &mut Buffer) {
    let style = if picture.is_live { SELECTED } else { Style::new() };
    let mut state = TableState::default().with_selected(picture.is_live.then_some(selected));
    StatefulWidget::render(table.row_highlight_style(style), area, buffer, &mut state);
}

fn right(text: String, style: Style) -> Cell<'static> {
    Cell::from(Text::from(text).alignment(Alignment::Right)).style(style)
}

fn rate(rate: f64) -> String {
    if rate >= 100.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

fn duration(ns: Option<u64>) -> String {
    ns.map_or_else(|| "–".to_owned(), telemetry_export::duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_the_longest_name_if_there_is_room() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(name_width(&names(&["fit", "attention_qkv_proj"]), 200), 18);
        assert_eq!(name_width(&names(&["fit"]), 200), 12);
        assert_eq!(name_width(&names(&["attention_qkv_proj"]), 90), 14);
        assert_eq!(name_width(&names(&["attention_qkv_proj"]), 40), 12);
    }
}
