//! A file of packets, line by line.

use serde::Serialize;

use crate::error::ExportError;

/// The columns, in any order.
const COLUMNS: [&str; 10] = [
    "timestamp",
    "device",
    "worker_instance",
    "duration_ms",
    "packet_id",
    "layer_idx",
    "operation",
    "success",
    "memory_used_mb",
    "error_message",
];

/// A packet of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Packet {
    /// When it ended, in unix seconds.
    pub timestamp: f64,
    /// Where it ran.
    pub device: String,
    /// Which stage it was.
    pub worker_instance: String,
    /// How long it took.
    pub duration_ms: f64,
    /// Its number or name.
    pub packet_id: String,
    /// The layer; -1 before the first.
    pub layer_idx: Option<i64>,
    /// What was done.
    pub operation: String,
    /// Whether it worked.
    pub success: bool,
    /// Memory that it used.
    pub memory_used_mb: Option<f64>,
    /// Why it did not work.
    pub error_message: String,
}

impl Packet {
    /// When it started, in unix seconds.
    pub(super) fn started_s(&self) -> f64 {
        self.timestamp - self.duration_ms / 1e3
    }
}

/// Reads packets. A last line without its end is being written just now, and left out.
///
/// ```
/// let text = "timestamp,device,worker_instance,duration_ms,packet_id,layer_idx,operation,success,\
///             memory_used_mb,error_message\n1.5,cpu,cpu_router,0.250,7,3,router,True,,\n";
/// assert_eq!(telemetry_export::analysis::parse(text).unwrap()[0].layer_idx, Some(3));
/// ```
pub fn parse(text: &str) -> Result<Vec<Packet>, ExportError> {
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut lines = whole.lines().enumerate();
    let header = lines.next().map(|(_, header)| fields(header)).unwrap_or_default();
    let places = COLUMNS.map(|column| header.iter().position(|name| name == column));
    if let Some(missing) = COLUMNS.iter().zip(places).find(|(_, place)| place.is_none()) {
        return Err(wrong(0, &format!("there is no column {:?}, so this is no file of packets", missing.0)));
    }
    let lines = lines.filter(|(_, line)| !line.is_empty());
    lines.map(|(number, line)| packet(number, &fields(line), places.map(Option::unwrap_or_default))).collect()
}

fn packet(number: usize, fields: &[String], places: [usize; 10]) -> Result<Packet, ExportError> {
    let field = |column: usize| {
        let field = fields.get(places[column]).map(String::as_str);
        field.ok_or_else(|| wrong(number, &format!("{:?} is missing", COLUMNS[column])))
    };
    let decimal = |column: usize| {
        let parsed = field(column)?.parse::<f64>().ok().filter(|value| value.is_finite());
        parsed.ok_or_else(|| wrong(number, &format!("{:?} is no number", COLUMNS[column])))
    };
    Ok(Packet {
        timestamp: decimal(0)?,
        device: field(1)?.to_owned(),
        worker_instance: field(2)?.to_owned(),
        duration_ms: decimal(3)?,
        packet_id: field(4)?.to_owned(),
        layer_idx: field(5)?.parse().ok(),
        operation: field(6)?.to_owned(),
        success: field(7)?.eq_ignore_ascii_case("true"),
        memory_used_mb: field(8)?.parse().ok(),
        error_message: field(9)?.to_owned(),
    })
}

fn wrong(number: usize, why: &str) -> ExportError {
    ExportError::Line { line: number as u64 + 1, why: why.to_owned() }
}

/// The fields of a line; quoted ones may have commas and doubled quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut();
        match (character, field) {
            ('"', Some(field)) if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            ('"', _) => is_quoted = !is_quoted,
            (',', _) if !is_quoted => fields.push(String::new()),
            (other, Some(field)) => field.push(other),
            (_, None) => {}
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_have_commas_and_quotes() {
        assert_eq!(fields("a,\"b,\"\"c\"\"\",,d"), ["a", "b,\"c\"", "", "d"]);
    }

    #[test]
    fn what_is_wrong_says_where() {
        let header = COLUMNS.join(",");
        let error = parse(&format!("{header}\n1,cpu,w,x,1,0,op,True,,\n")).unwrap_err();
        assert_eq!(error.to_string(), "line 2: \"duration_ms\" is no number");
        assert!(parse("a,b\n1,2\n").unwrap_err().to_string().contains("no file of packets"));
        assert_eq!(parse(&format!("{header}\n1,cpu,w,2,1,0,op,Tr")).unwrap(), []);
    }
}
