//! The answer of a query as aligned text.

use telemetry_store::{Cell, Table};

/// Draws a table: the names of the columns, a rule, the rows. Numbers stand right, nothing is empty.
///
/// ```
/// use telemetry_export::table::draw;
/// use telemetry_store::{Cell, Table};
///
/// let mut table = Table::default();
/// table.columns = vec!["activity_id".into(), "calls".into()];
/// table.rows = vec![vec!["parse".into(), 4.into()], vec!["clean".into(), 13.into()]];
/// assert_eq!(draw(&table), "activity_id  calls\n───────────  ─────\nparse            4\nclean           13\n");
/// ```
#[must_use]
pub fn draw(table: &Table) -> String {
    let texts: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(text).collect()).collect();
    let width = |column: usize| {
        let cells = texts.iter().map(|row| row[column].chars().count());
        cells.chain([table.columns[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let is_right = |column: usize| {
        let is_number = |row: &Vec<Cell>| matches!(row[column], Cell::Integer(_) | Cell::Real(_));
        !table.rows.is_empty() && table.rows.iter().all(is_number)
    };
    let right: Vec<bool> = (0..table.columns.len()).map(is_right).collect();
    [&table.columns, &rule].into_iter().chain(&texts).map(|row| line(row, &widths, &right)).collect()
}

fn line(cells: &[String], widths: &[usize], right: &[bool]) -> String {
    let padded: Vec<String> = cells
        .iter()
        .zip(widths.iter().zip(right))
        .map(
            |(cell, (width, right))| {
                if *right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            },
        )
        .collect();
    format!("{}\n", padded.join("  ").trim_end())
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"),
        Cell::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
