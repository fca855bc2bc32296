//! Bodies that have to stay where they are: behind `#[track_caller]`, or because a closure or a box learns its type
//! from the `impl Trait` that is returned.

use std::panic::{Location, catch_unwind};

use telemetry::task;

use crate::helpers::{Noisy, check, trace};

#[task]
#[track_caller]
fn caller_line(_x: u8) -> u32 {
    Location::caller().line()
}

#[track_caller]
#[task]
fn caller_line_of_pattern((x, _): (u8, u8)) -> u32 {
    assert!(x > 0, "x is {x}");
    Location::caller().line()
}

#[test]
fn the_caller_is_known() {
    check(
        r#"
caller_line FINISHED {"_x":1}
caller_line_of_pattern FINISHED {"x":1}
caller_line_of_pattern ERROR {"x":0} panic: (no message)
"#,
        || {
            assert_eq!(caller_line(1), line!());
            assert_eq!(caller_line_of_pattern((1, 2)), line!());
            let payload = catch_unwind(|| caller_line_of_pattern((0, 2))).unwrap_err();
            assert_eq!(*payload.downcast::<String>().unwrap(), "x is 0");
        },
    );
}

trait Shape {
    fn area(&self) -> f64;
}

impl Shape for f64 {
    fn area(&self) -> f64 {
        self * self
    }
}

#[task]
fn tail_of() -> impl Fn(&str) -> &str {
    |text| &text[1..]
}

#[task]
fn shapes(side: f64) -> impl Iterator<Item = Box<dyn Shape>> {
    std::iter::once(Box::new(side) as _)
}

struct Holder<T>(T);

impl<T: Copy> Holder<T> {
    #[task]
    fn identity(value: T) -> impl Fn(&str) -> &str {
        let _ = value;
        |text| text
    }

    #[task]
    fn prefix(&self) -> impl for<'a> Fn(&'a str) -> (T, &'a str) {
        let value = self.0;
        move |text| (value, text)
    }
}

#[test]
fn opaque_types_that_teach_their_bodies() {
    check(
        r#"
tail_of FINISHED
shapes FINISHED {"side":2.0}
identity FINISHED {"value":{"$type":"u8"}}
prefix FINISHED
"#,
        || {
            assert_eq!(tail_of()("abc"), "bc");
            assert!(shapes(2.0).all(|shape| shape.area() > 3.0));
            assert_eq!(Holder::<u8>::identity(1)("a"), "a");
            assert_eq!(Holder(1).prefix()("a"), (1, "a"));
        },
    );
}

#[task]
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "what becomes of the arguments is the question")]
fn recorded(a: Noisy, (b, _): (Noisy, Noisy)) {
    let _local = Noisy("local");
    let _ = (&a, &b);
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "what becomes of the arguments is the question")]
fn bare(a: Noisy, (b, _): (Noisy, Noisy)) {
    let _local = Noisy("local");
    let _ = (&a, &b);
}

#[test]
fn drops_stay_in_order() {
    let run = |function: fn(Noisy, (Noisy, Noisy))| trace(|| function(Noisy("a"), (Noisy("b"), Noisy("c"))));
    let expected = r#"recorded FINISHED {"a":"Noisy(\"a\")","b":"Noisy(\"b\")"}"#;
    check(expected, || assert_eq!(run(recorded), run(bare)));
}
