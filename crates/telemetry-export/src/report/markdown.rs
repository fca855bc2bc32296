//! A page as Markdown.

use std::fmt::Write;

use super::document::{Block, Document, is_of_numbers};

impl Document {
    /// The page as Markdown, which names its pictures only.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# {} — {}\n", escaped(&self.title), self.status);
        self.blocks.iter().for_each(|block| text.push_str(&block_text(block)));
        let _ = write!(text, "\n---\n{}\n", escaped(&self.footer));
        text
    }
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => format!("\n{} {}\n", "#".repeat(usize::from(*level)), escaped(text)),
        Block::Paragraph(text) => format!("\n{}\n", escaped(text)),
        Block::List(items) => {
            items.iter().fold("\n".to_owned(), |text, item| text + "- " + &escaped(item) + "\n")
        }
        Block::Fields(fields) => {
            let line = |text: String, (name, value): &(String, String)| {
                format!("{text}- **{}**: {}\n", escaped(name), escaped(value))
            };
            fields.iter().fold("\n".to_owned(), line)
        }
        Block::Table(columns, rows) => table(columns, rows),
        Block::Preformatted(text) => {
            let fence = "`".repeat(longest_run(text).max(2) + 1);
            format!("\n{fence}text\n{}\n{fence}\n", text.trim_end())
        }
        Block::Picture(plot) => format!("\n*{}: drawn in the HTML report.*\n", escaped(&plot.label)),
    }
}

fn table(columns: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let cells = |row: &[String]| line(row.iter().map(|cell| escaped(cell)).collect());
    let rule = (0..columns.len()).map(|column| if is_of_numbers(rows, column) { "---:" } else { "---" });
    let mut text = format!("\n{}{}", cells(columns), line(rule.map(str::to_owned).collect()));
    for row in rows {
        text.push_str(&cells(row));
    }
    text
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// What was recorded must not become markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                safe.extend(['\\', character]);
            }
            '\n' => safe.push_str("<br>"),
            '\t' => safe.push(' '),
            other if other.is_control() => safe.extend(other.escape_default()),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_no_markup() {
        assert_eq!(escaped("a|b\n<script>_x_\u{1b}"), "a\\|b<br>\\<script\\>\\_x\\_\\u{1b}");
        let block = Block::Preformatted("```\nx".to_owned());
        assert_eq!(block_text(&block), "\n````text\n```\nx\n````\n");
    }

    #[test]
    fn a_page() {
        let mut document = Document { title: "a".into(), status: "FINISHED".into(), ..Document::default() };
        document.heading(2, "Part");
        document.fields(vec![("name", Some("x".into())), ("nothing", None)]);
        document.table(&["n", "m", "none"], &[vec!["1".into(), "2".into(), "–".into()]]);
        let expected =
            "# a — FINISHED\n\n## Part\n\n- **name**: x\n\n| n | m |\n| --- | ---: |\n| 1 | 2 |\n\n---\n\n";
        assert_eq!(document.markdown(), expected);
    }
}
