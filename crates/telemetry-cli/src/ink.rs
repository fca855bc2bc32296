//! Colours, and which word gets which.

use anstyle::{AnsiColor, Style};

/// Paints text, or leaves it alone where there are no colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ink {
    is_on: bool,
}

impl Ink {
    pub(crate) fn new(is_on: bool) -> Self {
        Self { is_on }
    }

    pub(crate) fn is_on(self) -> bool {
        self.is_on
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    pub(crate) fn odd(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    pub(crate) fn live(self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    /// The word for how something stands.
    pub(crate) fn status(self, word: &str) -> String {
        match word {
            "FINISHED" => self.good(word),
            "ERROR" => self.bad(word),
            "RUNNING" | "SUBMITTED" | "WAITING" => self.live(word),
            _ => self.odd(word),
        }
    }

    fn paint(self, style: Style, text: &str) -> String {
        if self.is_on && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
