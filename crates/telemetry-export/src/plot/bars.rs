//! Bars, one under the other.

use plotters::prelude::*;

use super::{FAINT, INK, LEFT, MARGIN, Plot, SOFT, WIDTH, cut, draw, series, words};
use crate::error::ExportError;

const ROW: i32 = 24;
const VALUE_WIDTH: i32 = 110;
const NAME_CHARACTERS_MAX: usize = 22;

/// A bar for each name; `show` says what stands beside it.
pub fn bars(
    label: String,
    items: &[(String, f64)],
    show: impl Fn(f64) -> String,
) -> Result<Plot, ExportError> {
    let most = items.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let height = items.len() as u32 * ROW as u32 + 2 * MARGIN;
    let (left, room) = (LEFT as i32, WIDTH as i32 - LEFT as i32 - VALUE_WIDTH);
    draw(label, height, |area| {
        area.draw(&PathElement::new(
            vec![(left, MARGIN as i32), (left, height as i32 - MARGIN as i32)],
            FAINT,
        ))?;
        for (number, (name, value)) in items.iter().enumerate() {
            let top = MARGIN as i32 + number as i32 * ROW;
            let width = if most > 0.0 { (value / most * f64::from(room)).round() as i32 } else { 0 };
            let corners = [(left, top + 4), (left + width.max(1), top + ROW - 4)];
            area.draw(&Rectangle::new(corners, series(0).filled()))?;
            area.draw(&Text::new(cut(name, NAME_CHARACTERS_MAX), (4, top + 6), words(12, INK)))?;
            area.draw(&Text::new(show(*value), (left + width + 6, top + 6), words(12, SOFT)))?;
        }
        Ok(())
    })
}
