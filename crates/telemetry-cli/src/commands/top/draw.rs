//! Draws: a header about the machine and the programs, a table or a page below it, the keys at the bottom.

mod header;
mod tables;

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget};
use unicode_width::UnicodeWidthStr;

use super::machine::Load;
use super::model::Model;
use super::rows;
use super::state::{Page, State};
use super::theme::{DIM, Theme};
use crate::text::{from_here, visible};

const HELP: &str = include_str!("../../help/top-keys.txt");

/// All that a frame shows.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    pub(super) model: &'a Model,
    pub(super) state: &'a State,
    pub(super) load: Load,
    pub(super) folder: &'a Path,
    pub(super) now_unix_ns: i64,
    pub(super) theme: Theme,
    /// Something that went wrong and changes nothing else.
    pub(super) complaint: Option<&'a str>,
    /// Whether there are keys to press.
    pub(super) is_live: bool,
}

impl Picture<'_> {
    pub(super) fn draw(&self, buffer: &mut Buffer) {
        let header = header::lines(self);
        let height = u16::try_from(header.len()).unwrap_or(u16::MAX);
        let parts = [
            Constraint::Length(height),
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(u16::from(self.is_live)),
        ];
        let [top, _, middle, bottom] = Layout::vertical(parts).areas(buffer.area);
        Paragraph::new(Text::from(header)).render(top, buffer);
        self.draw_page(middle, buffer);
        if self.is_live {
            self.footer().render(bottom, buffer);
        }
    }

    /// A frame as text, as wide and as high as it must be to show everything.
    pub(super) fn text(&self) -> String {
        let rows = rows::activities(self.model, self.state.sort, &self.state.filter);
        let name = rows.iter().map(|row| visible(&row.name).width()).max().unwrap_or(0);
        let header = header::lines(self);
        let widest = header.iter().map(Line::width).max().unwrap_or(0);
        let width = widest.max(name + tables::NUMBERS_WIDTH);
        let size = [width, header.len() + rows.len() + 3].map(|it| u16::try_from(it).unwrap_or(u16::MAX));
        let mut buffer = Buffer::empty(Rect::new(0, 0, size[0], size[1]));
        self.draw(&mut buffer);
        plain(&buffer)
    }

    fn draw_page(&self, area: Rect, buffer: &mut Buffer) {
        if self.state.is_help {
            return Paragraph::new(HELP).render(area, buffer);
        }
        match &self.state.page {
            Page::Activities if self.model.activities.is_empty() => self.nothing().render(area, buffer),
            Page::Activities => tables::activities(self, area, buffer),
            Page::Tasks { activity, list, selected } => {
                tables::tasks(self, (activity, *list, *selected), area, buffer);
            }
            Page::Task { text, scroll, .. } => {
                let lines = text.lines().skip(*scroll).take(usize::from(area.height)).map(Line::from);
                Paragraph::new(lines.collect::<Vec<Line<'_>>>()).render(area, buffer);
            }
        }
    }

    fn nothing(&self) -> Line<'static> {
        let folder = from_here(self.folder);
        let is_running = self.model.programs.iter().any(|program| program.ended_unix_ns.is_none());
        let what = self.model.wanted.as_deref();
        let what = what.map_or_else(
            || "Nothing is running".to_owned(),
            |wanted| format!("Nothing that is called {} is running", visible(wanted)),
        );
        let text = match (is_running, self.is_live) {
            (true, _) => "No task has been seen yet.".to_owned(),
            (false, true) => {
                format!("{what} in {folder}. Waiting for a program that records there.")
            }
            (false, false) => format!("{what} in {folder}."),
        };
        Line::styled(text, DIM)
    }

    fn footer(&self) -> Line<'static> {
        if self.state.is_typing {
            return Line::from(format!("/{}_", visible(&self.state.filter)));
        }
        if let Some(complaint) = self.complaint {
            return Line::styled(visible(complaint), self.theme.bad());
        }
        let filter = match (&self.state.page, self.state.filter.as_str()) {
            (Page::Activities, filter) if !filter.is_empty() => format!("only /{}  ", visible(filter)),
            _ => String::new(),
        };
        let keys = match (&self.state.page, self.state.is_help) {
            (_, true) => "any key goes back  q quit",
            (Page::Activities, _) => {
                "sort: c calls r rate t time e errors n name  / filter  enter tasks  ? help  q quit"
            }
            (Page::Tasks { .. }, _) => "tab next list  enter open  esc back  ? help  q quit",
            (Page::Task { .. }, _) => "arrows scroll  esc back  ? help  q quit",
        };
        Line::styled(format!("{filter}{keys}"), DIM)
    }
}

/// What is drawn, without its styles and without spaces at the ends of lines.
fn plain(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in buffer.area.rows() {
        let mut line = String::new();
        let mut covered = 0;
        for place in row.columns() {
            // A wide character covers the cells behind it.
            if place.x >= covered {
                let symbol = buffer[(place.x, place.y)].symbol();
                covered = place.x + u16::try_from(symbol.width().max(1)).unwrap_or(1);
                line.push_str(symbol);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
