//! Boxes and arrows from left to right.

use std::collections::BTreeMap;

use plotters::prelude::*;

use super::{FAINT, INK, MARGIN, Plot, SOFT, WIDTH, cut, draw, series, words};
use crate::error::ExportError;

const BOX_WIDTH: i32 = 150;
const BOX_HEIGHT: i32 = 30;
const ROW: i32 = 52;
const NODES_MAX: usize = 40;

/// An arrow between two names, and what stands on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// What stands on it.
    pub text: String,
}

/// Draws the arrows; each name stands as far to the right as the longest way to it.
pub fn graph(label: String, edges: &[Edge]) -> Result<Plot, ExportError> {
    let mut columns: BTreeMap<&str, i32> = BTreeMap::new();
    for edge in edges.iter().filter(|edge| edge.from != edge.to) {
        if columns.len() + 2 <= NODES_MAX {
            columns.entry(&edge.from).or_insert(0);
            columns.entry(&edge.to).or_insert(0);
        }
    }
    let drawn: Vec<&Edge> = edges
        .iter()
        .filter(|edge| {
            edge.from != edge.to && columns.contains_key(&*edge.from) && columns.contains_key(&*edge.to)
        })
        .collect();
    // So many rounds are enough without circles; with one, it is broken somewhere.
    for _ in 0..columns.len() {
        for edge in &drawn {
            let from = columns[&*edge.from];
            if from + 1 < columns.len() as i32 && columns[&*edge.to] <= from {
                columns.insert(&edge.to, from + 1);
            }
        }
    }
    let places = places(&columns);
    let rows = places.values().map(|place| place.1).max().unwrap_or(0) + 1;
    let height = rows * ROW + 2 * MARGIN as i32;
    let last = columns.values().copied().max().unwrap_or(0).max(1);
    let step = (WIDTH as i32 - BOX_WIDTH - 2 * MARGIN as i32) / last;
    let corner = |name: &str| {
        let (column, row) = places[name];
        (MARGIN as i32 + column * step, MARGIN as i32 + row * ROW)
    };
    draw(label, height as u32, |area| {
        for edge in &drawn {
            let (from, to) = (corner(&edge.from), corner(&edge.to));
            let begin = (from.0 + BOX_WIDTH, from.1 + BOX_HEIGHT / 2);
            let end = (to.0, to.1 + BOX_HEIGHT / 2);
            area.draw(&PathElement::new(vec![begin, end], SOFT))?;
            let head = vec![(end.0 - 7, end.1 - 4), end, (end.0 - 7, end.1 + 4)];
            area.draw(&PathElement::new(head, SOFT.stroke_width(2)))?;
            let middle = (i32::midpoint(begin.0, end.0) - 24, i32::midpoint(begin.1, end.1) - 15);
            area.draw(&Text::new(cut(&edge.text, 18), middle, words(11, SOFT)))?;
        }
        for name in places.keys() {
            let (left, top) = corner(name);
            let corners = [(left, top), (left + BOX_WIDTH, top + BOX_HEIGHT)];
            area.draw(&Rectangle::new(corners, series(0).stroke_width(2)))?;
            area.draw(&Text::new(cut(name, 20), (left + 8, top + 9), words(12, INK)))?;
        }
        area.draw(&PathElement::new(vec![(0, height - 1), (WIDTH as i32, height - 1)], FAINT))
    })
}

/// The column and the row of each name.
fn places<'a>(columns: &BTreeMap<&'a str, i32>) -> BTreeMap<&'a str, (i32, i32)> {
    let used: Vec<i32> = {
        let mut used: Vec<i32> = columns.values().copied().collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    let mut filled: BTreeMap<i32, i32> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for (name, column) in columns {
        let column = used.iter().position(|used| used == column).unwrap_or_default() as i32;
        let row = filled.entry(column).or_default();
        places.insert(*name, (column, *row));
        *row += 1;
    }
    places
}
