//! Tables on a screen.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, presets};
use unicode_width::UnicodeWidthStr;

use crate::ink::Ink;
use crate::text::pad;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Columns with dim names; those that are not named by their number stand right.
pub(crate) fn headed(names: &[&str], left: &[usize], ink: Ink) -> Vec<(String, Side)> {
    let side = |number: usize| if left.contains(&number) { Side::Left } else { Side::Right };
    names.iter().enumerate().map(|(number, name)| (ink.dim(name), side(number))).collect()
}

/// A table without frame, which only its header and its spaces hold together. Ends with a line break.
pub(crate) fn plain(columns: &[(String, Side)], rows: Vec<Vec<String>>, width: Option<usize>) -> String {
    let mut table = arranged(width);
    table.load_preset(presets::NOTHING);
    fill(&mut table, columns, rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    keep_names_whole(&mut table, width);
    finish(&table)
}

/// A table with a frame, for values of which nothing is known.
pub(crate) fn framed(columns: &[(String, Side)], rows: Vec<Vec<String>>, width: Option<usize>) -> String {
    let mut table = arranged(width);
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.apply_modifier(comfy_table::modifiers::UTF8_ROUND_CORNERS);
    fill(&mut table, columns, rows);
    finish(&table)
}

/// A column under the other, for rows that are too wide for a table.
pub(crate) fn stacked(columns: &[String], rows: &[Vec<String>], rule: impl Fn(usize) -> String) -> String {
    let width = columns.iter().map(|column| column.width()).max().unwrap_or(0);
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        text.push_str(&rule(number + 1));
        text.push('\n');
        for (column, value) in columns.iter().zip(row) {
            let indented = value.replace('\n', &format!("\n{}", " ".repeat(width + 2)));
            text.extend([&*pad(column, width), "  ", &indented, "\n"]);
        }
    }
    text
}

/// What a row is about is not broken into lines where it leaves half of the screen to the rest.
fn keep_names_whole(table: &mut Table, width: Option<usize>) {
    let name = table.column_max_content_widths().first().map_or(0, |width| usize::from(*width));
    if width.is_some_and(|width| name * 2 <= width)
        && let Some(column) = table.column_mut(0)
    {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

fn arranged(width: Option<usize>) -> Table {
    let mut table = Table::new();
    // What is painted is decided by whoever fills the table.
    table.force_no_tty();
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    }
    table
}

fn fill(table: &mut Table, columns: &[(String, Side)], rows: Vec<Vec<String>>) {
    let side = |index: usize| match columns.get(index) {
        Some((_, Side::Right)) => CellAlignment::Right,
        _ => CellAlignment::Left,
    };
    let cells = |texts: Vec<String>| {
        Row::from(
            texts.into_iter().enumerate().map(|(index, text)| Cell::new(text).set_alignment(side(index))),
        )
    };
    table.set_header(cells(columns.iter().map(|(name, _)| name.clone()).collect()));
    table.add_rows(rows.into_iter().map(cells));
}

/// Without the spaces that fill the last column.
fn finish(table: &Table) -> String {
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_broken_where_there_is_room_for_the_rest() {
        let columns = [("key".to_owned(), Side::Left), ("value".to_owned(), Side::Left)];
        let drawn =
            |width| plain(&columns, vec![vec!["a.key".to_owned(), "one,two,three,four".to_owned()]], width);
        assert_eq!(drawn(Some(16)), "key    value\na.key  one,two\n       ,three,\n       four\n");
        assert_eq!(drawn(None), "key    value\na.key  one,two,three,four\n");
        assert!(drawn(Some(8)).lines().all(|line| line.chars().count() <= 8));
    }
}
