//! What stands out, and how; without colours where none are wanted.

use ratatui::style::{Color, Modifier, Style};
use telemetry_core::status::Status;

pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Styles with colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    has_colours: bool,
}

impl Theme {
    pub(super) fn new(has_colours: bool) -> Self {
        Self { has_colours }
    }

    pub(super) fn bad(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn live(self) -> Style {
        self.colour(Color::Cyan)
    }

    /// A number that should be nothing.
    pub(super) fn better_none(self, count: u64) -> Style {
        if count > 0 { self.bad() } else { Style::new() }
    }

    pub(super) fn status(self, status: Status) -> Style {
        match status {
            Status::Finished => self.colour(Color::Green),
            Status::Error => self.bad(),
            Status::Running => self.live(),
            _ => self.colour(Color::Yellow),
        }
    }

    fn colour(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }
}
