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
    /// Rows under the names of their columns; numbers stand right from the second column on.
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
