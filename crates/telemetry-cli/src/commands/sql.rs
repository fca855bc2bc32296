//! `telemetry sql`: questions in SQL, which the store answers or refuses.

mod prompt;

use std::io::{IsTerminal, Read};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};
use telemetry_export::csv::hexadecimal;
use telemetry_store::{Cell, QueryLimits, Reader, StoreError, Table};

use crate::arguments::{Format, Sql};
use crate::failure::{Failure, Outcome};
use crate::grid::{Grid, plain};
use crate::ink::Ink;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::table::{self, Side};
use crate::text;

/// A query is no longer than this.
const QUERY_BYTES_MAX: u64 = 1 << 20;
/// What a column needs on a screen at the least; with less, the columns are stacked.
const COLUMN_WIDTH_MIN: usize = 12;
/// What of a value is shown on a screen; the other formats give all of it.
const VALUE_CHARACTERS_MAX: usize = 600;

pub(super) fn run(command: &Sql, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let format = command.format.format(printer.is_terminal());
    let question = Question {
        values: command.values.iter().chain(&command.params).map(|text| parse(text)).collect(),
        limits: QueryLimits {
            time_ms_max: (command.timeout * 1e3).ceil() as u64,
            rows_max: command.limit,
            ..QueryLimits::default()
        },
        format,
    };
    match command.query.as_deref() {
        None if std::io::stdin().is_terminal() => prompt::run(question, place, printer)?,
        None | Some("-") => question.ask(&from_stdin()?, place, printer)?,
        Some(query) => question.ask(query, place, printer)?,
    }
    Ok(Outcome::Done)
}

/// How questions are asked and answered.
#[derive(Clone, Debug)]
struct Question {
    values: Vec<Cell>,
    limits: QueryLimits,
    format: Format,
}

impl Question {
    fn ask(&self, query: &str, place: &Place, printer: &mut Printer) -> Result<(), Failure> {
        if query.trim().is_empty() {
            let message = "there is no question".to_owned();
            return Err(Failure::Usage {
                message,
                hint: "telemetry sql --help has examples, and lists the views",
            });
        }
        let table = watched(printer, "Asking", || self.answer(query, place))?;
        let is_cut = table.is_cut.then_some(table.rows.len());
        match self.format {
            Format::Table => show(&table, printer)?,
            format => printer.data(&grid(table).write(format))?,
        }
        if let Some(rows) = is_cut {
            let rows = text::count(rows, "row");
            printer.warn(&format!("the answer is cut after {rows}; --limit N allows more"));
        }
        Ok(())
    }

    /// On a thread of its own: the database looks at the clock between two steps, and a single step (a function on a
    /// huge text) may take as long as it likes. Whoever waits does not.
    fn answer(&self, query: &str, place: &Place) -> Result<Table, Failure> {
        let (sender, receiver) = channel();
        let (database, query) = (place.database.clone(), query.to_owned());
        let Self { values, limits, .. } = self.clone();
        std::thread::spawn(move || {
            let answer = Reader::open(&database).and_then(|reader| reader.query(&query, &values, limits));
            // Nobody listens any more where it took too long.
            let _ = sender.send(answer);
        });
        let timed_out = StoreError::TimedOut { limit_ms: limits.time_ms_max };
        let patience = Duration::from_millis(limits.time_ms_max);
        Ok(receiver.recv_timeout(patience).unwrap_or(Err(timed_out))?)
    }
}

fn from_stdin() -> Result<String, Failure> {
    let mut query = String::new();
    let read = std::io::stdin().take(QUERY_BYTES_MAX).read_to_string(&mut query);
    read.map(|_| query).map_err(|source| Failure::Input { source })
}

/// A number if it looks like one; text in single quotes is text without them.
fn parse(text: &str) -> Cell {
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Cell::Text(quoted.to_owned());
    }
    let looks_like_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let real = || text.parse().ok().filter(|_| looks_like_number).map(Cell::Real);
    let integer = text.parse().ok().map(Cell::Integer);
    integer.or_else(real).unwrap_or_else(|| Cell::Text(text.to_owned()))
}

fn grid(table: Table) -> Grid {
    let rows = table.rows.into_iter().map(|row| row.into_iter().map(value).collect()).collect();
    Grid::new(table.columns, rows)
}

fn value(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => json!(number),
        // JSON has no word for what is not finite.
        Cell::Real(number) if !number.is_finite() => json!(number.to_string()),
        Cell::Real(number) => json!(number),
        Cell::Text(text) => Value::String(text),
        Cell::Blob(bytes) => Value::String(hexadecimal(&bytes)),
    }
}

fn show(table: &Table, printer: &mut Printer) -> Result<(), Failure> {
    let (ink, width) = (printer.ink, printer.width());
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(|cell| screen(cell, ink)).collect()).collect();
    let is_wide = width.is_some_and(|width| table.columns.len() * COLUMN_WIDTH_MIN > width);
    let drawn = if is_wide {
        let names: Vec<String> = table.columns.iter().map(|name| text::visible(name)).collect();
        table::stacked(&names, &rows, |number| ink.dim(&format!("── row {number} ──")))
    } else {
        table::framed(&columns(table, ink), rows, width)
    };
    printer.data(&drawn)?;
    printer.talk_quietly(&text::count(table.rows.len(), "row"));
    Ok(())
}

/// A column of numbers stands on the right.
fn columns(table: &Table, ink: Ink) -> Vec<(String, Side)> {
    let is_number = |cell: &Cell| matches!(cell, Cell::Integer(_) | Cell::Real(_) | Cell::Null);
    let column = |index: usize| table.rows.iter().filter_map(move |row| row.get(index));
    let side = |index| if column(index).all(is_number) { Side::Right } else { Side::Left };
    let names = table.columns.iter().enumerate();
    names.map(|(index, name)| (ink.bold(&text::visible(name)), side(index))).collect()
}

fn screen(cell: &Cell, ink: Ink) -> String {
    match cell {
        Cell::Null => ink.dim("–"),
        Cell::Text(text) => text::visible_lines(&text::cut(text, VALUE_CHARACTERS_MAX)),
        other => text::cut(&plain(&value(other.clone())), VALUE_CHARACTERS_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_only_if_they_look_like_it() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let expected = [
            ("42", Cell::Integer(42)),
            ("-4.5e1", Cell::Real(-45.0)),
            ("'42'", text("42")),
            ("inf", text("inf")),
            ("nan", text("nan")),
            ("0199abcd-ef01", text("0199abcd-ef01")),
            ("", text("")),
            ("'", text("'")),
        ];
        for (given, cell) in expected {
            assert_eq!(parse(given), cell, "{given}");
        }
    }
}
