//! Hostile strings go in everywhere and come out of SQL and JSON unchanged.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use telemetry::{Recorder, Task, Workflow, current_task, task};

use crate::programs::{Place, sqlite3, succeed};

/// What a task's name or a key may be long.
const KEY_BYTES_MAX: usize = 256;

fn strings() -> Vec<String> {
    serde_json::from_str(include_str!("../naughty/strings.json")).expect("a list of texts")
}

/// A string as a name; the number keeps it apart from other names that are as long.
fn key(text: &str) -> &str {
    &text[..text.floor_char_boundary(KEY_BYTES_MAX)]
}

#[task]
fn echo(index: usize, value: &str, map: &BTreeMap<&str, &str>, list: [&str; 2]) -> Result<String, String> {
    let _ = (map, list);
    current_task().metadata(key(value), value).tag(value).stdout(value).generated(key(value), value);
    if index.is_multiple_of(2) { Err(value.to_owned()) } else { Ok(value.to_owned()) }
}

/// The program.
pub(crate) fn naughty() {
    let recorder = Recorder::start_with_found_settings().expect("recording starts");
    let strings = strings();
    for (index, text) in strings.iter().enumerate() {
        let workflow = Workflow::start(key(text));
        let map = BTreeMap::from([(text.as_str(), text.as_str())]);
        let (Ok(value) | Err(value)) = workflow.context().run(|| echo(index, text, &map, [text, text]));
        assert_eq!(value, *text);
        let by_hand = workflow.context().run(|| Task::start(key(text)));
        let by_hand = by_hand.used("by_hand", index).used(key(text), text).generated(key(text), text);
        by_hand.fail(text);
        workflow.end();
    }
    recorder.stop(Duration::from_mins(1));
}

const ECHOED: &str = "select used, generated, custom_metadata, tags, stdout, stderr from tasks
    where activity_id = 'echo' order by used ->> '$.index'";
const BY_HAND: &str = "select activity_id, used, generated, stderr from tasks
    where used ->> '$.by_hand' is not null order by used ->> '$.by_hand'";
const WORKFLOWS: &str = "select name from workflows order by started_at, workflow_id";

/// Rows of texts, as some client read them.
type Rows = Vec<Vec<Option<String>>>;

/// A key as the JSON of values has it.
fn escaped(text: &str) -> String {
    if text.starts_with('$') { format!("${text}") } else { text.to_owned() }
}

/// The name of a value, which has the sign for NUL in its place.
fn named(text: &str) -> String {
    escaped(key(text)).replace('\0', "\u{2400}")
}

fn parsed(cell: Option<&String>) -> Value {
    cell.map_or(Value::Null, |text| {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    })
}

/// What was recorded of each string, against the string.
fn check(client: &str, echoed: &Rows, by_hand: &Rows, workflows: &Rows) {
    let strings = strings();
    assert_eq!((echoed.len(), by_hand.len(), workflows.len()), (strings.len(), strings.len(), strings.len()));
    for (index, text) in strings.iter().enumerate() {
        let place = format!("{client}, {index}: {text:?}");
        let name = named(text);
        let row = &echoed[index];
        let cell = |column: usize| parsed(row[column].as_ref());
        let used = json!({"index": index, "value": text, "map": {escaped(text): text}, "list": [text, text]});
        assert_eq!(cell(0), used, "{place}");
        let is_error = index % 2 == 0;
        let mut generated = BTreeMap::from([(name.clone(), text.clone())]);
        if !is_error {
            generated.insert("result".to_owned(), text.clone());
        }
        assert_eq!(cell(1), json!(generated), "{place}");
        assert_eq!(cell(2), json!({name.clone(): text}), "{place}");
        assert_eq!(cell(3), json!([text]), "{place}");
        assert_eq!(row[4].as_ref(), Some(text), "{place}");
        assert_eq!(row[5].as_ref(), is_error.then_some(text), "{place}");
        let row = &by_hand[index];
        assert_eq!(row[0].as_deref(), Some(key(text)), "{place}");
        let mut used = BTreeMap::from([("by_hand".to_owned(), json!(index))]);
        used.insert(name.clone(), json!(text));
        assert_eq!(parsed(row[1].as_ref()), json!(used), "{place}");
        assert_eq!(parsed(row[2].as_ref()), json!({name: text}), "{place}");
        assert_eq!(row[3].as_ref(), Some(text), "{place}");
        assert_eq!(workflows[index][0].as_deref(), Some(key(text)), "{place}");
    }
}

fn by_rusqlite(place: &Place, sql: &str) -> Rows {
    let connection = rusqlite::Connection::open(place.database()).expect("the database opens");
    let mut statement = connection.prepare(sql).expect("the query is right");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
    rows.expect("the query runs").collect::<Result<_, _>>().expect("the rows are texts")
}

fn by_python(place: &Place, sql: &str) -> Rows {
    let script = "import json, sqlite3, sys
database = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
json.dump(database.execute(sys.argv[2]).fetchall(), sys.stdout)";
    let text = succeed(Command::new("python3").args(["-c", script]).arg(place.database()).arg(sql).output());
    serde_json::from_str(&text).expect("JSON")
}

/// The program prints a text up to its first NUL, so it is asked for the bytes.
fn by_sqlite3(place: &Place, sql: &str) -> Rows {
    let (columns, rest) = sql["select ".len()..].split_once(" from ").expect("columns and a table");
    let columns = columns.split(", ").map(|column| format!("hex(cast({column} as blob)), {column} is null"));
    let sql = format!("select {} from {rest}", columns.collect::<Vec<_>>().join(", "));
    let text = succeed(sqlite3(&place.database()).arg(sql).output());
    let cell = |pair: &[&str]| (pair[1] == "0").then(|| unhex(pair[0]));
    text.lines().map(|line| line.split('|').collect::<Vec<_>>().chunks(2).map(cell).collect()).collect()
}

fn unhex(text: &str) -> String {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit") as u8;
    let bytes = text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1]));
    String::from_utf8(bytes.collect()).expect("text")
}

#[test]
fn hostile_strings_come_out_as_they_went_in() {
    let count = strings().len();
    assert!(count >= 300, "{count}");
    let place = Place::new();
    let mut program = place.program("naughty");
    program.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data");
    succeed(program.output());
    let read_by = |client: &str, read: fn(&Place, &str) -> Rows| {
        check(client, &read(&place, ECHOED), &read(&place, BY_HAND), &read(&place, WORKFLOWS));
    };
    read_by("rusqlite", by_rusqlite);
    read_by("python", by_python);
    read_by("sqlite3", by_sqlite3);
    // Inside of SQL, too: no string is taken for something else by the functions for JSON.
    let differing = place.table(
        "select count(*) from tasks where activity_id = 'echo' and instr(used, '\\u0000') = 0
        and (used ->> '$.value' is not used ->> '$.list[0]' or used ->> '$.value' is not stdout)",
    );
    assert_eq!(differing, "0\n");
}
