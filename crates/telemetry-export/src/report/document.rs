//! A page as a list of parts, in no particular form.

use crate::plot::Plot;

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// A heading of a level from 2 on.
    Heading(u8, String),
    /// A sentence or several.
    Paragraph(String),
    /// Sentences under each other.
    List(Vec<String>),
    /// Names with their values.
    Fields(Vec<(String, String)>),
    /// Rows under the names of their columns. Columns of numbers stand right, except the first one.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Text whose spaces count.
    Preformatted(String),
    /// A picture, where there can be one.
    Picture(Plot),
}

/// A page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// The title.
    pub title: String,
    /// The word for how the run stands.
    pub status: String,
    /// The parts.
    pub blocks: Vec<Block>,
    /// The last line.
    pub footer: String,
}

impl Document {
    pub(super) fn heading(&mut self, level: u8, text: &str) {
        self.blocks.push(Block::Heading(level, text.to_owned()));
    }

    pub(super) fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// Names with values, without those that have none.
    pub(super) fn fields(&mut self, fields: Vec<(&str, Option<String>)>) {
        let known = |(name, value): (&str, Option<String>)| {
            value.filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value))
        };
        let fields: Vec<(String, String)> = fields.into_iter().filter_map(known).collect();
        if !fields.is_empty() {
            self.blocks.push(Block::Fields(fields));
        }
    }

    /// A table, without the columns that have nothing in any row.
    pub(super) fn table(&mut self, columns: &[&str], rows: &[Vec<String>]) {
        let is_used = |column: usize| column == 0 || rows.iter().any(|row| row[column] != "–");
        let used: Vec<usize> = (0..columns.len()).filter(|column| is_used(*column)).collect();
        let only = |row: &Vec<String>| used.iter().map(|column| row[*column].clone()).collect();
        let columns = used.iter().map(|column| columns[*column].to_owned()).collect();
        if !rows.is_empty() {
            self.blocks.push(Block::Table(columns, rows.iter().map(only).collect()));
        }
    }
}

/// What may stand behind a number.
const UNITS: [&str; 17] = [
    "ns", "µs", "ms", "s", "min", "h", "d", "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "%", "°C", "W",
];

/// Whether a column stands right: nothing in it but numbers with their units.
pub(super) fn is_of_numbers(rows: &[Vec<String>], column: usize) -> bool {
    let mut cells = rows.iter().map(|row| row[column].as_str()).filter(|cell| *cell != "–").peekable();
    column > 0 && cells.peek().is_some() && cells.all(is_number)
}

/// `12`, `+1.5 %`, `16 bytes`, `3 min 20 s`.
fn is_number(cell: &str) -> bool {
    let mut words = cell.trim_start_matches(['+', '-', '−']).split(' ');
    let is_amount =
        |word: &str| word.starts_with(|it: char| it.is_ascii_digit()) && word.parse::<f64>().is_ok();
    let is_unit = |word: &str| UNITS.contains(&word);
    words.next().is_some_and(is_amount)
        && words
            .enumerate()
            .all(|(number, word)| if number % 2 == 0 { is_unit(word) } else { is_amount(word) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_words() {
        for number in ["0", "12.5", "−2.0 KiB", "+0.1 %", "3 min 20 s", "25 °C", "1e-9"] {
            assert!(is_number(number), "{number}");
        }
        for words in [
            "",
            "FINISHED",
            "01a1f065-77dc",
            "2026-11-18 20:42:24",
            "0 … 11",
            "c2e9a64c",
            "[11,11]",
            "7 of 9",
        ] {
            assert!(!is_number(words), "{words}");
        }
    }

    #[test]
    fn a_column_stands_right_if_all_of_it_is_numbers() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let rows = [row(["1", "2 ms", "11", "–"]), row(["2", "–", "forecast.txt", "–"])];
        assert_eq!([0, 1, 2, 3].map(|column| is_of_numbers(&rows, column)), [false, true, false, false]);
    }
}
