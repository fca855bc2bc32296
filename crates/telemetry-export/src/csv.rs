//! CSV, as RFC 4180 has it: the columns of a view, a line a row. Nothing (null) is an empty field.

use std::fmt::Write as _;
use std::io::Write;

use telemetry_store::{Cell, Reader, View};

use crate::error::{ExportError, FirstError};

/// Writes the rows of a workflow in a view; the names of the columns before them if `with_names`.
pub fn write(
    reader: &Reader,
    view: View,
    workflow_id: &str,
    with_names: bool,
    output: &mut impl Write,
    mut progress: impl FnMut(),
) -> Result<(), ExportError> {
    let first = std::cell::RefCell::new(FirstError::default());
    let output = std::cell::RefCell::new(output);
    let line = |fields: &mut dyn Iterator<Item = String>| {
        let line = fields.collect::<Vec<String>>().join(",");
        first.borrow_mut().keep(writeln!(output.borrow_mut(), "{line}"))
    };
    reader.stream(
        view,
        workflow_id,
        |names| {
            if !with_names {
                return std::ops::ControlFlow::Continue(());
            }
            line(&mut names.iter().map(|name| field(name)))
        },
        |cells| {
            progress();
            line(&mut cells.iter().map(|cell| field(&text(cell))))
        },
    )?;
    first.into_inner().finish()
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Blob(bytes) => hexadecimal(bytes),
    }
}

/// Bytes as pairs of digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A field, quoted where it must be.
///
/// ```
/// assert_eq!(telemetry_export::csv::field("a \"b\""), "\"a \"\"b\"\"\"");
/// ```
#[must_use]
pub fn field(text: &str) -> String {
    let is_plain = !text.contains(['"', ',', '\n', '\r']);
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
