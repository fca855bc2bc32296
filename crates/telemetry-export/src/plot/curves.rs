//! Curves and points over time.

use plotters::prelude::*;

use super::ticks::{Axis, ticks, ticks_of_bytes};
use super::{FAINT, INK, LEFT, MARGIN, Plot, SOFT, draw, seconds, series, words};
use crate::error::ExportError;

const HEIGHT: u32 = 190;
const BOTTOM: u32 = 26;
const LEGEND: u32 = 20;
/// More points than this no screen shows.
const POINTS_MAX: usize = 900;
const DOTS_MAX: usize = 3_000;

/// Points with a name; their first number is a time in seconds from the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What they are of.
    pub name: String,
    /// The points, by time.
    pub points: Vec<(f64, f64)>,
}

/// Lines over time.
pub fn curves(
    label: String,
    span_s: f64,
    all: &[Series],
    show: impl Fn(f64) -> String,
) -> Result<Plot, ExportError> {
    plot(label, span_s, all, &Labels { show, ticks }, |points| (thinned(points), true))
}

/// Lines of bytes over time.
pub fn curves_of_bytes(
    label: String,
    span_s: f64,
    all: &[Series],
    show: impl Fn(f64) -> String,
) -> Result<Plot, ExportError> {
    plot(label, span_s, all, &Labels { show, ticks: ticks_of_bytes }, |points| (thinned(points), true))
}

/// A line for each series that rises by one with each of its moments.
pub fn cumulative(label: String, span_s: f64, all: &[Series]) -> Result<Plot, ExportError> {
    let show = |count| format!("{count:.0}");
    plot(label, span_s, all, &Labels { show, ticks }, |points| (thinned(points), true))
}

/// Dots over time.
pub fn scatter(
    label: String,
    span_s: f64,
    all: &[Series],
    show: impl Fn(f64) -> String,
) -> Result<Plot, ExportError> {
    plot(label, span_s, all, &Labels { show, ticks }, |points| (sampled(points), false))
}

/// What stands at the left: which values, and how they are written.
struct Labels<Show> {
    show: Show,
    ticks: fn(f64) -> Vec<f64>,
}

fn plot<Show: Fn(f64) -> String>(
    label: String,
    span_s: f64,
    all: &[Series],
    labels: &Labels<Show>,
    choose: impl Fn(&[(f64, f64)]) -> (Vec<(f64, f64)>, bool),
) -> Result<Plot, ExportError> {
    let most = all.iter().flat_map(|series| &series.points).map(|point| point.1).fold(0.0, f64::max);
    let most = if most > 0.0 { most * 1.05 } else { 1.0 };
    draw(label, HEIGHT, |area| {
        let (legend, area) = area.split_vertically(LEGEND);
        let mut left = LEFT as i32;
        for (number, one) in all.iter().enumerate() {
            legend.draw(&Rectangle::new([(left, 7), (left + 10, 17)], series(number).filled()))?;
            legend.draw(&Text::new(one.name.clone(), (left + 15, 6), words(12, INK)))?;
            left += 40 + 7 * one.name.chars().count() as i32;
        }
        let mut chart = ChartBuilder::on(&area)
            .margin_right(MARGIN)
            .margin_top(4)
            .x_label_area_size(BOTTOM)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(0.0..span_s.max(1e-9), Axis::new(most, (labels.ticks)(most)))?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT)
            .axis_style(FAINT)
            .label_style(words(12, SOFT))
            .x_labels(8)
            .y_labels(4)
            .x_label_formatter(&|s: &f64| seconds(*s))
            .y_label_formatter(&|value: &f64| (labels.show)(*value))
            .draw()?;
        for (number, one) in all.iter().enumerate() {
            let (points, is_line) = choose(&one.points);
            if is_line {
                chart.draw_series(LineSeries::new(points, series(number).stroke_width(2)))?;
            } else {
                chart.draw_series(
                    points.into_iter().map(|point| Circle::new(point, 2, series(number).filled())),
                )?;
            }
        }
        Ok(())
    })
}

/// Of many points, the lowest and the highest of each stretch.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS_MAX {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(POINTS_MAX / 2);
    let ends = |some: &[(f64, f64)]| {
        let least = some.iter().copied().min_by(|one, other| one.1.total_cmp(&other.1));
        let most = some.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1));
        let mut two: Vec<(f64, f64)> = least.into_iter().chain(most).collect();
        two.sort_by(|one, other| one.0.total_cmp(&other.0));
        two
    };
    points.chunks(stretch).flat_map(ends).collect()
}

/// Of many points, every so many, and the highest of those between.
fn sampled(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(DOTS_MAX).max(1);
    let highest = |some: &[(f64, f64)]| some.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1));
    points.chunks(stretch).filter_map(highest).collect()
}
