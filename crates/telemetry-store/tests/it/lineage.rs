//! Whose output is whose input: by declaration, by path, by content, and in which order.

use std::path::Path;

use telemetry_core::encoder::Encoder;
use telemetry_core::record::Field;
use telemetry_core::value::FileState;
use telemetry_store::{LineageLimits, Reader};

use crate::harness::*;

/// The records of one task with what it used and generated.
fn task(
    number: u64,
    (begun, done): (u64, u64),
    used: impl FnOnce(&mut Encoder),
    made: impl FnOnce(&mut Encoder),
) -> [Framed; 2] {
    [start(started(number, begun), &items(used)), end(ended(number, done), &items(made))]
}

fn nothing(_: &mut Encoder) {}

/// Long enough to be evidence.
fn long(text: &str) -> String {
    text.repeat(80)
}

fn makes(name: &str, text: &str) -> impl FnOnce(&mut Encoder) {
    let (name, text) = (name.to_owned(), long(text));
    move |encoder| encoder.generated_named(&name, |value| value.text(&text))
}

fn takes(name: &str, text: &str) -> impl FnOnce(&mut Encoder) {
    let (name, text) = (name.to_owned(), long(text));
    move |encoder| encoder.used_named(&name, |value| value.text(&text))
}

fn file(path: &str, content: Option<u8>) -> (String, FileState) {
    let sha256 = content.map(|content| [content; 32]);
    (path.to_owned(), FileState::Found { bytes: 1000, modified_ns: 0, sha256 })
}

fn writes((path, state): (String, FileState)) -> impl FnOnce(&mut Encoder) {
    move |encoder| encoder.generated_named("out", |value| value.file(Path::new(&path), state))
}

fn reads((path, state): (String, FileState)) -> impl FnOnce(&mut Encoder) {
    move |encoder| encoder.used_named("in", |value| value.file(Path::new(&path), state))
}

const EDGES: &str = "select cast(substr(task_id, -4) as integer), name, cast(substr(source_task_id, -4) as integer), source_name, evidence
    from derivations order by 1, 2, 3, 4";

fn check(records: &[[Framed; 2]], expected: &[&str]) {
    let records = records.concat();
    let (_folder, _store, reader) = store_with(&records);
    assert_eq!(lines(&reader, EDGES), expected);
}

#[test]
fn what_was_there_before_it_was_used() {
    let declared = |encoder: &mut Encoder| {
        encoder.used_named("input", |value| value.text(&long("p")));
        encoder.used_named("from", |value| value.path(Path::new("/data/x")));
        encoder.text(Field::Dependency, &task_id(9).to_string());
        encoder.text(Field::Dependency, &task_id(2).to_string());
    };
    let makes = |path: &'static str| {
        move |encoder: &mut Encoder| {
            encoder.generated_named("text", |value| value.text(&long("p")));
            encoder.generated_named("file", |value| value.path(Path::new(path)));
        }
    };
    let records = [
        task(1, (10, 20), nothing, makes("/data/./x")),
        task(2, (30, 40), declared, makes("/data/y")),
        task(3, (25, 35), nothing, makes("/data/x")),
    ];
    check(
        &records,
        &["2 | null | 9 | null | declared", "2 | from | 1 | file | path", "2 | input | 1 | text | content"],
    );
}

#[test]
fn of_several_makers_the_last_before_the_use() {
    let records = [
        task(1, (10, 20), nothing, makes("a", "x")),
        task(2, (25, 30), nothing, makes("b", "x")),
        task(3, (35, 40), takes("in", "x"), nothing),
        task(4, (36, 50), takes("in", "x"), makes("c", "x")),
        task(5, (50, 60), takes("in", "x"), nothing),
    ];
    check(&records, &["3 | in | 2 | b | content", "4 | in | 2 | b | content", "5 | in | 4 | c | content"]);
}

#[test]
fn nobody_derives_from_itself_or_from_what_came_later() {
    let both = |encoder: &mut Encoder| {
        encoder.generated_named("out", |value| value.text(&long("x")));
        encoder.used_named("in", |value| value.text(&long("x")));
    };
    let itself = |encoder: &mut Encoder| encoder.text(Field::Dependency, &task_id(3).to_string());
    let records = [
        task(1, (10, 20), nothing, both),
        task(2, (30, 40), takes("in", "y"), makes("out", "y")),
        task(3, (5, 6), itself, nothing),
    ];
    check(&records, &[]);
}

#[test]
fn a_task_that_runs_on_has_generated_what_it_said() {
    let said = items(|encoder| encoder.generated_named("early", |value| value.text(&long("x"))));
    let late = items(|encoder| encoder.used_named("late", |value| value.text(&long("y"))));
    // Updates of the harness are made at 5.
    let records = [
        start(started(1, 1), &[]),
        update(1, 0, &said),
        start(started(2, 6), &items(takes("in", "x"))),
        start(started(3, 2), &[]),
        end(ended(3, 3), &items(makes("out", "y"))),
        start(started(4, 1), &[]),
        update(4, 0, &late),
    ];
    let (_folder, _store, reader) = store_with(&records);
    assert_eq!(lines(&reader, EDGES), ["2 | in | 1 | early | content", "4 | late | 3 | out | content"]);
}

#[test]
fn trivial_values_are_no_evidence() {
    let trivial = |encoder: &mut Encoder, generated: bool| {
        let mut say = |name: &str, write: &dyn Fn(&mut telemetry_core::encoder::ValueEncoder<'_>)| {
            if generated {
                encoder.generated_named(name, write);
            } else {
                encoder.used_named(name, write);
            }
        };
        say("zero", &|value| value.int(0));
        say("one", &|value| value.float(1.0));
        say("yes", &|value| value.boolean(true));
        say("null", &|value| value.null());
        say("empty", &|value| value.text(""));
        say("short", &|value| value.text("train.csv"));
        say("list", &|value| value.serialize(&[1, 2, 3]));
        say("here", &|value| value.path(Path::new(".")));
        say("root", &|value| value.path(Path::new("/")));
        say("cut", &|value| value.text(&"x".repeat(10_000)));
        say("type", &|value| {
            value.type_name::<[[[[[[[[[[[[[[[[[[u8; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]>();
        });
        say("hidden", &|value| value.redacted(&"x".repeat(100)));
        say("missing", &|value| value.file(Path::new("a"), FileState::Missing));
    };
    let makes = |encoder: &mut Encoder| trivial(encoder, true);
    let takes = |encoder: &mut Encoder| trivial(encoder, false);
    check(&[task(1, (10, 20), nothing, makes), task(2, (30, 40), takes, nothing)], &[]);
}

#[test]
fn a_result_is_known_as_a_whole_and_by_its_members() {
    #[derive(serde::Serialize)]
    struct Config {
        model: String,
        seed: u64,
    }
    let config = || Config { model: long("m"), seed: 7 };
    let returned = |encoder: &mut Encoder| encoder.result(|value| value.serialize(&config()));
    let whole = |encoder: &mut Encoder| encoder.used_named("config", |value| value.serialize(&config()));
    let records = [
        task(1, (10, 20), nothing, returned),
        task(2, (30, 40), whole, nothing),
        task(3, (30, 40), takes("model", "m"), nothing),
    ];
    check(&records, &["2 | config | 1 | null | content", "3 | model | 1 | model | content"]);
}

#[test]
fn files_are_known_by_their_path_until_their_content_says_otherwise() {
    let records = [
        task(1, (10, 20), nothing, writes(file("a", Some(1)))),
        // A copy of it.
        task(2, (21, 30), reads(file("a", Some(1))), writes(file("b", Some(1)))),
        task(3, (31, 40), reads(file("a", Some(1))), nothing),
        // Moved by somebody who is not recorded.
        task(4, (41, 50), reads(file("c", Some(1))), nothing),
        // Changed by somebody who is not recorded.
        task(5, (51, 60), reads(file("a", Some(9))), nothing),
        // Too long to be read, and a path alone.
        task(6, (61, 70), reads(file("./b", None)), nothing),
        task(7, (71, 80), |encoder| encoder.used_named("in", |value| value.path(Path::new("b"))), nothing),
        // Written again.
        task(8, (81, 90), nothing, writes(file("a", Some(2)))),
        task(9, (91, 95), reads(file("a", Some(2))), nothing),
        // A path alone, whose content nobody knows, and which is the latest.
        task(0x11, (100, 101), nothing, |encoder| {
            encoder.generated_named("out", |value| value.path(Path::new("b")));
        }),
        task(0x12, (102, 103), reads(file("b", Some(1))), nothing),
        task(0x13, (104, 105), reads(file("b", Some(2))), nothing),
        // And put back as it was.
        task(0x10, (96, 99), reads(file("a", Some(1))), nothing),
    ];
    check(
        &records,
        &[
            "2 | in | 1 | out | path",
            "3 | in | 1 | out | path",
            "4 | in | 2 | out | content",
            "5 | in | 1 | out | path",
            "6 | in | 2 | out | path",
            "7 | in | 2 | out | path",
            "9 | in | 8 | out | path",
            "10 | in | 1 | out | path",
            "12 | in | 11 | out | path",
            "13 | in | 11 | out | path",
        ],
    );
}

#[test]
fn a_path_that_is_named_and_generated_is_written_to() {
    let names = |encoder: &mut Encoder| encoder.used_named("to", |value| value.path(Path::new("a")));
    let records = [
        task(1, (10, 20), nothing, writes(file("a", Some(1)))),
        // Overwrites it.
        task(2, (30, 40), names, writes(file("./a", Some(2)))),
        // Reads it, and overwrites it.
        task(3, (50, 60), reads(file("a", Some(2))), writes(file("a", Some(3)))),
        // Does something else with it.
        task(4, (70, 80), names, nothing),
    ];
    check(&records, &["3 | in | 2 | out | path", "4 | to | 3 | out | path"]);
}

/// The tasks that were found, with their distance; how many derivations; whether that is all.
type Found = (Vec<(String, i64)>, usize, bool);

fn follow(reader: &Reader, number: u64, limits: LineageLimits, back: bool) -> Found {
    let id = task_id(number).to_string();
    let lineage = if back { reader.led_to(&id, limits) } else { reader.came_of(&id, limits) }.unwrap();
    let short = |id: &str| id[24..].trim_start_matches('0').to_owned();
    let tasks = lineage.tasks.iter().map(|task| (short(&task.task_id), task.depth));
    (tasks.collect(), lineage.derivations.len(), lineage.is_complete)
}

#[test]
fn lineage_is_followed_both_ways_through_diamonds_and_circles() {
    let declares = |number: u64| {
        move |encoder: &mut Encoder| encoder.text(Field::Dependency, &task_id(number).to_string())
    };
    let two = |encoder: &mut Encoder| {
        encoder.used_named("l", |value| value.text(&long("l")));
        encoder.used_named("r", |value| value.text(&long("r")));
    };
    let records = [
        task(1, (10, 20), declares(6), makes("s", "s")),
        task(2, (30, 40), takes("s", "s"), makes("l", "l")),
        task(3, (30, 40), takes("s", "s"), makes("r", "r")),
        task(4, (50, 60), two, makes("t", "t")),
        task(5, (70, 80), takes("t", "t"), nothing),
        // A circle by declaration, and something that has no record.
        task(6, (70, 80), declares(5), nothing),
        task(7, (90, 91), declares(99), nothing),
    ]
    .concat();
    let (_folder, _store, reader) = store_with(&records);
    let all = LineageLimits::default();
    let named =
        |list: &[(&str, i64)]| list.iter().map(|(id, depth)| ((*id).to_owned(), *depth)).collect::<Vec<_>>();
    let (tasks, edges, is_complete) = follow(&reader, 5, all, true);
    assert_eq!(tasks, named(&[("4", 1), ("2", 2), ("3", 2), ("1", 3), ("6", 4)]));
    assert_eq!((edges, is_complete), (7, true));
    let (tasks, edges, _) = follow(&reader, 1, all, false);
    assert_eq!(tasks, named(&[("2", 1), ("3", 1), ("4", 2), ("5", 3), ("6", 4)]));
    assert_eq!(edges, 7);
    assert_eq!(follow(&reader, 7, all, true), (named(&[("63", 1)]), 1, true));
    let near = LineageLimits { steps_max: 1, ..all };
    assert_eq!(follow(&reader, 4, near, true), (named(&[("2", 1), ("3", 1)]), 4, false));
    let few = LineageLimits { derivations_max: 2, ..all };
    let (tasks, edges, is_complete) = follow(&reader, 5, few, true);
    assert_eq!((tasks.len(), edges, is_complete), (2, 2, false));
    assert!(reader.led_to("nobody", all).is_err());
}

/// The schema of version 1 with a few rows, as an older program left it.
#[test]
fn an_older_file_keeps_its_derivations() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provenance.db");
    {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(include_str!("../../src/sql/steps/base.sql")).unwrap();
        connection.execute_batch("create view derivations as select 'as it was' as task_id").unwrap();
        connection
            .execute_batch(
                "insert into task (task_id, started_ns, ended_ns) values ('a', 1, 2), ('b', 3, 4), ('c', 1, null);
                insert into fingerprint values ('a', 1, 'x', 77, 2), ('b', 0, 'y', 77, 2), ('c', 1, 'x', 77, 2), ('w', 1, 'x', 77, 2);
                pragma application_id = 1952803941; pragma user_version = 1;",
            )
            .unwrap();
    }
    drop(open(&path));
    let reader = Reader::open(&path).unwrap();
    assert_eq!(lines(&reader, "select * from derivations"), ["b | y | a | x | content"]);
}

/// A file that is written and read a million times must not be searched from its first reader to its last.
#[test]
fn readers_of_a_value_are_sought_only_until_it_is_made_again() {
    let (_folder, store, _reader) = store_with(&[]);
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    let mut statement = connection
        .prepare("explain query plan select * from derivations where source_task_id = 'x'")
        .unwrap();
    let steps: Vec<String> = statement.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
    let range =
        "SEARCH u USING INDEX fingerprint_by_value (fingerprint=? AND direction=? AND at_ns>? AND at_ns<?)";
    assert!(steps.iter().any(|step| step == range), "{steps:#?}");
}
