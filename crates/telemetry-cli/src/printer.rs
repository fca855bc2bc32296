//! The only place that prints: data to stdout, talk to stderr.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use crate::arguments::Color;
use crate::failure::Failure;
use crate::ink::Ink;

/// The width of a screen that does not say.
const WIDTH_USUAL: usize = 100;
const STREAM_BYTES: usize = 1 << 16;

/// Prints.
#[derive(Debug)]
pub(crate) struct Printer {
    stdout: io::Stdout,
    stderr: io::Stderr,
    /// The colours of data.
    pub(crate) ink: Ink,
    talk_ink: Ink,
}

impl Printer {
    pub(crate) fn new(color: Color) -> Self {
        let choice = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        choice.write_global();
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let ink = Ink::new(AutoStream::choice(&stdout) != ColorChoice::Never);
        let talk_ink = Ink::new(AutoStream::choice(&stderr) != ColorChoice::Never);
        Self { stdout, stderr, ink, talk_ink }
    }

    /// Whether a person reads the data on a screen.
    pub(crate) fn is_terminal(&self) -> bool {
        self.stdout.is_terminal()
    }

    /// Whether a person reads the talk on a screen.
    pub(crate) fn talks_to_terminal(&self) -> bool {
        self.stderr.is_terminal()
    }

    /// The columns of the screen; none where data goes elsewhere, which is never broken into lines.
    pub(crate) fn width(&self) -> Option<usize> {
        let width = || terminal_size::terminal_size_of(&self.stdout).map(|(width, _)| usize::from(width.0));
        self.is_terminal().then(|| width().filter(|width| *width > 0).unwrap_or(WIDTH_USUAL))
    }

    /// Prints data, as it is.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Failure> {
        let mut stdout = self.stdout.lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Output { source: error },
        })
    }

    /// Where data of any length goes, piece by piece.
    pub(crate) fn stream() -> io::BufWriter<io::StdoutLock<'static>> {
        io::BufWriter::with_capacity(STREAM_BYTES, io::stdout().lock())
    }

    /// Prints data as JSON that a person can read, too.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut text =
            serde_json::to_string_pretty(value).map_err(|error| Failure::Output { source: error.into() })?;
        text.push('\n');
        self.data(&text)
    }

    /// Draws a line over the one that was drawn before; an empty one takes it away.
    pub(crate) fn draw_line(&mut self, text: &str) {
        let _ = write!(self.stderr, "\r\u{1b}[K{text}").and_then(|()| self.stderr.flush());
    }

    /// Asks the person, who must be there; anything but yes is no.
    pub(crate) fn ask(&mut self, question: &str) -> Result<bool, Failure> {
        if !io::stdin().is_terminal() || !self.talks_to_terminal() {
            return Err(Failure::NobodyToAsk { question: question.to_owned() });
        }
        let _ = write!(self.stderr, "{question} [y/N] ").and_then(|()| self.stderr.flush());
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(|source| Failure::Input { source })?;
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Says something to the person. Whether it is heard changes nothing.
    pub(crate) fn talk(&mut self, text: &str) {
        let _ = writeln!(self.stderr, "{text}");
    }

    pub(crate) fn talk_quietly(&mut self, text: &str) {
        self.talk(&self.talk_ink.dim(text));
    }

    pub(crate) fn warn(&mut self, text: &str) {
        self.talk(&format!("{} {text}", self.talk_ink.odd("warning:")));
    }

    pub(crate) fn error(&mut self, text: &str, hint: Option<&str>) {
        self.talk(&format!("{} {text}", self.talk_ink.bad("error:")));
        if let Some(hint) = hint {
            self.talk(&format!("{} {hint}", self.talk_ink.live("hint:")));
        }
    }
}
