//! What a person has chosen: what to sort by, what to look for, what is open; and what keys do to it.

#[cfg(test)]
mod tests;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use telemetry_core::id::TaskId;

use super::model::Model;
use super::rows;

/// So many lines are a page.
const PAGE: isize = 10;
const FILTER_CHARACTERS_MAX: usize = 60;

/// What activities are sorted by, the largest first; by name, the first letters first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::commands) enum Sort {
    Calls,
    Rate,
    #[default]
    Time,
    Errors,
    Name,
}

/// Which tasks of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Running,
    Latest,
    Slowest,
    Failed,
}

/// What fills the screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Page {
    Activities,
    Tasks {
        activity: String,
        list: List,
        selected: Option<TaskId>,
    },
    /// All about a task, over the list that it was opened from.
    Task {
        text: String,
        scroll: usize,
        from: Box<Page>,
    },
}

/// What is to be done that a state cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    Quit,
    Open(TaskId),
}

/// What was chosen.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) sort: Sort,
    pub(super) filter: String,
    /// Whether keys are letters of the filter.
    pub(super) is_typing: bool,
    pub(super) is_help: bool,
    pub(super) selected: Option<String>,
    pub(super) page: Page,
}

impl List {
    pub(super) const ALL: [Self; 4] = [Self::Running, Self::Latest, Self::Slowest, Self::Failed];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Latest => "latest",
            Self::Slowest => "slowest",
            Self::Failed => "failed",
        }
    }

    fn next(self) -> Self {
        let place = Self::ALL.iter().position(|list| *list == self).unwrap_or(0);
        Self::ALL[(place + 1) % Self::ALL.len()]
    }
}

impl State {
    pub(super) fn new(sort: Sort) -> Self {
        let page = Page::Activities;
        Self { sort, filter: String::new(), is_typing: false, is_help: false, selected: None, page }
    }

    /// Shows all about a task.
    pub(super) fn show(&mut self, text: String) {
        let from = Box::new(std::mem::replace(&mut self.page, Page::Activities));
        self.page = Page::Task { text, scroll: 0, from };
    }

    /// A key was pressed.
    pub(super) fn press(&mut self, key: KeyEvent, model: &Model) -> Wish {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c')) {
            return Wish::Quit;
        }
        if self.is_typing {
            self.type_filter(key.code);
            return Wish::Nothing;
        }
        match key.code {
            KeyCode::Char('q') => return Wish::Quit,
            _ if self.is_help => self.is_help = false,
            KeyCode::Char('?' | 'h') => self.is_help = true,
            KeyCode::Esc | KeyCode::Backspace | KeyCode::Left => self.go_back(),
            code => return self.press_on_page(code, model),
        }
        Wish::Nothing
    }

    fn type_filter(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => (self.is_typing, self.filter) = (false, String::new()),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(letter) if self.filter.chars().count() < FILTER_CHARACTERS_MAX => {
                self.filter.push(letter);
            }
            _ => {}
        }
    }

    /// From a task to its list, from there to the activities, from there to all of them.
    fn go_back(&mut self) {
        match std::mem::replace(&mut self.page, Page::Activities) {
            Page::Task { from, .. } => self.page = *from,
            Page::Tasks { .. } => {}
            Page::Activities => self.filter.clear(),
        }
    }

    fn press_on_page(&mut self, code: KeyCode, model: &Model) -> Wish {
        let step = step(code);
        match &mut self.page {
            Page::Task { text, scroll, .. } => {
                let last = text.lines().count().saturating_sub(1);
                *scroll = scroll.saturating_add_signed(step).min(last);
            }
            Page::Tasks { activity, list, selected } => {
                if code == KeyCode::Tab {
                    (*list, *selected) = (list.next(), None);
                    return Wish::Nothing;
                }
                // How long they have run does not change their order.
                let tasks: Vec<TaskId> =
                    rows::tasks(model, activity, *list, 0).iter().map(|line| line.task).collect();
                *selected = moved(&tasks, selected.as_ref(), step);
                if matches!(code, KeyCode::Enter | KeyCode::Right) {
                    return selected.map_or(Wish::Nothing, Wish::Open);
                }
            }
            Page::Activities => self.press_on_activities(code, step, model),
        }
        Wish::Nothing
    }

    fn press_on_activities(&mut self, code: KeyCode, step: isize, model: &Model) {
        match code {
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('c') => self.sort = Sort::Calls,
            KeyCode::Char('r') => self.sort = Sort::Rate,
            KeyCode::Char('t') => self.sort = Sort::Time,
            KeyCode::Char('e') => self.sort = Sort::Errors,
            KeyCode::Char('n') => self.sort = Sort::Name,
            _ => {
                let rows = rows::activities(model, self.sort, &self.filter);
                let names: Vec<String> = rows.into_iter().map(|row| row.name).collect();
                self.selected = moved(&names, self.selected.as_ref(), step);
                if let (KeyCode::Enter | KeyCode::Right, Some(activity)) = (code, self.selected.clone()) {
                    self.page = Page::Tasks { activity, list: List::Latest, selected: None };
                }
            }
        }
    }
}

/// How many lines a key goes down.
fn step(code: KeyCode) -> isize {
    match code {
        KeyCode::Up | KeyCode::Char('k') => -1,
        KeyCode::Down | KeyCode::Char('j') => 1,
        KeyCode::PageUp => -PAGE,
        KeyCode::PageDown => PAGE,
        KeyCode::Home => isize::MIN / 2,
        KeyCode::End => isize::MAX / 2,
        _ => 0,
    }
}

/// Where the line that was selected stands now; the first one, if none was or it is gone.
pub(super) fn place<T: PartialEq>(lines: &[T], selected: Option<&T>) -> usize {
    selected.and_then(|selected| lines.iter().position(|line| line == selected)).unwrap_or(0)
}

fn moved<T: Clone + PartialEq>(lines: &[T], selected: Option<&T>, step: isize) -> Option<T> {
    let last = lines.len().checked_sub(1)?;
    lines.get(place(lines, selected).saturating_add_signed(step).min(last)).cloned()
}
