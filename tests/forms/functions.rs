//! Sync functions.

use std::fmt::{Debug, Display};
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use telemetry::task;

use crate::helpers::check;

#[task]
fn double(x: i64) -> i64 {
    2 * x
}

#[task(name = "other", output = "y", level = "data")]
fn with_options(x: i64) -> i64 {
    2 * x
}

#[task(outputs("low", "high"))]
fn pair(x: i64) -> (i64, i64) {
    (x - 1, x + 1)
}

#[task(outputs("low", "high"), level = lightweight)]
fn pair_or_error(x: i64) -> Result<(i64, i64), String> {
    if x < 0 {
        return Err("negative".to_owned());
    }
    Ok((x - 1, x + 1))
}

#[task(skip(b))]
fn skipping(a: u8, b: Rc<u8>, c: u8) -> u8 {
    a + *b + c
}

#[task(skip_all)]
fn skipping_all(a: u8, b: u8) -> u8 {
    a + b
}

#[test]
fn options_change_no_result() {
    check(
        r#"
double FINISHED {"x":2} → {"result":4}
other FINISHED {"x":2} → {"y":4}
pair FINISHED {"x":2} → {"low":1,"high":3}
pair_or_error FINISHED
pair_or_error ERROR err: negative
skipping FINISHED {"a":1,"c":3} → {"result":6}
skipping_all FINISHED → {"result":3}
"#,
        || {
            assert_eq!(double(2), 4);
            assert_eq!(with_options(2), 4);
            assert_eq!(pair(2), (1, 3));
            assert_eq!(pair_or_error(2), Ok((1, 3)));
            assert_eq!(pair_or_error(-2), Err("negative".to_owned()));
            assert_eq!(skipping(1, Rc::new(2), 3), 6);
            assert_eq!(skipping_all(1, 2), 3);
        },
    );
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[task]
fn parse(text: &str) -> Result<i32, std::num::ParseIntError> {
    let value: i32 = text.parse()?;
    Ok(value)
}

#[task]
fn parse_by_alias(text: &str) -> Outcome<i32> {
    if text.is_empty() {
        Err("empty")?;
    }
    Ok(text.parse()?)
}

#[task]
fn increment(x: Option<u8>) -> Option<u8> {
    let value = x?;
    Some(value + 1)
}

#[test]
fn the_question_mark_works() {
    check(
        r#"
parse FINISHED {"text":"5"} → {"result":5}
parse ERROR {"text":"x"} err: invalid digit found in string
parse_by_alias FINISHED {"text":"5"} → {"result":5}
parse_by_alias ERROR {"text":""} err: empty
increment FINISHED {"x":1} → {"result":2}
increment FINISHED {"x":null} → {"result":null}
"#,
        || {
            assert_eq!(parse("5"), Ok(5));
            assert!(parse("x").is_err());
            assert_eq!(parse_by_alias("5").unwrap(), 5);
            assert_eq!(parse_by_alias("").unwrap_err().to_string(), "empty");
            assert_eq!((increment(Some(1)), increment(None)), (Some(2), None));
        },
    );
}

#[task]
fn never(text: &'static str) -> ! {
    panic!("{text}")
}

#[test]
fn a_panic_keeps_its_payload() {
    check(
        r#"
never ERROR {"text":"boom"} panic: boom
"#,
        || {
            let payload = catch_unwind(|| never("boom")).unwrap_err();
            assert_eq!(*payload.downcast::<String>().unwrap(), "boom");
        },
    );
}

#[task]
fn generic<T: Debug, U>(value: T, _other: U) -> T {
    value
}

#[task]
fn const_generic<const N: usize>(values: [u8; N]) -> usize {
    values.len() + N
}

#[task]
fn with_where<T>(value: &T) -> String
where
    T: Display + ?Sized,
{
    value.to_string()
}

#[task]
fn dynamic(shown: &dyn Display, debugged: Box<dyn Debug>) -> String {
    format!("{shown}{debugged:?}")
}

#[task(skip(pointer))]
fn functions(convert: impl Fn(&str) -> String, pointer: fn(u8) -> u8, value: impl Display) -> String {
    convert(&format!("{value}{}", pointer(1)))
}

#[test]
fn generics_stay() {
    check(
        r#"
generic FINISHED {"value":"1","_other":{"$type":"alloc::rc::Rc<i32>"}} → {"result":"1"}
const_generic FINISHED {"values":"[0, 0, 0]"} → {"result":6}
with_where FINISHED {"value":{"$type":"&str"}} → {"result":"x"}
dynamic FINISHED {"shown":{"$type":"&dyn core::fmt::Display"},"debugged":"\"x\""} → {"result":"1\"x\""}
functions FINISHED {"convert":{"$type":"alloc::str::<impl str>::to_uppercase"},"value":{"$type":"&str"}} → {"result":"A2"}
"#,
        || {
            assert_eq!(generic(1, Rc::new(2)), 1);
            assert_eq!(const_generic([0; 3]), 6);
            assert_eq!(with_where("x"), "x");
            assert_eq!(dynamic(&1, Box::new("x")), "1\"x\"");
            assert_eq!(functions(str::to_uppercase, |x| x + 1, "a"), "A2");
        },
    );
}

#[task]
fn longest<'a>(left: &'a str, right: &'a str) -> &'a str {
    if left.len() > right.len() { left } else { right }
}

#[task]
fn first_mut(values: &mut Vec<u8>) -> &mut u8 {
    &mut values[0]
}

#[task]
fn maybe_first_mut(values: &mut [u8]) -> Option<&mut u8> {
    values.first_mut()
}

#[task]
fn rest(values: &[u8]) -> &[u8] {
    &values[1..]
}

#[task]
fn boxed_borrow(n: &u8) -> Box<dyn Fn(u8) -> u8 + '_> {
    Box::new(move |x| x + *n)
}

#[test]
fn borrows_of_arguments_can_be_returned() {
    check(
        r#"
longest FINISHED {"left":"a","right":"bb"} → {"result":"bb"}
first_mut FINISHED {"values":[1,2]} → {"result":1}
maybe_first_mut FINISHED {"values":[2,2]} → {"result":2}
rest FINISHED {"values":[3,2]} → {"result":[2]}
boxed_borrow FINISHED {"n":1} → {"result":{"$type":"alloc::boxed::Box<dyn core::ops::function::Fn(u8) -> u8>"}}
"#,
        || {
            assert_eq!(longest("a", "bb"), "bb");
            let mut values = vec![1, 2];
            *first_mut(&mut values) += 1;
            *maybe_first_mut(&mut values).unwrap() += 1;
            assert_eq!(rest(&values), [2]);
            assert_eq!(values, [3, 2]);
            assert_eq!(boxed_borrow(&1)(2), 3);
        },
    );
}

#[task]
fn coerced(number: bool) -> Box<dyn Debug> {
    if number {
        return Box::new(1);
    }
    Box::new("text")
}

#[task]
fn recursive(n: u64) -> u64 {
    if n == 0 { 0 } else { 1 + recursive(n - 1) }
}

#[task]
fn labelled(n: u8) -> u8 {
    'outer: loop {
        for step in 0.. {
            if step == n {
                break 'outer step;
            }
            if step > 3 {
                return 7;
            }
        }
    }
}

#[task]
fn counted() -> u32 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed)
}

#[task]
fn nested(x: u8) -> u8 {
    #[task]
    fn inner(x: u8) -> u8 {
        x + 1
    }
    inner(x)
}

#[test]
fn control_flow_stays() {
    check(
        r#"
coerced FINISHED {"number":true} → {"result":"1"}
coerced FINISHED {"number":false} → {"result":"\"text\""}
recursive FINISHED {"n":2} → {"result":2}
└─ recursive FINISHED {"n":1} → {"result":1}
   └─ recursive FINISHED {"n":0} → {"result":0}
labelled FINISHED {"n":1} → {"result":1}
labelled FINISHED {"n":9} → {"result":7}
counted FINISHED → {"result":0}
counted FINISHED → {"result":1}
nested FINISHED {"x":1} → {"result":2}
└─ inner FINISHED {"x":1} → {"result":2}
"#,
        || {
            assert_eq!(format!("{:?}{:?}", coerced(true), coerced(false)), "1\"text\"");
            assert_eq!(recursive(2), 2);
            assert_eq!((labelled(1), labelled(9)), (1, 7));
            assert_eq!((counted(), counted()), (0, 1));
            assert_eq!(nested(1), 2);
        },
    );
}

/// # Safety
///
/// The pointer is valid.
#[task(skip(pointer))]
unsafe fn read(pointer: *const u8) -> u8 {
    // SAFETY: by contract.
    unsafe { *pointer }
}

#[task]
extern "C" fn foreign(x: i32) -> i32 {
    x + 1
}

#[task]
fn r#match(r#type: u8) -> u8 {
    r#type
}

#[task]
fn shadowing(__encoder: u8, __arguments: u8, __value: u8, __result: u8) -> u8 {
    __encoder + __arguments + __value + __result
}

#[task]
#[must_use]
#[inline]
#[expect(clippy::mixed_attributes_style, reason = "it is the form that is tested")]
pub(crate) fn attributed(
    #[expect(unused_variables, reason = "moves to the function")] x: u8,
    #[cfg(any())] y: u8,
    #[cfg(not(any()))] z: u8,
) -> u8 {
    #![expect(unused_assignments, reason = "stays with the body")]
    let mut result = 0;
    result = z;
    result
}

macro_rules! made {
    ($name:ident, $argument:ident: $argument_type:ty, $body:block, $activity:literal) => {
        #[task(name = $activity)]
        fn $name($argument: $argument_type) -> $argument_type $body
    };
}

made!(made_by_macro, a: u8, { a + 1 }, "made");

#[test]
fn unusual_functions_stay_what_they_are() {
    check(
        r#"
read FINISHED → {"result":5}
foreign FINISHED {"x":1} → {"result":2}
match FINISHED {"type":1} → {"result":1}
shadowing FINISHED {"__encoder":1,"__arguments":2,"__value":3,"__result":4} → {"result":10}
attributed FINISHED {"x":1} → {"result":2}
made FINISHED {"a":1} → {"result":2}
"#,
        || {
            // SAFETY: the pointer is valid.
            let read: unsafe fn(*const u8) -> u8 = read;
            // SAFETY: as above.
            assert_eq!(unsafe { read(&raw const *Box::leak(Box::new(5))) }, 5);
            let foreign: extern "C" fn(i32) -> i32 = foreign;
            assert_eq!(foreign(1), 2);
            assert_eq!(r#match(1), 1);
            assert_eq!(shadowing(1, 2, 3, 4), 10);
            assert_eq!(attributed(1, 2), 2);
            assert_eq!(made_by_macro(1), 2);
        },
    );
}
