//! How often durations of which length occur.

use plotters::prelude::*;

use super::curves::Series;
use super::{FAINT, INK, LEFT, MARGIN, Plot, SOFT, draw, seconds, series, words};
use crate::error::ExportError;

const HEIGHT: u32 = 210;
const LEGEND: u32 = 20;
const BUCKETS: usize = 40;

/// Counts of the second numbers of the points, which are seconds, on a logarithmic scale.
pub fn histogram(label: String, all: &[Series]) -> Result<Plot, ExportError> {
    let values = || all.iter().flat_map(|one| &one.points).map(|point| point.1.max(1e-9).ln());
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let (low, high) = if low < high { (low, high) } else { (low.min(0.0) - 0.5, low.min(0.0) + 0.5) };
    let width = (high - low) / BUCKETS as f64;
    let counts: Vec<Vec<u32>> = all.iter().map(|one| count(one, low, width)).collect();
    let most = counts.iter().flatten().copied().max().unwrap_or(1).max(1);
    draw(label, HEIGHT, |area| {
        let (legend, area) = area.split_vertically(LEGEND);
        for (number, one) in all.iter().enumerate() {
            let left = LEFT as i32 + number as i32 * 140;
            legend.draw(&Rectangle::new([(left, 7), (left + 10, 17)], series(number).filled()))?;
            legend.draw(&Text::new(one.name.clone(), (left + 15, 6), words(12, INK)))?;
        }
        let mut chart = ChartBuilder::on(&area)
            .margin_right(MARGIN)
            .margin_top(4)
            .x_label_area_size(26)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(low..high, 0.0..f64::from(most) * 1.05)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT)
            .axis_style(FAINT)
            .label_style(words(12, SOFT))
            .y_labels(4)
            .x_labels(8)
            .x_label_formatter(&|logarithm: &f64| seconds(logarithm.exp()))
            .y_label_formatter(&|count: &f64| format!("{count:.0}"))
            .draw()?;
        for (number, counts) in counts.iter().enumerate() {
            let part = width / counts_len(all);
            let bar = |(bucket, count): (usize, &u32)| {
                let left = low + bucket as f64 * width + number as f64 * part;
                let corners = [(left, 0.0), (left + part * 0.9, f64::from(*count))];
                Rectangle::new(corners, series(number).filled())
            };
            chart.draw_series(counts.iter().enumerate().filter(|(_, count)| **count > 0).map(bar))?;
        }
        Ok(())
    })
}

fn counts_len(all: &[Series]) -> f64 {
    all.len().max(1) as f64
}

fn count(one: &Series, low: f64, width: f64) -> Vec<u32> {
    let mut counts = vec![0; BUCKETS];
    for (_, value) in &one.points {
        let bucket = ((value.max(1e-9).ln() - low) / width) as usize;
        counts[bucket.min(BUCKETS - 1)] += 1;
    }
    counts
}
