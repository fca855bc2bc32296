//! Values that panic, never end, nest, circle, call tasks, allocate: the host's output, complaints and exit
//! code are the same as without us.

use std::cell::RefCell;
use std::fmt::{self, Debug, Display, Write as _};
use std::io::Write;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use telemetry::{Capture, ValueEncoder, task};

use crate::programs::Place;

/// As little as a thread may have.
const STACK_BYTES: usize = 256 << 10;
const LEVELS: usize = 1_000_000;
const GIBIBYTE: usize = 1 << 30;

struct Panics;

impl Serialize for Panics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(3))?;
        list.serialize_element("half")?;
        panic!("while it is serialized")
    }
}

struct PanicsInDebug;

impl Debug for PanicsInDebug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("half")?;
        std::panic::panic_any(PanicsOnDrop)
    }
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("and again");
    }
}

struct PanicsInCapture;

impl Capture for PanicsInCapture {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        value.text("half");
        panic!("while it is captured")
    }
}

#[derive(Debug)]
struct PanickingError;

impl Display for PanickingError {
    fn fmt(&self, _formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("while it is displayed")
    }
}

struct Fails;

impl Serialize for Fails {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("no"))
    }
}

/// A list as nested as it is long.
#[derive(Serialize)]
struct Nested {
    next: Option<Box<Nested>>,
}

impl Nested {
    fn new() -> Self {
        (0..LEVELS).fold(Self { next: None }, |next, _| Self { next: Some(Box::new(next)) })
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut nested) = next {
            next = nested.next.take();
        }
    }
}

/// The same without `Serialize`.
#[derive(Debug)]
struct NestedDebug(Option<Box<NestedDebug>>);

impl NestedDebug {
    fn new() -> Self {
        (0..LEVELS).fold(Self(None), |next, _| Self(Some(Box::new(next))))
    }
}

impl Drop for NestedDebug {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut nested) = next {
            next = nested.0.take();
        }
    }
}

#[derive(Debug)]
struct Cyclic {
    next: RefCell<Option<Rc<Cyclic>>>,
}

impl Cyclic {
    fn new() -> Rc<Self> {
        let first = Rc::new(Self { next: RefCell::new(None) });
        *first.next.borrow_mut() = Some(Rc::clone(&first));
        first
    }
}

impl Serialize for Cyclic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("next", &self.next.borrow().as_deref())?;
        map.end()
    }
}

/// The same without `Serialize`.
#[derive(Debug)]
struct CyclicDebug(#[expect(dead_code, reason = "only its Debug is wanted")] Rc<Cyclic>);

struct EndlessList;

impl Serialize for EndlessList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(std::iter::repeat("again and again"))
    }
}

struct EndlessMap;

impl Serialize for EndlessMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((0u64..).map(|number| (number, number)))
    }
}

struct EndlessText;

impl Display for EndlessText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        loop {
            formatter.write_str("on and on ")?;
        }
    }
}

impl Serialize for EndlessText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

struct EndlessDebug;

impl Debug for EndlessDebug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        loop {
            formatter.write_char('x')?;
        }
    }
}

/// Makes a gibibyte for each item, of which there is no end.
struct Allocates;

impl Serialize for Allocates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(std::iter::repeat_with(|| vec![0u8; GIBIBYTE]))
    }
}

#[task]
fn called_while_captured() -> u8 {
    7
}

struct Reenters;

impl Serialize for Reenters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(called_while_captured())
    }
}

struct ReentersInDebug;

impl Debug for ReentersInDebug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", called_while_captured())
    }
}

/// How often a task is called while a value is captured.
const NESTED_CALLS: u32 = 4;

/// The same host twice, with the attribute and without.
macro_rules! hosts {
    ($($name:ident: [$($attribute:meta)?] [$($workflow:meta)?];)+) => {
        $(
            pub(crate) mod $name {
                use super::*;

                $(#[$attribute])?
                fn take<T>(number: u32, value: T) -> u32 {
                    drop(value);
                    number + 1
                }

                $(#[$attribute])?
                fn take_serialize<T: Serialize>(number: u32, value: &T) -> u32 {
                    let _ = value;
                    number + 1
                }

                $(#[$attribute])?
                fn take_debug(number: u32, value: &dyn Debug) -> u32 {
                    let _ = value;
                    number + 1
                }

                $(#[$attribute])?
                fn take_captured(number: u32, value: &[PanicsInCapture]) -> u32 {
                    number + value.len() as u32
                }

                $(#[$attribute])?
                fn take_lock(number: u32, value: &Mutex<Vec<u8>>) -> u32 {
                    let _ = value;
                    number + 1
                }

                $(#[$attribute])?
                fn give_back(number: u32) -> Panics {
                    let _ = number;
                    Panics
                }

                $(#[$attribute])?
                fn fail(number: u32) -> Result<u32, PanickingError> {
                    if number > 0 { Err(PanickingError) } else { Ok(number) }
                }

                $(#[$attribute])?
                async fn later<T: Serialize>(number: u32, value: T) -> u32 {
                    drop(value);
                    number + 1
                }

                fn say(text: impl Display) {
                    writeln!(std::io::stdout(), "{text}").expect("somebody reads");
                }

                fn values() {
                    say(take(1, Panics));
                    say(take_serialize(2, &Panics));
                    say(take_serialize(3, &(1, Panics, Fails)));
                    say(take_debug(4, &PanicsInDebug));
                    say(take_captured(5, &[PanicsInCapture, PanicsInCapture]));
                    let _ = give_back(6);
                    say(fail(7).is_err());
                    say(take_serialize(8, &Cyclic::new().as_ref()));
                    say(take_debug(9, &CyclicDebug(Cyclic::new())));
                    say(take_serialize(10, &EndlessList));
                    say(take_serialize(11, &EndlessMap));
                    say(take_serialize(12, &EndlessText));
                    say(take_debug(13, &EndlessDebug));
                    say(take_serialize(14, &Allocates));
                    say(take_serialize(15, &Reenters));
                    say(take_serialize(16, &vec![Reenters, Reenters]));
                    say(take_debug(17, &ReentersInDebug));
                    let lock = Mutex::new(vec![1]);
                    let held = lock.lock().unwrap_or_else(PoisonError::into_inner);
                    say(take_lock(18, &lock));
                    drop(held);
                    say(futures_lite::future::block_on(later(19, Panics)));
                }

                fn nested() {
                    say(take_serialize(20, &Nested::new()));
                    say(take_debug(21, &NestedDebug::new()));
                    say(take(22, NestedDebug::new()));
                }

                $(#[$workflow])?
                pub(crate) fn run() -> i32 {
                    let in_time = |run: fn()| {
                        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread").join()
                    };
                    in_time(values).expect("nothing panics");
                    in_time(nested).expect("nothing panics");
                    // A panic of the host's own is heard as ever.
                    say(in_time(|| panic!("the host's own")).is_err());
                    9
                }
            }
        )+
    };
}

hosts! {
    recorded: [telemetry::task] [telemetry::workflow];
    bare: [] [];
}

/// What a program said, without what is never the same twice: the number of a thread.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let without_numbers = |line: &str| match line.split_once("thread '<unnamed>' (") {
        Some((before, after)) => {
            format!("{before}thread {}", after.split_once(')').map_or("", |(_, rest)| rest))
        }
        None => line.to_owned(),
    };
    text.lines().map(|line| without_numbers(line) + "\n").collect()
}

#[test]
fn the_host_of_evil_values_does_not_notice() {
    let place = Place::new();
    let recorded = place.program("evil").env("RUST_BACKTRACE", "0").output().expect("the program starts");
    let bare = place.program("evil_bare").env("RUST_BACKTRACE", "0").output().expect("the program starts");
    assert_eq!(said(&recorded.stdout), said(&bare.stdout));
    // The lines of the two panics differ.
    let complaints = said(&recorded.stderr);
    assert_eq!(complaints, said(&bare.stderr));
    assert_eq!(complaints.matches("panicked").count(), 1, "{complaints}");
    assert_eq!((recorded.status.code(), bare.status.code()), (Some(9), Some(9)));
    assert_eq!(
        place.table("select count(*), sum(status = 'FINISHED'), sum(status = 'ERROR') from tasks"),
        "22|21|1\n"
    );
    assert_eq!(
        place.table("select dropped_nested, offered = persisted + dropped_nested from health"),
        format!("{NESTED_CALLS}|1\n")
    );
    check_marks(&place);
}

/// What stands in place of the evil values.
fn check_marks(place: &Place) {
    let value = |number: u32| {
        let sql = format!("select used -> 'value' from tasks where used ->> 'number' = {number}");
        place.table(&sql).trim().to_owned()
    };
    assert!(value(1).starts_with(r#"{"$type":"#), "{}", value(1));
    assert_eq!(value(2), r#"{"$error":"panicked"}"#);
    assert_eq!(value(4), r#"{"$error":"panicked"}"#);
    assert_eq!(value(5), r#"[{"$error":"panicked"},{"$error":"panicked"}]"#);
    assert!(value(8).starts_with(r#"{"next":{"next":{"next":"#) && value(8).contains(r#"{"$cut":"depth"}"#));
    assert!(
        value(9).contains(r#""preview":"CyclicDebug(Cyclic { next: RefCell { value: Some("#),
        "{}",
        value(9)
    );
    for number in [10, 11] {
        assert!(
            value(number).contains(r#""$cut":{"items":null,"type":"&it::evil::Endless"#),
            "{}",
            value(number)
        );
    }
    for number in [12, 13] {
        assert!(value(number).starts_with(r#"{"$cut":{"type":"#), "{}", value(number));
    }
    assert!(value(14).contains(r#"{"$cut":{"items":null,"type":"&it::evil::Allocates"}}"#));
    assert_eq!((value(15).as_str(), value(16).as_str(), value(17).as_str()), ("7", "[7,7]", "\"7\""));
    assert_eq!(value(18), r#"{"$error":"locked"}"#);
    assert!(value(20).contains(r#"{"$cut":"depth"}"#), "{}", value(20));
    assert!(value(21).contains("NestedDebug(Some(NestedDebug(Some("), "{}", value(21));
    let error = place.table("select generated, stderr from tasks where status = 'ERROR'");
    assert_eq!(error, "null|{\"$error\":\"panicked\"}\n");
}

#[task]
fn huge<T: Serialize>(value: &T) -> usize {
    size_of_val(value)
}

/// Bytes of memory that this thread has touched for the first time: what the drain takes meanwhile is not in them.
fn touched_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux");
    let (_, fields) = text.rsplit_once(") ").expect("a name");
    let pages: usize = fields.split(' ').nth(7).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4096
}

/// The program: calls with a gibibyte, and says how much memory each added.
#[telemetry::workflow]
pub(crate) fn huge_values() {
    huge(&0);
    let measure = |name: &str, call: &dyn Fn() -> usize| {
        let before = touched_bytes();
        let begun = std::time::Instant::now();
        let _ = call();
        let micros = begun.elapsed().as_micros();
        let added = touched_bytes().saturating_sub(before);
        writeln!(std::io::stdout(), "{name} {added} {micros}").expect("somebody reads");
    };
    // Pages that nobody has touched take no memory: what is read of them shows.
    let bytes = vec![0u8; GIBIBYTE];
    let floats = vec![0f64; GIBIBYTE / 8];
    let nested = vec![vec![0u8; GIBIBYTE / 2], vec![0u8; GIBIBYTE / 2]];
    let map = std::collections::BTreeMap::from([("a", vec![0u64; GIBIBYTE / 8])]);
    measure("bytes", &|| huge(&bytes));
    measure("floats", &|| huge(&floats));
    measure("nested", &|| huge(&nested));
    measure("map", &|| huge(&map));
    let text = String::from_utf8(bytes).expect("zeros are text");
    measure("text", &|| huge(&text));
}

#[test]
fn a_gibibyte_costs_what_a_small_value_costs() {
    let place = Place::new();
    let output = place.program("huge_values").output().expect("the program starts");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stdout);
    let mut measured = 0;
    for name in ["bytes", "floats", "nested", "map", "text"] {
        let line = said.lines().find(|line| line.trim_start_matches('.').starts_with(&format!("{name} ")));
        let added: usize = line.and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect(name);
        assert!(added <= 1 << 20, "{name}: {added} bytes of memory");
        measured += 1;
    }
    assert_eq!(measured, 5);
    let lengths = place.table(
        "select length(used) < 30000, instr(used, '\"$cut\":{') > 0, count(*) from tasks
        where used ->> 'value' is not 0 group by 1, 2",
    );
    assert_eq!(lengths, "1|1|5\n");
    for sign in [
        "{\"items\":1073741824,\"type\":\"&alloc::vec::Vec<u8>\"}",
        "{\"bytes\":1073741824,\"type\":\"text\"",
        "{\"items\":134217728",
    ] {
        let count = place.table(&format!("select count(*) > 0 from tasks where instr(used, '{sign}')"));
        assert_eq!(count, "1\n", "{sign}");
    }
}
