//! Plots as SVG that follow the reader's theme: on a page, in a file of their own, and on paper.
//!
//! Colours are drawn as numbers that stand for a variable of the style, and replaced by it in the end.

mod bars;
mod curves;
mod gantt;
mod graph;
mod histogram;
mod ticks;

use plotters::coord::Shift;
use plotters::prelude::*;

pub use bars::bars;
pub use curves::{Series, cumulative, curves, curves_of_bytes, scatter};
pub use gantt::gantt;
pub use graph::{Edge, graph};
pub use histogram::histogram;

use crate::error::ExportError;

/// The variables of the colours, light, dark and on paper. Text on `--paper` and in `--on-s` on the others has a
/// contrast of at least 4.5.
pub const STYLE: &str = "\
:root{--paper:#fff;--ink:#1b1f24;--soft:#57606a;--faint:#d0d7de;--wash:#f6f8fa;--on-s:#fff;--bad:#b4232a;\
--s0:#0b62b8;--s1:#a04500;--s2:#1a7037;--s3:#8a3fb0;--s4:#b02a6b;--s5:#0f6f78;--s6:#6b5b00;--s7:#56606b}\
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--soft:#9ea7b3;--faint:#30363d;\
--wash:#161b22;--on-s:#0d1117;--bad:#ff8078;--s0:#6cb0ff;--s1:#ffa15c;--s2:#5fd07f;--s3:#d2a0f5;--s4:#ff93c4;\
--s5:#56d0d8;--s6:#e0c64a;--s7:#aab4bf}}\
@media print{:root{--paper:#fff;--ink:#000;--soft:#444;--faint:#bbb;--wash:#fff;--on-s:#fff;--bad:#b4232a;\
--s0:#0b62b8;--s1:#a04500;--s2:#1a7037;--s3:#8a3fb0;--s4:#b02a6b;--s5:#0f6f78;--s6:#6b5b00;--s7:#56606b}}";

/// How wide plots are; on a page they shrink with it.
pub(crate) const WIDTH: u32 = 960;
/// How wide the names on the left are, so that plots above each other share their time axis.
pub(crate) const LEFT: u32 = 150;
const MARGIN: u32 = 12;
const SERIES: u8 = 8;

const INK: RGBColor = RGBColor(1, 1, 1);
const SOFT: RGBColor = RGBColor(2, 2, 2);
const FAINT: RGBColor = RGBColor(3, 3, 3);
const BAD: RGBColor = RGBColor(4, 4, 4);
const ON_SERIES: RGBColor = RGBColor(5, 5, 5);
const NAMES: [(RGBColor, &str); 5] =
    [(INK, "ink"), (SOFT, "soft"), (FAINT, "faint"), (BAD, "bad"), (ON_SERIES, "on-s")];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A plot, and what it shows in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plot {
    /// For whoever cannot see it.
    pub label: String,
    height: u32,
    svg: String,
}

impl Plot {
    /// As a part of a page that has [`STYLE`].
    #[must_use]
    pub fn inline(&self) -> String {
        let label = escape(&self.label);
        self.svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1)
    }

    /// As a file of its own.
    #[must_use]
    pub fn file(&self) -> String {
        let label = escape(&self.label);
        let begin = format!(
            ">\n<title>{label}</title>\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n"
        );
        let size = format!("<svg width=\"{WIDTH}\" height=\"{}\" ", self.height);
        self.inline().replacen("<svg ", &size, 1).replacen(">\n", &begin, 1)
    }
}

/// The colour of a series by its number.
fn series(number: usize) -> RGBColor {
    let number = 10 + (number % usize::from(SERIES)) as u8;
    RGBColor(number, number, number)
}

fn words(size: u32, color: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&color)
}

/// Draws something of a height.
fn draw(label: String, height: u32, paint: impl FnOnce(&Area<'_>) -> Drawn) -> Result<Plot, ExportError> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let drawn = paint(&area).and_then(|()| area.present());
        drawn.map_err(|error| ExportError::Plot { why: error.to_string() })?;
    }
    for (color, name) in NAMES {
        svg = svg.replace(&hex(color), &format!("\"var(--{name})\""));
    }
    for number in 0..usize::from(SERIES) {
        svg = svg.replace(&hex(series(number)), &format!("\"var(--s{number})\""));
    }
    // A page scales it; its size is in its view box.
    let svg = svg.replacen(&format!("width=\"{WIDTH}\" height=\"{height}\" "), "", 1);
    Ok(Plot { label, height, svg: svg.replace(" opacity=\"1\"", "") })
}

fn hex(color: RGBColor) -> String {
    format!("\"#{:02X}{:02X}{:02X}\"", color.0, color.1, color.2)
}

/// Text as it may stand in a document, in quotes or not.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(character),
            other if other.is_control() => safe.extend(other.escape_default()),
            other => safe.push(other),
        }
    }
    safe
}

/// At most so many characters.
pub(crate) fn cut(text: &str, characters_max: usize) -> String {
    let clean = text.replace(char::is_control, " ");
    match clean.char_indices().nth(characters_max) {
        Some(_) => clean.chars().take(characters_max - 1).chain(['…']).collect(),
        None => clean,
    }
}

/// Seconds as a short number with its unit.
pub(crate) fn seconds(s: f64) -> String {
    crate::duration((s.max(0.0) * 1e9).round() as u64)
}
