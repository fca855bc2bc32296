//! One thing that was checked.

use serde::Serialize;

use crate::ink::Ink;
use crate::text::{pad, visible, visible_lines};

const NAME_WIDTH: usize = 12;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Ok,
    /// Worth knowing, and nothing is lost by it.
    Warn,
    Fail,
}

/// One thing that was checked.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) detail: String,
    /// What to do about it.
    pub(super) remedy: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, state: State::Ok, detail: detail.into(), remedy: None }
    }

    pub(super) fn warn(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, state: State::Warn, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn fail(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, state: State::Fail, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    /// A line, and one for the remedy.
    pub(super) fn lines(&self, ink: Ink) -> String {
        let mark = match self.state {
            State::Ok => ink.good("✓"),
            State::Warn => ink.odd("!"),
            State::Fail => ink.bad("✗"),
        };
        let indent = format!("\n{}", " ".repeat(NAME_WIDTH + 3));
        let detail = visible_lines(&self.detail).replace('\n', &indent);
        let mut lines = format!("{mark} {} {detail}\n", ink.dim(&pad(self.name, NAME_WIDTH)));
        if let Some(remedy) = &self.remedy {
            lines += &[&indent[1..], &ink.live("hint:"), " ", &visible(remedy), "\n"].concat();
        }
        lines
    }
}
