//! A run over time: a band for each thread, in it a row for each depth of calls.

use plotters::prelude::*;

use super::{BAD, FAINT, INK, LEFT, MARGIN, Plot, SOFT, WIDTH, cut, draw, seconds, series, words};
use crate::error::ExportError;
use crate::timeline::Timeline;

const ROW: i32 = 16;
const LEGEND: i32 = 24;
const AXIS: i32 = 26;
const NAME_CHARACTERS_MAX: usize = 22;
/// A bar at least so wide has its name in it.
const NAMED_WIDTH_MIN: i32 = 46;
const TICKS_MAX: i64 = 10;

/// Draws a timeline.
pub fn gantt(timeline: &Timeline) -> Result<Plot, ExportError> {
    let span_ns = (timeline.ended_ns - timeline.started_ns).max(1);
    let room = f64::from(WIDTH - LEFT - MARGIN);
    let place = |ns: i64| LEFT as i32 + ((ns - timeline.started_ns) as f64 / span_ns as f64 * room) as i32;
    let height = LEGEND + timeline.rows.len() as i32 * ROW + AXIS;
    let label = format!(
        "Timeline of {} over {}: a bar for each call, below its caller",
        timeline.threads(),
        seconds(span_ns as f64 / 1e9)
    );
    draw(label, height as u32, |area| {
        let mut left = LEFT as i32;
        for (rank, name) in timeline.ranked.iter().take(7).enumerate() {
            let name = cut(name, 16);
            area.draw(&Rectangle::new([(left, 6), (left + 10, 16)], series(rank).filled()))?;
            area.draw(&Text::new(name.clone(), (left + 15, 5), words(12, INK)))?;
            left += 34 + 7 * name.chars().count() as i32;
        }
        let step_ns = step_ns(span_ns);
        for passed_ns in (0..=span_ns / step_ns).map(|tick| tick * step_ns) {
            let (left, bottom) = (place(timeline.started_ns + passed_ns), height - AXIS);
            area.draw(&PathElement::new(vec![(left, LEGEND), (left, bottom + 4)], FAINT))?;
            let text = seconds(passed_ns as f64 / 1e9);
            let middle = (left - 3 * text.chars().count() as i32).min(WIDTH as i32 - 50);
            area.draw(&Text::new(text, (middle, bottom + 8), words(11, SOFT)))?;
        }
        for (number, row) in timeline.rows.iter().enumerate() {
            let top = LEGEND + number as i32 * ROW;
            if row.depth == 0 {
                area.draw(&PathElement::new(vec![(0, top), (WIDTH as i32, top)], FAINT))?;
                area.draw(&Text::new(cut(&row.thread, NAME_CHARACTERS_MAX), (4, top + 3), words(12, INK)))?;
            }
            for bar in &row.bars {
                let (from, to) = (place(bar.started_ns), place(bar.ended_ns));
                let corners = [(from, top + 2), ((to - 1).max(from + 1), top + ROW - 1)];
                area.draw(&Rectangle::new(corners, series(bar.rank.min(7)).filled()))?;
                if bar.errors > 0 {
                    let line = vec![(from, top + ROW - 1), (to.max(from + 2), top + ROW - 1)];
                    area.draw(&PathElement::new(line, BAD.stroke_width(3)))?;
                }
                if to - from >= NAMED_WIDTH_MIN && bar.calls == 1 {
                    let name = cut(timeline.name(bar), ((to - from - 6) / 7).max(2) as usize);
                    area.draw(&Text::new(name, (from + 4, top + 4), words(11, super::ON_SERIES)))?;
                }
            }
        }
        Ok(())
    })
}

/// The least of 1, 2, 5, 10, … that gives few enough ticks.
fn step_ns(span_ns: i64) -> i64 {
    let powers = (0..19).map(|power| 10_i64.pow(power));
    let steps = powers.flat_map(|power| [1, 2, 5].map(|factor| power.saturating_mul(factor)));
    steps.into_iter().find(|step| span_ns / step <= TICKS_MAX).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_round() {
        let spans =
            [(1, 1), (10, 1), (11, 2), (837_000_000, 100_000_000), (i64::MAX, 1_000_000_000_000_000_000)];
        for (span_ns, expected) in spans {
            assert_eq!(step_ns(span_ns), expected, "{span_ns}");
        }
    }
}
