//! Which tier takes which type, as generated code would ask.

use super::{Capture, Outcome};
use crate::encoder::{Limits, ValueEncoder};
use crate::value::testing::{UNLIMITED, json};
use serde::Serialize;
use std::cell::RefCell;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt::{self, Debug, Display};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

macro_rules! captured {
    ($reference:expr) => {
        json(UNLIMITED, |value| crate::__capture!(value, $reference))
    };
}

macro_rules! captured_error {
    ($reference:expr) => {
        json(UNLIMITED, |value| crate::__capture_error!(value, $reference))
    };
}

#[derive(Serialize)]
struct Point {
    x: i32,
}

#[derive(Debug)]
struct OnlyDebug(i32);

struct Bare;

/// Has both, so the tests can tell which one was taken.
struct Both;

impl Serialize for Both {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("serialize")
    }
}

impl Debug for Both {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("debug")
    }
}

fn is_type(json: &str, name: &str) -> bool {
    json.starts_with(r#"{"$type":""#) && json.contains(name)
}

#[test]
fn plain_values() {
    assert_eq!(captured!(&true), "true");
    assert_eq!(captured!(&'x'), r#""x""#);
    assert_eq!(captured!(&-7i8), "-7");
    assert_eq!(captured!(&7usize), "7");
    assert_eq!(captured!(&u64::MAX), r#"{"$int":"18446744073709551615"}"#);
    assert_eq!(captured!(&u128::MAX), format!(r#"{{"$int":"{}"}}"#, u128::MAX));
    assert_eq!(captured!(&0.1f32), "0.1");
    assert_eq!(captured!(&1.0), "1.0");
    assert_eq!(captured!("text"), r#""text""#);
    assert_eq!(captured!(&"text"), r#""text""#);
    assert_eq!(captured!(&&"text"), r#""text""#);
    assert_eq!(captured!(&String::from("text")), r#""text""#);
    assert_eq!(captured!(&&mut String::from("text")), r#""text""#);
    assert_eq!(captured!(&&mut &5u16), "5");
}

#[test]
fn paths() {
    assert_eq!(captured!(Path::new("/a")), r#""/a""#);
    assert_eq!(captured!(&PathBuf::from("/a")), r#""/a""#);
    assert_eq!(captured!(&&OsString::from("/a")), r#""/a""#);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        let path = PathBuf::from(OsString::from_vec(vec![0xFF]));
        assert_eq!(captured!(&path), "{\"$path\":\"\u{FFFD}\",\"$hex\":\"ff\"}");
    }
}

#[test]
#[cfg(unix)]
fn texts_of_the_system_are_no_paths() {
    use crate::value::Encoded;
    use crate::value::testing::encode;
    use std::os::unix::ffi::OsStringExt;
    let bytes = encode(UNLIMITED, |value| crate::__capture!(value, &OsString::from("/a/b")));
    assert_eq!(Encoded::read(&mut &*bytes).unwrap().fingerprints().count(), 0);
    let odd = OsString::from_vec(vec![0xFF]);
    assert_eq!(captured!(&odd), "{\"$path\":\"\u{FFFD}\",\"$hex\":\"ff\"}");
    assert_eq!(captured!(&Some(PathBuf::from(odd))), "{\"$path\":\"\u{FFFD}\",\"$hex\":\"ff\"}");
    assert_eq!(captured!(&None::<&Path>), "null");
    assert_eq!(captured!(&Some(Some(3))), "3");
}

/// Has a form of its own beside the others.
#[derive(Debug, Serialize)]
struct Custom(i64);

impl Capture for Custom {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        match self.0 {
            0 => {}
            1 => panic!("on purpose"),
            number => value.display(&format_args!("custom {number}")),
        }
    }
}

#[test]
fn a_form_of_ones_own_comes_first() {
    assert_eq!(captured!(&Custom(7)), r#""custom 7""#);
    assert_eq!(captured!(&&mut &Custom(7)), r#""custom 7""#);
    assert_eq!(captured!(&Box::new(Custom(7))), r#""custom 7""#);
    assert_eq!(captured!(&Arc::new(Custom(7))), r#""custom 7""#);
    assert_eq!(captured!(&Some(Custom(7))), r#""custom 7""#);
    assert_eq!(captured!(&None::<Custom>), "null");
    assert_eq!(captured!(&vec![Custom(7), Custom(0)]), r#"["custom 7",null]"#);
    assert_eq!(captured!(&[[Custom(7)], [Custom(8)]]), r#"[["custom 7"],["custom 8"]]"#);
    assert_eq!(captured!(&&[Custom(7)][..]), r#"["custom 7"]"#);
    assert_eq!(captured!(&Custom(0)), "null");
    assert_eq!(captured!(&Custom(1)), r#"{"$error":"panicked"}"#);
    assert_eq!(captured!(&vec![Custom(1), Custom(2)]), r#"[{"$error":"panicked"},"custom 2"]"#);
    let model: &dyn Capture = &Custom(7);
    assert_eq!(captured!(model), r#""custom 7""#);
}

#[test]
fn a_list_of_such_keeps_the_limits() {
    struct Long;
    impl Capture for Long {
        fn capture(&self, value: &mut ValueEncoder<'_>) {
            value.text(&"x".repeat(100));
        }
    }
    struct Endless;
    impl Capture for Endless {
        fn capture(&self, value: &mut ValueEncoder<'_>) {
            value.list(&[Endless], |item, value| value.capture(item));
        }
    }
    let of = |limits, items: &[Long]| json(limits, |value| crate::__capture!(value, items));
    let items: Vec<Long> = (0..2000).map(|_| Long).collect();
    let cut = of(Limits::DEFAULT, &items);
    assert!(cut.len() < 4200 && cut.ends_with(r#"{"$cut":{"items":2000}}]"#), "{cut}");
    let few = Limits { items_max: 1, ..UNLIMITED };
    assert!(of(few, &items[..2]).ends_with(r#"x",{"$cut":{"items":2}}]"#));
    for bytes in 0..300 {
        let limits = Limits { value_bytes_max: bytes, ..UNLIMITED };
        let written = crate::value::testing::encode(limits, |value| crate::__capture!(value, &items));
        assert!(written.len() <= 21.max(bytes as usize), "{bytes}: {}", written.len());
        crate::value::testing::Json::read(&of(limits, &items));
    }
    let deep = json(Limits::DEFAULT, |value| crate::__capture!(value, &Endless));
    assert!(deep.starts_with("[[[[") && deep.contains(r#"{"$cut":"depth"}"#), "{deep}");
}

#[test]
fn serialize_before_debug_before_the_name() {
    assert_eq!(captured!(&Both), r#""serialize""#);
    assert_eq!(captured!(&&mut &Both), r#""serialize""#);
    assert_eq!(captured!(&Point { x: 1 }), r#"{"x":1}"#);
    assert_eq!(captured!(&Some(Point { x: 1 })), r#"{"x":1}"#);
    assert_eq!(captured!(&OnlyDebug(1)), r#""OnlyDebug(1)""#);
    assert_eq!(captured!(&&&OnlyDebug(1)), r#""OnlyDebug(1)""#);
    assert_eq!(captured!(&Some(OnlyDebug(1))), r#""Some(OnlyDebug(1))""#);
    assert!(is_type(&captured!(&Bare), "Bare"));
    assert!(is_type(&captured!(&&Bare), "Bare"));
    assert_eq!(captured!(&()), "null");
}

#[test]
fn pointers() {
    assert_eq!(captured!(&Arc::<str>::from("text")), r#""text""#);
    assert_eq!(captured!(&Box::new(5)), "5");
    assert_eq!(captured!(&std::borrow::Cow::Borrowed("text")), r#""text""#);
    assert_eq!(captured!(&Arc::new(Point { x: 1 })), r#"{"x":1}"#);
    assert_eq!(captured!(&&Rc::new(Both)), r#""serialize""#);
    assert_eq!(captured!(&Arc::new(OnlyDebug(1))), r#""OnlyDebug(1)""#);
    assert!(is_type(&captured!(&Arc::new(Bare)), "Arc<telemetry_core::capture::tests::Bare>"));
}

#[test]
fn lists() {
    assert_eq!(captured!(&[1u8; 3]), "[1,1,1]");
    assert_eq!(captured!(&[1u8; 3][..]), "[1,1,1]");
    assert_eq!(captured!(&&mut [1u8; 3][..]), "[1,1,1]");
    assert_eq!(captured!(&vec![Point { x: 1 }]), r#"[{"x":1}]"#);
    assert_eq!(captured!(&[1u8; 33]), format!(r#""{:?}""#, [1; 33]));
    assert_eq!(captured!(&vec![OnlyDebug(1)]), r#""[OnlyDebug(1)]""#);
    assert_eq!(captured!(&&[OnlyDebug(1)][..]), r#""[OnlyDebug(1)]""#);
    assert!(is_type(&captured!(&[Bare][..]), "[telemetry_core::capture::tests::Bare]"));
}

#[test]
fn trait_objects_and_closures() {
    trait Model {}
    impl Model for Bare {}
    let model: &dyn Model = &Bare;
    assert!(is_type(&captured!(model), "dyn "));
    assert!(is_type(&captured!(&model), "dyn "));
    let boxed: Box<dyn Model + Send> = Box::new(Bare);
    assert!(is_type(&captured!(&boxed), "dyn "));
    let debug: &dyn Debug = &1;
    assert_eq!(captured!(debug), r#""1""#);
    assert_eq!(captured!(&debug), r#""1""#);
    assert!(is_type(&captured!(&|number: i32| number + 1), "closure"));
}

#[test]
fn generics_and_impl_trait() {
    fn unbounded<T>(value: &T) -> String {
        captured!(value)
    }
    fn debug<T: Debug + ?Sized>(value: &T) -> String {
        captured!(value)
    }
    fn serialize<T: Serialize + ?Sized>(value: &T) -> String {
        captured!(value)
    }
    fn argument(value: impl Debug + Copy) -> String {
        captured!(&value)
    }
    fn mutable(value: &mut impl Serialize) -> String {
        captured!(&value)
    }
    fn borrowed<T: Serialize>(value: &T) -> String {
        captured!(&&value)
    }
    assert_eq!(unbounded(&1), r#"{"$type":"i32"}"#);
    assert_eq!(debug("text"), r#""\"text\"""#);
    assert_eq!(serialize("text"), r#""text""#);
    assert_eq!(argument(2), r#""2""#);
    assert_eq!(mutable(&mut 3), "3");
    assert_eq!(borrowed(&4), "4");
}

#[test]
fn locks_are_tried_and_not_waited_for() {
    let mutex = Mutex::new(1);
    assert_eq!(captured!(&mutex), "1");
    assert_eq!(captured!(&&mutex), "1");
    let held = mutex.lock();
    assert_eq!(captured!(&mutex), r#"{"$error":"locked"}"#);
    drop(held);
    let shared = Arc::new(RwLock::new(Both));
    assert_eq!(captured!(&shared), r#""serialize""#);
    let held = shared.write();
    assert_eq!(captured!(&shared), r#"{"$error":"locked"}"#);
    drop(held);
    let cell = Rc::new(RefCell::new(vec![1]));
    assert_eq!(captured!(&cell), "[1]");
    let held = cell.borrow_mut();
    assert_eq!(captured!(&*cell), r#"{"$error":"locked"}"#);
    drop(held);
    let debug = Mutex::new(OnlyDebug(1));
    let held = debug.lock();
    assert!(captured!(&debug).contains("locked"));
    drop(held);
    assert!(is_type(&captured!(&Mutex::new(Bare)), "Mutex"));
}

#[test]
fn a_poisoned_lock_still_shows_its_content() {
    let mutex = Arc::new(Mutex::new(1));
    let other = Arc::clone(&mutex);
    let poisoning = std::thread::spawn(move || {
        let _held = other.lock();
        panic!("on purpose");
    });
    assert!(poisoning.join().is_err());
    assert_eq!(captured!(&mutex), "1");
}

#[test]
fn a_panic_under_a_lock_does_not_poison_it() {
    struct Evil;
    impl Serialize for Evil {
        fn serialize<S: serde::Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
            panic!("on purpose")
        }
    }
    let mutex = Mutex::new(Evil);
    assert_eq!(captured!(&mutex), r#"{"$error":"panicked"}"#);
    assert!(!mutex.is_poisoned());
}

#[test]
fn errors() {
    struct Shown;
    impl Display for Shown {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("shown")
        }
    }
    let boxed: Box<dyn std::error::Error + Send + Sync> = "boxed".into();
    assert_eq!(captured_error!(&Shown), r#""shown""#);
    assert_eq!(captured_error!(&&Shown), r#""shown""#);
    assert_eq!(captured_error!(&boxed), r#""boxed""#);
    assert_eq!(captured_error!(&OnlyDebug(1)), r#""OnlyDebug(1)""#);
    assert!(is_type(&captured_error!(&Bare), "Bare"));
    assert_eq!(captured_error!("text"), r#""text""#);
}

#[test]
fn outcomes() {
    type Alias = std::io::Result<u8>;
    let fine: Alias = Ok(1);
    assert!(matches!(crate::__outcome!(&fine), Outcome::Value(&1u8)));
    let failed: Result<u8, OnlyDebug> = Err(OnlyDebug(1));
    assert!(matches!(crate::__outcome!(&failed), Outcome::Error(OnlyDebug(1))));
    let value: Outcome<&i32, &Infallible> = crate::__outcome!(&5);
    assert_eq!(value, Outcome::Value(&5));
    let option: Outcome<&Option<i32>, &Infallible> = crate::__outcome!(&Some(5));
    assert_eq!(option, Outcome::Value(&Some(5)));
    let slice: Outcome<&[i32], &Infallible> = crate::__outcome!(&[1][..]);
    assert_eq!(slice, Outcome::Value(&[1][..]));
}

#[test]
fn an_outcome_of_anything_can_be_captured() {
    fn written<R>(result: &R) -> String {
        json(UNLIMITED, |value| match crate::__outcome!(result) {
            Outcome::Value(returned) => crate::__capture!(value, returned),
            Outcome::Error(error) => crate::__capture_error!(value, error),
        })
    }
    fn borrowed(result: &Result<&str, Box<dyn std::error::Error>>) -> String {
        json(UNLIMITED, |value| match crate::__outcome!(result) {
            Outcome::Value(returned) => crate::__capture!(value, returned),
            Outcome::Error(error) => crate::__capture_error!(value, error),
        })
    }
    assert!(is_type(&written(&Bare), "Bare"));
    assert_eq!(borrowed(&Ok("fine")), r#""fine""#);
    assert_eq!(borrowed(&Err("bad".into())), r#""bad""#);
}
