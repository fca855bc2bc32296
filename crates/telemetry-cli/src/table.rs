//! Tables on a screen.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, presets};
use unicode_width::UnicodeWidthStr;

use crate::ink::Ink;
use crate::text::pad;

/// What a column of words needs at the least, where there is more in it.
const TEXT_WIDTH_MIN: usize = 12;

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
    let columns: Vec<(usize, Side)> = table
        .column_max_content_widths()
        .into_iter()
        .zip(columns)
        .map(|(width, (_, side))| (usize::from(width), *side))
        .collect();
    let (padding, whole) = laid_out(&columns, width.unwrap_or(usize::MAX));
    for (column, is_whole) in table.column_iter_mut().zip(whole) {
        column.set_padding((0, padding));
        if is_whole {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
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

/// The space behind a column, and which columns are not broken into lines: the numbers, and what a row is about, where
/// that leaves enough to the others.
fn laid_out(columns: &[(usize, Side)], width: usize) -> (u16, Vec<bool>) {
    let fits = |whole: &[bool], padding: u16| {
        let needed = |(number, (width, _)): (usize, &(usize, Side))| {
            let width = if whole[number] { *width } else { TEXT_WIDTH_MIN.min(*width) };
            width + usize::from(padding)
        };
        columns.iter().enumerate().map(needed).sum::<usize>() <= width
    };
    let numbers: Vec<bool> = columns.iter().map(|(_, side)| *side == Side::Right).collect();
    let mut with_name = numbers.clone();
    with_name.iter_mut().take(1).for_each(|is_whole| *is_whole = true);
    let ways = [(2, &with_name), (1, &with_name), (2, &numbers), (1, &numbers)];
    let way = ways.into_iter().find(|(padding, whole)| fits(whole, *padding));
    way.map_or_else(|| (1, vec![false; columns.len()]), |(padding, whole)| (padding, whole.clone()))
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
    fn numbers_and_names_are_whole_where_there_is_room_for_the_rest() {
        let columns = [(20, Side::Left), (7, Side::Right), (36, Side::Left)];
        assert_eq!(laid_out(&columns, 80), (2, vec![true, true, false]));
        assert_eq!(laid_out(&columns, 45), (2, vec![true, true, false]));
        assert_eq!(laid_out(&columns, 44), (1, vec![true, true, false]));
        assert_eq!(laid_out(&columns, 41), (2, vec![false, true, false]));
        assert_eq!(laid_out(&columns, 36), (1, vec![false, true, false]));
        assert_eq!(laid_out(&columns, 33), (1, vec![false; 3]));
    }

    #[test]
    fn what_is_too_wide_is_broken_in_its_words() {
        let columns = [
            ("key".to_owned(), Side::Left),
            ("value".to_owned(), Side::Left),
            ("ms".to_owned(), Side::Right),
        ];
        let row = ["a.rather.long.key", "one, two, three, four, five, six", "1.25 ms"].map(str::to_owned);
        let drawn = plain(&columns, vec![row.to_vec()], Some(46));
        let expected = "\
key                value                  ms
a.rather.long.key  one, two, three,  1.25 ms
                   four, five, six
";
        assert_eq!(drawn, expected);
    }
}
