//! Exact rows for programs: JSON, JSON lines, CSV, tab-separated, Markdown.
//!
//! Nothing (null) is an empty field where a format has no word for it. In tab-separated text, a tab and a
//! line break inside of a field are written `\t`, `\n` and `\r`, and everything else is itself: JSON, which
//! has none of them, comes out as it is. Where a text must be told from its escape, take JSON lines.

use serde_json::Value;
use telemetry_export::csv;

use crate::arguments::Format;

/// Rows of values with the names of their columns, each name once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Grid {
    pub(crate) fn new(names: impl IntoIterator<Item = impl Into<String>>, rows: Vec<Vec<Value>>) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for name in names {
            let name = distinct(&name.into(), &columns);
            columns.push(name);
        }
        Self { columns, rows }
    }

    /// The rows in a form for programs; [`Format::Table`], which is for people, as tab-separated text.
    pub(crate) fn write(&self, format: Format) -> String {
        match format {
            Format::Json => self.json(),
            Format::JsonLines => self.json_lines(),
            Format::Csv => self.lines(",", csv::field),
            Format::Tsv | Format::Table => self.lines("\t", tsv_field),
            Format::Markdown => self.markdown(),
        }
    }

    fn objects(&self) -> impl Iterator<Item = Value> {
        let object = |row: &Vec<Value>| self.columns.iter().cloned().zip(row.iter().cloned()).collect();
        self.rows.iter().map(move |row| Value::Object(object(row)))
    }

    /// An object a line within the brackets, so that tools for lines are of use, too.
    fn json(&self) -> String {
        let lines: Vec<String> = self.objects().map(|object| object.to_string()).collect();
        if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
    }

    fn json_lines(&self) -> String {
        self.objects().map(|object| object.to_string() + "\n").collect()
    }

    fn lines(&self, separator: &str, field: fn(&str) -> String) -> String {
        let line = |fields: Vec<String>| fields.join(separator) + "\n";
        let header = line(self.columns.iter().map(|name| field(name)).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(|value| field(&plain(value))).collect()));
        std::iter::once(header).chain(rows).collect()
    }

    fn markdown(&self) -> String {
        let line = |fields: Vec<String>| format!("| {} |\n", fields.join(" | "));
        let header = line(self.columns.iter().map(|name| markdown_field(name)).collect());
        let rule = line(vec!["---".to_owned(); self.columns.len()]);
        let rows =
            self.rows.iter().map(|row| line(row.iter().map(|value| markdown_field(&plain(value))).collect()));
        [header, rule].into_iter().chain(rows).collect()
    }
}

/// A value without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn distinct(name: &str, taken: &[String]) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

fn tsv_field(text: &str) -> String {
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn markdown_field(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace("\r\n", "<br>").replace(['\n', '\r'], "<br>")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(format: Format, expected: &str) {
        let rows = vec![
            vec![json!(1), json!("a\tb\n\"c\",|\\"), Value::Null],
            vec![json!(0.5), json!(""), json!(true)],
        ];
        assert_eq!(Grid::new(["x", "y", "x"], rows).write(format), expected);
    }

    #[test]
    fn every_format_keeps_what_is_special_in_it() {
        check(
            Format::Json,
            "[\n{\"x\":1,\"y\":\"a\\tb\\n\\\"c\\\",|\\\\\",\"x_2\":null},\n{\"x\":0.5,\"y\":\"\",\"x_2\":true}\n]\n",
        );
        check(
            Format::JsonLines,
            "{\"x\":1,\"y\":\"a\\tb\\n\\\"c\\\",|\\\\\",\"x_2\":null}\n{\"x\":0.5,\"y\":\"\",\"x_2\":true}\n",
        );
        check(Format::Csv, "x,y,x_2\n1,\"a\tb\n\"\"c\"\",|\\\",\n0.5,,true\n");
        check(Format::Tsv, "x\ty\tx_2\n1\ta\\tb\\n\"c\",|\\\t\n0.5\t\ttrue\n");
        check(
            Format::Markdown,
            "| x | y | x_2 |\n| --- | --- | --- |\n| 1 | a\tb<br>\"c\",\\|\\\\ |  |\n| 0.5 |  | true |\n",
        );
    }

    #[test]
    fn nothing_is_an_empty_list() {
        let grid = Grid::new(["x"], Vec::new());
        assert_eq!(grid.write(Format::Json), "[]\n");
        assert_eq!(grid.write(Format::JsonLines), "");
        assert_eq!(grid.write(Format::Tsv), "x\n");
    }
}
