//! A packet as one physical line of CSV.

use std::borrow::Cow;

use telemetry_store::{Cell, PacketRow};

/// The first line of a file of packets.
pub const HEADER: &str = "timestamp,device,worker_instance,duration_ms,packet_id,layer_idx,operation,success,\
                          memory_used_mb,error_message\n";

/// The line of a packet. The first nine fields have no comma, quote or control character, so that `awk -F,`
/// splits them; the last one is quoted as CSV has it. A text that a spreadsheet would take for a formula
/// gets an apostrophe.
#[must_use]
pub fn line(packet: &PacketRow) -> String {
    format!(
        "{:.6},{},{},{:.3},{},{},{},{},{},{}\n",
        packet.timestamp,
        plain(&packet.device),
        plain(&packet.worker_instance),
        packet.duration_ms,
        plain(&packet.packet_id),
        plain(&packet.layer_idx),
        plain(&packet.operation),
        if packet.success { "True" } else { "False" },
        megabytes(&packet.memory_used_mb),
        quoted(packet.error_message.as_deref()),
    )
}

fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => {
            let text = one_line(text).replace(',', " ").replace('"', "'");
            without_formula(&text).into_owned()
        }
        Cell::Null | Cell::Blob(_) => String::new(),
    }
}

/// Nothing where it is not known.
fn megabytes(cell: &Cell) -> String {
    let number = match cell {
        Cell::Integer(number) => Some(*number as f64),
        Cell::Real(number) => Some(*number),
        Cell::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        Cell::Null | Cell::Blob(_) => None,
    };
    number.map(|number| format!("{number:.2}")).unwrap_or_default()
}

fn quoted(text: Option<&str>) -> String {
    let Some(text) = text else { return String::new() };
    format!("\"{}\"", without_formula(&one_line(text)).replace('"', "\"\""))
}

/// Whatever ends a line for some program, and other control characters, become spaces.
fn one_line(text: &str) -> String {
    let is_break = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    text.replace(is_break, " ")
}

fn without_formula(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    #[test]
    fn fields_that_awk_splits_have_no_commas_quotes_or_line_breaks() {
        assert_eq!(plain(&text("a,b\r\nc\"d\"\u{2028}\0e")), "a b  c'd'  e");
        assert_eq!(plain(&text("=1+2")), "'=1+2");
        assert_eq!(plain(&text("-1")), "-1");
        assert_eq!(plain(&Cell::Integer(-1)), "-1");
        assert_eq!(plain(&Cell::Null), "");
    }

    #[test]
    fn a_message_is_quoted_and_stays_on_its_line() {
        assert_eq!(quoted(None), "");
        assert_eq!(quoted(Some("")), "\"\"");
        assert_eq!(quoted(Some("out of \"memory\",\nreally")), "\"out of \"\"memory\"\", really\"");
        assert_eq!(quoted(Some("@SUM(A1)")), "\"'@SUM(A1)\"");
    }

    #[test]
    fn memory_has_two_decimals_or_is_empty() {
        let cells = [Cell::Integer(3), Cell::Real(1.005_1), text("128.5"), text("NaN"), Cell::Null];
        assert_eq!(cells.map(|cell| megabytes(&cell)), ["3.00", "1.01", "128.50", "", ""]);
    }
}
